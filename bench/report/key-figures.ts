import { isExact } from '../limits/limit-fault.ts';
import type { BenchResult } from '../result/bench-result.ts';
import { list, short, whole } from './numbers.ts';
import { keptUp } from './sections/curves-section.ts';
import { targetOutcomes } from './targets.ts';

/** What somebody in a hurry should read. */
export interface KeyFigure {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly mark: 'good' | 'bad' | 'plain';
}

export function keyFigures(result: BenchResult): KeyFigure[] {
  return [...targets(result), ...limits(result), ...load(result), ...memory(result)];
}

function targets({ routes }: BenchResult): KeyFigure[] {
  const outcomes = targetOutcomes(routes);
  if (outcomes.length === 0) return [];
  const missed = outcomes.filter(({ reached }) => !reached);
  const names = [...new Set(missed.map(({ route }) => route))];
  return [
    {
      label: 'Targets reached',
      value: `${outcomes.length - missed.length} of ${outcomes.length}`,
      note:
        missed.length === 0
          ? 'throughput over each baseline'
          : names.length > 3
            ? `missed in ${names.length} routes`
            : `missed in ${list(names)}`,
      mark: missed.length === 0 ? 'good' : 'bad',
    },
  ];
}

function limits({ limits: all }: BenchResult): KeyFigure[] {
  if (all.length === 0) return [];
  const inexact = all.filter((limit) => !isExact(limit));
  return [
    {
      label: 'Limits exact',
      value: `${all.length - inexact.length} of ${all.length}`,
      note: inexact.length === 0 ? 'not one more, not one less' : `not: ${inexact.map(({ name }) => name).join(', ')}`,
      mark: inexact.length === 0 ? 'good' : 'bad',
    },
  ];
}

function load({ curves }: BenchResult): KeyFigure[] {
  const points = curves.find(({ name }) => name === 'offered-load')?.points ?? [];
  const last = keptUp(points);
  if (last === null) return [];
  return [
    {
      label: 'Keeps up with',
      value: `${short(last.offeredPerSecond)}/s`,
      note: `p99 ${last.latencyMs.p99.toFixed(1)} ms, p99.9 ${last.latencyMs.p999.toFixed(1)} ms`,
      mark: 'plain',
    },
  ];
}

function memory({ memory: measured }: BenchResult): KeyFigure[] {
  if (measured === null) return [];
  return [
    {
      label: 'Live sessions at most',
      value: short(measured.sessionsMax),
      note: `${whole(measured.residentBytes)} bytes of memory each`,
      mark: 'plain',
    },
  ];
}

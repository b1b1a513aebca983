import type { BenchResult } from '../result/bench-result.ts';
import { isLimitExact } from '../result/bench-result.ts';
import { formatInteger, formatShort, joinWords } from './formatting.ts';
import { evaluateTargets } from './ratios.ts';
import { lastSustainedPoint } from './sections/curves-section.ts';

/** Figure in the summary at the top of the report. */
export interface KeyFigure {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly mark: 'good' | 'bad' | 'plain';
}

export function keyFigures(result: BenchResult): KeyFigure[] {
  return [...targetFigures(result), ...limitFigures(result), ...loadFigures(result), ...memoryFigures(result)];
}

function targetFigures({ routes }: BenchResult): KeyFigure[] {
  const outcomes = evaluateTargets(routes);
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
            : `missed in ${joinWords(names)}`,
      mark: missed.length === 0 ? 'good' : 'bad',
    },
  ];
}

function limitFigures({ limits: all }: BenchResult): KeyFigure[] {
  if (all.length === 0) return [];
  const inexact = all.filter((limit) => !isLimitExact(limit));
  return [
    {
      label: 'Limits exact',
      value: `${all.length - inexact.length} of ${all.length}`,
      note: inexact.length === 0 ? 'not one more, not one less' : `not: ${inexact.map(({ name }) => name).join(', ')}`,
      mark: inexact.length === 0 ? 'good' : 'bad',
    },
  ];
}

function loadFigures({ curves }: BenchResult): KeyFigure[] {
  const points = curves.find(({ name }) => name === 'offered-load')?.points ?? [];
  const last = lastSustainedPoint(points);
  if (last === null) return [];
  return [
    {
      label: 'Keeps up with',
      value: `${formatShort(last.offeredPerSecond)}/s`,
      note: `p99 ${last.latencyMs.p99.toFixed(1)} ms, p99.9 ${last.latencyMs.p999.toFixed(1)} ms`,
      mark: 'plain',
    },
  ];
}

function memoryFigures({ memory: measured }: BenchResult): KeyFigure[] {
  if (measured === null) return [];
  return [
    {
      label: 'Live sessions at most',
      value: formatShort(measured.sessionsMax),
      note: `${formatInteger(measured.residentBytes)} bytes of memory each`,
      mark: 'plain',
    },
  ];
}

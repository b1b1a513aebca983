import type { SummaryResponse } from '../api/shapes.ts';
import { formatDollars } from '../pages/numbers.ts';
import type { Results } from './results.ts';

export interface Verdict {
  readonly headline: string;
  readonly reason: string;
}

/** What may be said of the two variants today, and no more than that. */
export function decideWinner({ a, b }: Results): Verdict {
  const [low, high] = [a.rev_per_session_ci95, b.rev_per_session_ci95];
  if (low === null || high === null) {
    return {
      headline: 'Too early to judge',
      reason:
        'Each variant needs at least 30 matured sessions, which are older than 45 days: ' +
        `A has ${a.sessions_matured}, B has ${b.sessions_matured}.`,
    };
  }
  if (low.high < high.low) return winnerVerdict('B', b, 'A', a);
  if (high.high < low.low) return winnerVerdict('A', a, 'B', b);
  return {
    headline: 'No clear winner yet',
    reason: `The intervals overlap: A lies between ${formatInterval(a)}, B between ${formatInterval(b)}. More sessions narrow them.`,
  };
}

function winnerVerdict(name: string, better: SummaryResponse, other: string, worse: SummaryResponse): Verdict {
  return {
    headline: `Variant ${name} earns more`,
    reason: `Its matured sessions are worth between ${formatInterval(better)} each, those of ${other} between ${formatInterval(worse)}.`,
  };
}

function formatInterval({ rev_per_session_ci95: interval }: SummaryResponse): string {
  return `${formatDollars(interval!.low)} and ${formatDollars(interval!.high)}`;
}

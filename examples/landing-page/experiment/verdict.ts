import type { SummaryAnswer } from '../api/shapes.ts';
import { dollars } from '../pages/numbers.ts';
import type { Results } from './results.ts';

export interface Verdict {
  readonly headline: string;
  readonly reason: string;
}

/** What may be said of the two variants today, and no more than that. */
export function verdictOf({ a, b }: Results): Verdict {
  const [low, high] = [a.rev_per_session_ci95, b.rev_per_session_ci95];
  if (low === null || high === null) {
    return {
      headline: 'Too early to judge',
      reason:
        'Each variant needs at least 30 matured sessions, which are older than 45 days: ' +
        `A has ${a.sessions_matured}, B has ${b.sessions_matured}.`,
    };
  }
  if (low.high < high.low) return winner('B', b, 'A', a);
  if (high.high < low.low) return winner('A', a, 'B', b);
  return {
    headline: 'No clear winner yet',
    reason: `The intervals overlap: A lies between ${interval(a)}, B between ${interval(b)}. More sessions narrow them.`,
  };
}

function winner(name: string, better: SummaryAnswer, other: string, worse: SummaryAnswer): Verdict {
  return {
    headline: `Variant ${name} earns more`,
    reason: `Its matured sessions are worth between ${interval(better)} each, those of ${other} between ${interval(worse)}.`,
  };
}

function interval({ rev_per_session_ci95: interval }: SummaryAnswer): string {
  return `${dollars(interval!.low)} and ${dollars(interval!.high)}`;
}

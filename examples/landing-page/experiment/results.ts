import type { ApiFailure, MarketplaceApi, SummaryResponse } from '../api/marketplace-api.ts';
import { formatDollars } from '../pages/formatting.ts';
import { variants } from './variants.ts';

export interface Results {
  readonly a: SummaryResponse;
  readonly b: SummaryResponse;
  /** First day of the figures, `YYYY-MM-DD`. */
  readonly since: string;
}

/** Number of days of the figures: the default of matured figures, so that all figures cover the same sessions. */
export const resultDays = 180;
/** Minimum interval between requests. Two queries every 5 seconds are 24 per minute; the limit of a key is 50. */
const cacheMs = 5_000;

/** Caches the figures of both variants, so that reloads of the page do not exceed the rate limit. */
export class ResultsCache {
  readonly #api: MarketplaceApi;
  #latest: { readonly askedAtMs: number; readonly results: Promise<Results | ApiFailure> } | null = null;

  constructor(api: MarketplaceApi) {
    this.#api = api;
  }

  read(): Promise<Results | ApiFailure> {
    const nowMs = performance.now();
    if (this.#latest === null || nowMs - this.#latest.askedAtMs >= cacheMs) {
      this.#latest = { askedAtMs: nowMs, results: this.#fetch() };
    }
    return this.#latest.results;
  }

  async #fetch(): Promise<Results | ApiFailure> {
    const since = new Date(Date.now() - resultDays * 86_400_000).toISOString().slice(0, 10);
    const [a, b] = await Promise.all([
      this.#api.summary(variants.a.referrerTag, since),
      this.#api.summary(variants.b.referrerTag, since),
    ]);
    if (!a.ok) return a;
    if (!b.ok) return b;
    return { a: a.answer, b: b.answer, since };
  }
}

interface Verdict {
  readonly headline: string;
  readonly reason: string;
}

/** Minimum number of matured sessions with revenue of each variant: the API returns no confidence interval for fewer sessions. */
export const sessionsWithRevenueMin = 25;

/** Whether both variants have enough revenue to be compared. Below that, even a large difference is likely to be chance. */
export function isComparable({ a, b }: Results): boolean {
  return a.matured.ci95 !== null && b.matured.ci95 !== null;
}

/** Compares the revenue per session of the variants. Names a winner only if the confidence intervals do not overlap. */
export function decideWinner({ a, b }: Results): Verdict {
  const [low, high] = [a.matured.ci95, b.matured.ci95];
  if (low === null || high === null) {
    const [ofA, ofB] = [a, b].map(({ matured }) => matured.sessions_with_revenue ?? 'an unknown number');
    return {
      headline: 'Too early to compare',
      reason:
        `Each variant needs at least ${sessionsWithRevenueMin} sessions with confirmed revenue that are older than 45 days: ` +
        `A has ${ofA}, B has ${ofB}.`,
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

function formatInterval({ matured: { ci95 } }: SummaryResponse): string {
  return `${formatDollars(ci95!.low)} and ${formatDollars(ci95!.high)}`;
}

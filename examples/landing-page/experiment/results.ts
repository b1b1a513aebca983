import type { ApiFailure, MarketplaceApi } from '../api/marketplace-api.ts';
import type { SummaryResponse } from '../api/shapes.ts';
import { variants } from './variants.ts';

export interface Results {
  readonly a: SummaryResponse;
  readonly b: SummaryResponse;
  /** The first day they cover, `YYYY-MM-DD`. */
  readonly since: string;
}

/** The days that matured figures cover by default: with the same first day, every figure of the page has one population. */
export const resultDays = 180;
/** Two questions in so many seconds are 24 a minute; a key may ask 50. */
const cacheMs = 5_000;

/** Figures of both variants, asked for at most every few seconds however often the page is reloaded. */
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

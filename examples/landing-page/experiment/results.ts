import type {
  ApiFailure,
  ArmResults,
  ExperimentResponse,
  MarketplaceApi,
  ResultsResponse,
  SummaryResponse,
} from '../api/marketplace-api.ts';
import { type Variant, variants } from './variants.ts';

/** Figures of one variant. */
export interface VariantFigures {
  /** Figures up to now. */
  readonly summary: SummaryResponse;
  /** Figures of the experiment, up to the last complete day. */
  readonly arm: ArmResults;
}

export interface Results extends Readonly<Record<Variant, VariantFigures>> {
  readonly experiment: ExperimentResponse;
  readonly response: ResultsResponse;
}

/** Minimum interval between requests. Three queries every 5 seconds are 36 per minute; the limit of a key is 50. */
const cacheMs = 5_000;

/** Caches the results of the experiment, so that reloads of the page do not exceed the rate limit. */
export class ResultsCache {
  readonly #api: MarketplaceApi;
  readonly #experiment: ExperimentResponse;
  #latest: { readonly askedAtMs: number; readonly results: Promise<Results | ApiFailure> } | null = null;

  constructor(api: MarketplaceApi, experiment: ExperimentResponse) {
    this.#api = api;
    this.#experiment = experiment;
  }

  read(): Promise<Results | ApiFailure> {
    const nowMs = performance.now();
    if (this.#latest === null || nowMs - this.#latest.askedAtMs >= cacheMs) {
      this.#latest = { askedAtMs: nowMs, results: this.#fetch() };
    }
    return this.#latest.results;
  }

  async #fetch(): Promise<Results | ApiFailure> {
    const experiment = this.#experiment;
    const [response, a, b] = await Promise.all([
      this.#api.results(experiment.name),
      this.#api.summary(variants.a.referrerTag, experiment.starts_on),
      this.#api.summary(variants.b.referrerTag, experiment.starts_on),
    ]);
    if (!response.ok) return response;
    if (!a.ok) return a;
    if (!b.ok) return b;
    const figuresOf = (variant: Variant, summary: SummaryResponse): VariantFigures => ({
      summary,
      arm: response.answer.arms.find(({ referrer_tag: tag }) => tag === variants[variant].referrerTag)!,
    });
    return { experiment, response: response.answer, a: figuresOf('a', a.answer), b: figuresOf('b', b.answer) };
  }
}

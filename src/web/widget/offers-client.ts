import * as widgetLimits from './limits.ts';
import type { Offer } from './offer.ts';
import type { SortOrder, WidgetSettings } from './settings.ts';

export interface OffersResponse {
  readonly offers: readonly Offer[];
  readonly total_offers: number;
  /** Requested loan amount in USD, from which the monthly payments of all offers are calculated; null for products without one. */
  readonly loan_amount: number | null;
  readonly disclosure: string;
  /** Time of the response according to the server's clock (ISO 8601). */
  readonly generated_at: string;
  readonly expires_at: string;
}

/** Order and maximum number of the offers that the widget requests. */
export interface OfferSelection {
  readonly sort: SortOrder;
  /** Maximum number of offers; null for the default of the server. */
  readonly maxOffers: number | null;
}

/** Resolves after a delay in milliseconds, or earlier if the signal is aborted. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    if (signal.aborted) done();
  });
}

/** Result of fetching offers. `code` is an error code of the API, or `UNREACHABLE` if no valid response arrived. */
type OffersResult =
  | { readonly ok: true; readonly envelope: OffersResponse }
  | { readonly ok: false; readonly code: string; readonly waitMs: number };

/** HTTP client that fetches the offers of one widget load. */
export class OffersClient {
  readonly #settings: WidgetSettings;
  readonly #load: string;
  #abortController: AbortController | null = null;

  constructor(settings: WidgetSettings, load: string, ended: AbortSignal) {
    this.#settings = settings;
    this.#load = load;
    ended.addEventListener('abort', () => this.#abortController?.abort());
  }

  /**
   * Fetches a selection of the offers, and retries temporary errors within 10 seconds (`offersTimeoutMs`). Returns null if a later call of
   * `fetchOffers` or the replacement of the widget cancels the request. Every retry contains the load ID of the first attempt, so the
   * server counts at most one view.
   */
  async fetchOffers(selection: OfferSelection): Promise<OffersResult | null> {
    this.#abortController?.abort();
    const abortController = new AbortController();
    this.#abortController = abortController;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      abortController.abort();
    }, widgetLimits.offersTimeoutMs);
    try {
      const result = await this.#fetchOffersWithRetries(selection, abortController.signal);
      return abortController.signal.aborted && !timedOut ? null : result;
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetchOffersWithRetries(selection: OfferSelection, signal: AbortSignal): Promise<OffersResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await this.#fetchOffersOnce(selection, signal);
      if (result.ok || !isRetryable(result.code) || attempt === widgetLimits.attemptsMax || signal.aborted)
        return result;
      const waitMs = result.waitMs || widgetLimits.retryDelayMs * 2 ** (attempt - 1);
      // If the server requires a long delay, the widget shows a retry button with a countdown instead of waiting.
      if (waitMs > widgetLimits.offersTimeoutMs / 4) return result;
      await sleep(waitMs, signal);
      if (signal.aborted) return result;
    }
  }

  async #fetchOffersOnce({ sort, maxOffers }: OfferSelection, signal: AbortSignal): Promise<OffersResult> {
    const { base, sub, token } = this.#settings;
    const query = new URLSearchParams({ sub, token, load: this.#load, sort });
    if (maxOffers !== null) query.set('max_offers', String(maxOffers));
    try {
      const response = await fetch(`${base}/offers?${query}`, { signal, cache: 'no-store', credentials: 'omit' });
      const body = await response.json();
      if (response.ok && Array.isArray(body.offers)) return { ok: true, envelope: body };
      return {
        ok: false,
        code: typeof body.error === 'string' ? body.error : 'UNREACHABLE',
        waitMs: widgetLimits.parseRetryAfterMs(response.headers.get('Retry-After')) ?? 0,
      };
    } catch {
      return { ok: false, code: 'UNREACHABLE', waitMs: 0 };
    }
  }
}

function isRetryable(code: string): boolean {
  return ['UNREACHABLE', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR'].includes(code);
}

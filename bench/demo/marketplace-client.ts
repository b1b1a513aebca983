import { setTimeout as sleep } from 'node:timers/promises';

/** Parts of the API responses that the demo reads (docs/contract.md#operations). */
export interface Offer {
  readonly lender_name: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  readonly monthly_payment_estimate: number;
  readonly svc_star_rating: number;
  readonly click_url: string;
}

export interface MarketplaceResponse {
  readonly offers: readonly Offer[];
  readonly total_offers: number;
}

export interface SummaryResponse {
  readonly referrer_tag: string;
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  readonly click_rate: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly rev_per_session: number;
  readonly top_lenders: readonly { readonly lender: string; readonly clicks: number }[];
}

export const sortOrders = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;

/** A response of the API. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON body, or null if the body is not JSON. */
  readonly body: unknown;
}

const responseTimeoutMs = 10_000;
const rateLimitRetries = 3;

/** Calls the public API of personal loans, as the server of a partner does. */
export class MarketplaceClient {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #onWait: (seconds: number) => void;

  /** @param onWait called before each wait for a rate limit, with the duration of the wait in seconds */
  constructor(apiUrl: string, key: string, onWait: (seconds: number) => void) {
    this.#baseUrl = `${apiUrl.replace(/\/+$/, '')}/personal-loans`;
    this.#key = key;
    this.#onWait = onWait;
  }

  post(path: string, body: unknown): Promise<ApiResponse> {
    return this.#sendWithRetry(this.#baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  get(path: string, query: Record<string, string>): Promise<ApiResponse> {
    return this.#sendWithRetry(`${this.#baseUrl}${path}?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${this.#key}` },
    });
  }

  /** Requests a click_url without following the redirect. */
  requestClickUrl(clickUrl: string): Promise<ApiResponse> {
    return this.#sendWithRetry(clickUrl, { redirect: 'manual' });
  }

  async #sendWithRetry(url: string, init: RequestInit): Promise<ApiResponse> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#send(url, init);
      if (answer.status !== 429 || attempt === rateLimitRetries) return answer;
      const seconds = Number(answer.headers.get('retry-after') ?? 2 ** attempt);
      this.#onWait(seconds);
      await sleep(seconds * 1000);
    }
  }

  async #send(url: string, init: RequestInit): Promise<ApiResponse> {
    let response: Response;
    try {
      response = await fetch(url, { ...init, signal: AbortSignal.timeout(responseTimeoutMs) });
    } catch (error) {
      const { cause = error } = error as Error;
      const reason = (cause as NodeJS.ErrnoException).code ?? String(error);
      throw new Error(
        `No response from ${new URL(url).origin} (${reason}). Start the server with \`make run\` in another terminal, ` +
          'or pass the URL of a running server with --url.',
      );
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : null };
  }
}

/** Returns the response body. Throws an error if the response has another status than `status`. */
export function expectStatus<Body>(answer: ApiResponse, status: number, operation: string): Body {
  if (answer.status === status) return answer.body as Body;
  const { error, message } = (answer.body ?? {}) as { error?: string; message?: string };
  const said = error === undefined ? '' : ` ${error}: ${message}`;
  const hint = answer.status === 401 ? ' Pass a key of that server with --key or API_KEY_PERSONAL_LOANS.' : '';
  throw new Error(`${operation} returned status ${answer.status}${said}${hint}`);
}

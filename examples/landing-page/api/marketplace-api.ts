import { randomUUID } from 'node:crypto';

/** What this page reads of the API's answers; docs/api.md has the rest. */
export interface SessionResponse {
  readonly sub_id: string;
  /** A test key made it: its offers are made up. */
  readonly sandbox: boolean;
}

export interface InputsResponse {
  readonly match_readiness: 'high' | 'partial' | 'insufficient';
  readonly missing_required: readonly string[];
  readonly missing_conditional: readonly string[];
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
}

export interface Offer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  /** Percent. */
  readonly apr_range: NumberRange;
  /** USD, for the amount asked for. */
  readonly monthly_payment_estimate: number;
  /** The term that the payment is for. */
  readonly payment_term_months?: number;
  readonly loan_amount_range: NumberRange;
  readonly term_months: readonly number[];
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
}

export interface OffersResponse {
  readonly offers: readonly Offer[];
  readonly total_offers: number;
  readonly disclosure: string;
}

export interface EmbedResponse {
  readonly format: 'iframe' | 'js';
  /** To be put into the page as it is. */
  readonly html: string;
  /** Address of the frame, or of the script. */
  readonly src: string;
}

export interface SummaryResponse {
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  /** Clicks a view. */
  readonly click_rate: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly rev_per_session: number;
  readonly sessions_matured: number;
  readonly rev_per_session_matured: number | null;
  readonly rev_per_session_ci95: { readonly low: number; readonly high: number } | null;
  /** Null while nothing has happened yet. */
  readonly as_of: string | null;
}

/** Why one field was refused. */
export interface InvalidField {
  readonly field: string;
  readonly code: string;
  readonly message: string;
  readonly min?: number;
  readonly max?: number;
}

/** An operation that did not succeed. What to do about it follows from `code` alone. */
export interface ApiFailure {
  readonly ok: false;
  /** One of the API's error table, or `UNREACHABLE` when no answer came at all. */
  readonly code: string;
  /** For the log: operation, status, code and request id; nothing that a visitor entered. */
  readonly description: string;
  readonly retryAfterSeconds: number | null;
  /** With `INVALID_FIELD_VALUE`. */
  readonly invalidFields: readonly InvalidField[];
}

export type ApiResult<Answer> = { readonly ok: true; readonly answer: Answer } | ApiFailure;

/** Text, numbers and so on by pocket field; null clears one. */
export type ApiFields = Readonly<Record<string, unknown>>;

const responseTimeoutMs = 5_000;

/** The four operations, called by our own server: the key never leaves it. */
export class MarketplaceApi {
  readonly #url: string;
  readonly #key: string;

  /** `url` as in `http://127.0.0.1:8080/v1/personal-loans`. */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /**
   * One session for each page load. When no answer came, the session may exist all the same: the second try under the same
   * `Idempotency-Key` gets it, instead of counting the visitor twice.
   */
  async createSession(
    referrerTag: string,
    userAgent: string | undefined,
    metadata: Readonly<Record<string, string>>,
  ): Promise<ApiResult<SessionResponse>> {
    // Says on which device the page was seen. Longer ones than the API takes are nobody's browser.
    const fitting = userAgent !== undefined && userAgent.length <= 1024 ? { user_agent: userAgent } : {};
    const body = { referrer_tag: referrerTag, ...fitting, metadata };
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await this.#post<SessionResponse>('/session', body, headers);
    if (first.ok || first.code !== 'UNREACHABLE') return first;
    return this.#post<SessionResponse>('/session', body, headers);
  }

  /** Without any field it only tells what is missing. */
  submitInputs(subId: string, fields: ApiFields): Promise<ApiResult<InputsResponse>> {
    return this.#post('/inputs', { sub_id: subId, fields });
  }

  offers(subId: string, maxOffers: number): Promise<ApiResult<OffersResponse>> {
    return this.#get('/marketplace', { sub_id: subId, format: 'json', max_offers: String(maxOffers) });
  }

  embed(subId: string, format: 'iframe' | 'js', maxOffers: number): Promise<ApiResult<EmbedResponse>> {
    return this.#get('/marketplace', { sub_id: subId, format, max_offers: String(maxOffers) });
  }

  /** Figures of one experiment since a date, `YYYY-MM-DD`. */
  summary(referrerTag: string, dateFrom: string): Promise<ApiResult<SummaryResponse>> {
    return this.#get('/analytics', { referrer_tag: referrerTag, date_from: dateFrom });
  }

  /** Null when the API answers and knows the key, or else why not. */
  async checkAccess(): Promise<ApiFailure | null> {
    // A question without its parameters: a known key gets INVALID_REQUEST, before which everything else is checked.
    const result = await this.#get('/marketplace', {});
    return result.ok || result.code === 'INVALID_REQUEST' ? null : result;
  }

  #post<Answer>(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    return this.#call<Answer>(`POST ${path}`, this.#url + path, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  #get<Answer>(path: string, query: Readonly<Record<string, string>>) {
    return this.#call<Answer>(`GET ${path}`, `${this.#url}${path}?${new URLSearchParams(query)}`, {});
  }

  async #call<Answer>(operation: string, url: string, init: RequestInit): Promise<ApiResult<Answer>> {
    const headers = { ...init.headers, Accept: 'application/json', Authorization: `Bearer ${this.#key}` };
    let response: Response;
    let body: unknown;
    try {
      // The time covers the body too. A redirect would carry the key to another address, so there is none.
      response = await fetch(url, {
        ...init,
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(responseTimeoutMs),
      });
      body = await response.json();
    } catch (error) {
      return createFailure('UNREACHABLE', `${operation}: no usable answer (${errorReason(error)})`);
    }
    if (response.ok) return { ok: true, answer: body as Answer };
    const { error = 'UNKNOWN', fields_invalid = [] } = body as {
      error?: string;
      fields_invalid?: readonly InvalidField[];
    };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      ...createFailure(
        error,
        `${operation}: ${response.status} ${error}, request ${response.headers.get('x-request-id')}`,
      ),
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
      invalidFields: fields_invalid,
    };
  }
}

function createFailure(code: string, description: string): ApiFailure {
  return { ok: false, code, description, retryAfterSeconds: null, invalidFields: [] };
}

function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}

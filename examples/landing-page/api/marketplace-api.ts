import { randomUUID } from 'node:crypto';

/** Members of the API responses that this page reads; docs/api.md describes all members. */
export interface SessionResponse {
  readonly sub_id: string;
  /** Whether a test key created the session, so that its offers are fictional. */
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
  /** APR in percent; null for products without an APR. */
  readonly apr_range: NumberRange | null;
  /** Estimated monthly payment in USD for the requested amount; null for products without payments. */
  readonly monthly_payment_estimate: number | null;
  /** Term in months on which the estimated payment is based. */
  readonly payment_term_months?: number | null;
  readonly loan_amount_range: NumberRange | null;
  readonly term_months: readonly number[];
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
  /** Disclosure of the lender. */
  readonly legal?: string;
  readonly terms_url?: string;
  /** Date on which the lender confirmed the figures, `YYYY-MM-DD`. */
  readonly as_of?: string;
  readonly card?: CardFigures;
  readonly mortgage?: MortgageFigures;
  readonly deposit?: DepositFigures;
  readonly advisor?: AdvisorFigures;
  /** Statement that the advisor pays for the introduction. */
  readonly compensation_disclosure?: string;
}

/** Figures of a credit card. Rates are in percent and amounts in USD, as in all offers. */
interface CardFigures {
  readonly name: string;
  /** Whether the purchase APR follows an index; null if the catalog does not say so. */
  readonly variable: boolean | null;
  readonly annual_fee: number;
  readonly annual_fee_first_year: number;
  readonly transfer_apr: NumberRange;
  readonly intro_purchase_apr: { readonly percent: number; readonly months: number } | null;
  readonly intro_transfer_apr: { readonly percent: number; readonly months: number } | null;
  /** Rewards by category; `base` is the rate of all other purchases. */
  readonly rewards: readonly { readonly category: string; readonly percent: number }[];
  readonly bonus: { readonly value: number; readonly spend: number; readonly months: number } | null;
  readonly security_deposit_min: number | null;
  readonly security_deposit_max: number | null;
  readonly first_year_value: number;
}

interface MortgageFigures {
  readonly rate_type: 'fixed' | 'adjustable';
  /** Months before the rate of an adjustable loan may change; null for a fixed rate. */
  readonly fixed_months: number | null;
  readonly rate: number;
  /** Index and all payments of an adjustable loan, first to last; null for a fixed rate. */
  readonly adjustable: {
    readonly index_percent: number;
    readonly payments: readonly { readonly from_month: number; readonly rate: number; readonly payment: number }[];
  } | null;
  readonly points_percent: number;
  readonly lender_fees: number;
  readonly loan_amount: number;
  readonly cost_over_five_years: number;
  readonly nmls_id: string;
}

/** Figures of a deposit account. */
interface DepositFigures {
  readonly name: string;
  readonly apy: number;
  readonly minimum_deposit: number;
  readonly minimum_balance_for_apy: number;
  readonly monthly_fee: number;
  /** Balance from which there is no monthly fee; null if the fee is never waived. */
  readonly fee_waived_from: number | null;
  readonly term_months: number | null;
  readonly early_withdrawal_penalty_days: number | null;
  /** `days` is the deadline of the requirement, counted from the opening of the account. */
  readonly bonus: { readonly amount: number; readonly requirement: string; readonly days: number } | null;
  readonly variable: boolean;
  readonly first_year_earnings: number;
}

/** Figures of a financial advisor. */
interface AdvisorFigures {
  readonly name: string;
  readonly fiduciary: boolean;
  readonly fee_model: 'percent_of_assets' | 'flat' | 'hourly' | 'commission';
  readonly estimated_annual_fee: number;
  readonly minimum_assets: number;
  readonly has_disclosures: boolean;
}

export interface OffersResponse {
  readonly offers: readonly Offer[];
  readonly total_offers: number;
  readonly disclosure: string;
}

export interface EmbedResponse {
  readonly format: 'iframe' | 'js';
  /** HTML for the page. */
  readonly html: string;
  /** URL of the frame or script. */
  readonly src: string;
}

export interface SummaryResponse {
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  /** Clicks divided by views. */
  readonly click_rate: number;
  readonly rev_attributed: number;
  /** Time of the last record in the figures; null without records. */
  readonly as_of: string | null;
}

export interface ExperimentArm {
  readonly referrer_tag: string;
  readonly weight: number;
  readonly label: string;
}

export interface ExperimentDefinition {
  /** At least two arms, in the order that assigns visitors. */
  readonly arms: readonly ExperimentArm[];
  readonly control: string;
  readonly unit: 'visitor';
  readonly assignment: 'hash';
  readonly starts_on: string;
  readonly min_effect_percent: number;
  readonly hypothesis: string;
}

export interface ExperimentResponse extends ExperimentDefinition {
  readonly name: string;
  /** Days after the day of a session in which its revenue counts, and further days for the lender to confirm it. */
  readonly revenue_days: number;
  readonly grace_days: number;
}

/** Results of an experiment at the end of a UTC day. */
export interface ResultsResponse {
  /** What the results mean, in one or a few sentences. */
  readonly sentence: string;
  readonly warnings: readonly string[];
  readonly as_of: string;
  readonly arms: readonly ArmResults[];
  readonly comparisons: readonly {
    /** Difference of the revenue per session; null until there are enough data. */
    readonly difference: { readonly value: number } | null;
  }[];
}

export interface ArmResults {
  readonly referrer_tag: string;
  readonly sessions: number;
  readonly units: number;
  readonly mature_sessions: number;
  readonly units_with_revenue: number;
  readonly revenue_per_session: number | null;
  readonly interval: { readonly low: number; readonly high: number } | null;
}

/** Error of one rejected field. */
export interface InvalidField {
  readonly field: string;
  readonly code: string;
  readonly message: string;
  readonly min?: number;
  readonly max?: number;
}

/** A failed operation. The reaction depends only on `code`. */
export interface ApiFailure {
  readonly ok: false;
  /** Error code of the API, or `UNREACHABLE` if there was no response. */
  readonly code: string;
  /** Log message with operation, status, code and request ID, without input of the visitor. */
  readonly description: string;
  readonly retryAfterSeconds: number | null;
  /** Invalid fields if the code is `INVALID_FIELD_VALUE`, else empty. */
  readonly invalidFields: readonly InvalidField[];
}

export type ApiResult<Answer> = { readonly ok: true; readonly answer: Answer } | ApiFailure;

/** Values by field name; null clears a field. */
export type ApiFields = Readonly<Record<string, unknown>>;

const responseTimeoutMs = 5_000;

/** Client of the API. It runs only on the server, so browsers never receive the API key. */
export class MarketplaceApi {
  readonly #url: string;
  readonly #key: string;

  /** @param url base URL with the path of the vertical, such as `http://127.0.0.1:8080/v1/personal-loans` */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /**
   * Creates a session for a page load. If there is no response, the API may still have created the session, so the retry uses the
   * same `Idempotency-Key` and gets the existing session.
   */
  async createSession(
    referrerTag: string,
    visitorId: string | null,
    userAgent: string | undefined,
  ): Promise<ApiResult<SessionResponse>> {
    // Analytics derives the device from the user agent. Browsers do not send longer ones than the API accepts.
    const fitting = userAgent !== undefined && userAgent.length <= 1024 ? { user_agent: userAgent } : {};
    const body = { referrer_tag: referrerTag, ...(visitorId === null ? {} : { unit_id: visitorId }), ...fitting };
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await this.#send<SessionResponse>('POST', '/session', body, headers);
    if (first.ok || first.code !== 'UNREACHABLE') return first;
    return this.#send<SessionResponse>('POST', '/session', body, headers);
  }

  /** Submits fields to a session. Without fields, the response only lists the missing fields. */
  submitInputs(subId: string, fields: ApiFields): Promise<ApiResult<InputsResponse>> {
    return this.#send('POST', '/inputs', { sub_id: subId, fields });
  }

  offers(subId: string, maxOffers: number): Promise<ApiResult<OffersResponse>> {
    return this.#get('/marketplace', { sub_id: subId, format: 'json', max_offers: String(maxOffers) });
  }

  embed(subId: string, format: 'iframe' | 'js', maxOffers: number): Promise<ApiResult<EmbedResponse>> {
    return this.#get('/marketplace', { sub_id: subId, format, max_offers: String(maxOffers) });
  }

  /** Requests the figures of one referrer tag since a date, `YYYY-MM-DD`. */
  summary(referrerTag: string, dateFrom: string): Promise<ApiResult<SummaryResponse>> {
    return this.#get('/analytics', { referrer_tag: referrerTag, date_from: dateFrom });
  }

  experiment(name: string): Promise<ApiResult<ExperimentResponse>> {
    return this.#get(`/experiments/${name}`, {});
  }

  /** Creates an experiment. A repeated request with the same definition changes nothing. */
  defineExperiment(name: string, definition: ExperimentDefinition): Promise<ApiResult<ExperimentResponse>> {
    return this.#send('PUT', `/experiments/${name}`, definition);
  }

  results(name: string): Promise<ApiResult<ResultsResponse>> {
    return this.#get(`/experiments/${name}/results`, {});
  }

  /** Checks that the API responds and accepts the key. Returns null, or the failure. */
  async checkAccess(): Promise<ApiFailure | null> {
    // A query without parameters: the API checks the key first and then returns INVALID_REQUEST.
    const result = await this.#get('/marketplace', {});
    return result.ok || result.code === 'INVALID_REQUEST' ? null : result;
  }

  #send<Answer>(method: 'POST' | 'PUT', path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    return this.#call<Answer>(`${method} ${path}`, this.#url + path, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  #get<Answer>(path: string, query: Readonly<Record<string, string>>) {
    return this.#call<Answer>(`GET ${path}`, `${this.#url}${path}?${new URLSearchParams(query)}`, {});
  }

  async #call<Answer>(operation: string, url: string, init: RequestInit): Promise<ApiResult<Answer>> {
    const headers = { ...init.headers, Accept: 'application/json', Authorization: `Bearer ${this.#key}` };
    // The timeout includes the body. Redirects are not followed, because they would send the key to another address.
    const send = async () => {
      const signal = AbortSignal.timeout(responseTimeoutMs);
      const response = await fetch(url, { ...init, headers, redirect: 'error', signal });
      return { response, body: (await response.json()) as unknown };
    };
    let answer: Awaited<ReturnType<typeof send>>;
    try {
      // The server may close an idle connection while a request is on its way. All requests can be repeated without harm.
      answer = await send().catch((error) => (isConnectionReset(error) ? send() : Promise.reject(error)));
    } catch (error) {
      return createFailure('UNREACHABLE', `${operation}: no usable answer (${errorReason(error)})`);
    }
    const { response, body } = answer;
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

function isConnectionReset(error: unknown): boolean {
  return /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(errorReason(error));
}

function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}

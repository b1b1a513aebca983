import type { Admission, Authenticator } from '../auth/authenticator.ts';
import type { Caller, Operation } from '../auth/key-usage.ts';
import { bounds } from '../bounds.ts';
import type { PublicUrls } from '../config/config.ts';
import { assertKnownNames } from '../domain/assert-options.ts';
import { errorTable } from '../domain/errors.ts';
import {
  type ApiError,
  type ErrorBody,
  errorBody,
  failedWith,
  invalidRequest,
  type Outcome,
  succeeded,
  unavailable,
} from '../domain/outcome.ts';
import type { SortOrder } from '../matching/matcher.ts';
import type { DailyView, RowsView, SummaryView } from '../operations/analytics-views.ts';
import type { ApiOperations } from '../operations/api-operations.ts';
import { clickUrlPrefix } from '../operations/click-url.ts';
import type { SessionView } from '../operations/create-session.ts';
import type { WidgetEmbedView } from '../operations/embed-widget.ts';
import type { MarketplaceRequest } from '../operations/get-marketplace.ts';
import { collectIgnoredNames, knownRequestNames, withIgnoredNames } from '../operations/ignored-names.ts';
import { type MarketplaceView, toMarketplaceView } from '../operations/marketplace-view.ts';
import type { AnalyticsRequest, AnalyticsView } from '../operations/query-analytics.ts';
import type { InputsView } from '../operations/submit-inputs.ts';
import type { Vertical } from '../verticals/vertical.ts';

/** An error of the API, with its HTTP status and the members of its JSON body. */
export interface PartnerApiError extends ErrorBody {
  readonly status: number;
  /** Seconds to wait before a retry; present for status 429 and 503. */
  readonly retry_after?: number;
}

/** The result of an operation: a value or an error. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: PartnerApiError };

interface OffersQuery {
  readonly sub_id: string;
  readonly max_offers?: number;
  readonly sort?: SortOrder;
}

/** Parameters of GET /marketplace for a widget. */
export interface WidgetQuery extends OffersQuery {
  readonly format: 'iframe' | 'js';
}

/** Parameters of GET /marketplace for a JSON response; `format` is always `json`. */
export interface MarketplaceQuery extends OffersQuery {
  /** Whether to explain why offers do not match. Allowed with test keys only. */
  readonly explain?: boolean;
}

interface AnalyticsFilters {
  readonly referrer_tag?: string;
  readonly sub_id_list?: readonly string[];
  readonly date_from?: string;
  readonly date_to?: string;
}

/** Parameters of GET /analytics for a summary. Dates have the format `YYYY-MM-DD`. */
export interface AnalyticsQuery extends AnalyticsFilters {
  readonly granularity?: 'summary';
}

/** Parameters of GET /analytics for a page of days or of sessions. */
export interface AnalyticsPageQuery<Granularity extends 'daily' | 'row'> extends AnalyticsFilters {
  readonly granularity: Granularity;
  /** Number of items on a page, from 1 to 100. Default: 100. */
  readonly limit?: number;
  /** Value of `next_cursor` on the previous page with the same filters. */
  readonly cursor?: string;
}

interface PartnerApiDeps {
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  readonly urls: Pick<PublicUrls, 'click'>;
  /** Whether the service is closing or closed. If so, no operation may start. */
  isStopping(): boolean;
}

/**
 * The API for the program that embeds the service: the operations as async functions for one API key and one vertical. Checks and limits
 * are the same as over HTTP. An argument of the wrong type results in an INVALID_REQUEST error with its `param`, and not in an exception,
 * because JavaScript programs without type checks call it too.
 */
export class PartnerApi {
  readonly #deps: PartnerApiDeps;
  readonly #vertical: Vertical;
  readonly #authorization: string;

  constructor(deps: PartnerApiDeps, vertical: Vertical, apiKey: string) {
    this.#deps = deps;
    this.#vertical = vertical;
    this.#authorization = `Bearer ${apiKey}`;
  }

  /**
   * POST /session (docs/contract.md#idempotency). With an idempotency key, a retry returns the first response and creates no second
   * session. An empty key counts as absent. Throws a RangeError for an unknown option, because with a misspelt `idempotencyKey` a retry
   * would create a second session.
   */
  async createSession(
    body: {
      readonly referrer_tag: string;
      readonly user_agent?: string;
      readonly metadata?: Readonly<Record<string, string | number | boolean | null>>;
    },
    options?: { readonly idempotencyKey?: string | null },
  ): Promise<Result<SessionView>> {
    assertKnownNames('', options ?? {}, ['idempotencyKey']);
    const { operations } = this.#deps;
    const keyOption: unknown = options?.idempotencyKey ?? '';
    const idempotencyKey = typeof keyOption === 'string' && keyOption !== '' ? keyOption : null;
    const admission = this.#admit('create_session', operations.repeatCheckFor(idempotencyKey));
    if (!admission.ok) return toErrorResult(admission.error);
    if (typeof keyOption !== 'string') {
      return toErrorResult(operations.rejectAdmitted(admission, invalidRequest('Idempotency-Key').error).error);
    }
    const outcome = await operations.createSession(admission, pickKnownSessionMembers(body), idempotencyKey);
    if (!outcome.ok) return toErrorResult(outcome.error);
    return {
      ok: true,
      value: withIgnoredNames(outcome.value.session, ignoredMembers(admission, 'create_session', body)),
    };
  }

  /** POST /inputs (docs/contract.md#submitting-fields). */
  async submitInputs(body: {
    readonly sub_id: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }): Promise<Result<InputsView>> {
    const admission = this.#admit('submit_inputs');
    if (!admission.ok) return toErrorResult(admission.error);
    const outcome = await this.#deps.operations.submitInputs(admission, body);
    if (!outcome.ok) return toErrorResult(outcome.error);
    return { ok: true, value: withIgnoredNames(outcome.value, ignoredMembers(admission, 'submit_inputs', body)) };
  }

  /** GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). Each response counts as a view. */
  async getMarketplace(query: MarketplaceQuery): Promise<Result<MarketplaceView>> {
    const admission = this.#admit('get_marketplace');
    if (!admission.ok) return toErrorResult(admission.error);
    const request = toMarketplaceRequest(query, 'json');
    if (!request.ok) return toErrorResult(request.error);
    const outcome = await this.#deps.operations.getMarketplace(admission, request.value, true, null);
    if (!outcome.ok) return toErrorResult(outcome.error);
    const view = toMarketplaceView(outcome.value, clickUrlPrefix(this.#deps.urls.click));
    return { ok: true, value: withIgnoredNames(view, ignoredMembers(admission, 'get_marketplace', query)) };
  }

  /**
   * GET /marketplace with `format=iframe` or `format=js` (docs/contract.md#embed-code). Returns the HTML that shows the offers of this
   * session on a page. The widget loads its offers from the public listener at `urls.widget`. That request counts the view.
   */
  async getWidget(query: WidgetQuery): Promise<Result<WidgetEmbedView>> {
    const admission = this.#admit('get_marketplace');
    if (!admission.ok) return toErrorResult(admission.error);
    const { format } = (query ?? {}) as { readonly format?: unknown };
    const request = toMarketplaceRequest(query, typeof format === 'string' ? format : undefined);
    const outcome = request.ok ? this.#deps.operations.embedWidget(admission, request.value) : request;
    if (!outcome.ok) return toErrorResult(outcome.error);
    return { ok: true, value: withIgnoredNames(outcome.value, ignoredMembers(admission, 'get_marketplace', query)) };
  }

  /** GET /analytics (docs/contract.md#analytics). The granularity determines the type of the result. Default: `summary`. */
  async queryAnalytics(query: AnalyticsQuery): Promise<Result<SummaryView>>;
  async queryAnalytics(query: AnalyticsPageQuery<'daily'>): Promise<Result<DailyView>>;
  async queryAnalytics(query: AnalyticsPageQuery<'row'>): Promise<Result<RowsView>>;
  async queryAnalytics(query: AnalyticsQuery | AnalyticsPageQuery<'daily' | 'row'>): Promise<Result<AnalyticsView>> {
    const admission = this.#admit('query_analytics');
    if (!admission.ok) return toErrorResult(admission.error);
    const request = toAnalyticsRequest(query);
    if (!request.ok) return toErrorResult(request.error);
    const outcome = await this.#deps.operations.queryAnalytics(admission, request.value, null);
    if (!outcome.ok) return toErrorResult(outcome.error);
    return { ok: true, value: withIgnoredNames(outcome.value, ignoredMembers(admission, 'query_analytics', query)) };
  }

  #admit(operation: Operation, isRepeat?: (caller: Caller) => boolean) {
    if (this.#deps.isStopping()) return unavailable(bounds.retryAfterSeconds);
    return this.#deps.authenticator.admit(this.#authorization, this.#vertical, operation, isRepeat);
  }
}

export function toResult<Value>(outcome: Outcome<Value>): Result<Value> {
  return outcome.ok ? outcome : toErrorResult(outcome.error);
}

function toErrorResult(error: ApiError): { readonly ok: false; readonly error: PartnerApiError } {
  const { retryAfterSeconds } = error;
  return {
    ok: false,
    error: {
      status: errorTable[error.code].status,
      ...errorBody(error),
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    },
  };
}

/** Returns the names of unknown members of an argument; empty for live keys. */
function ignoredMembers({ caller }: Admission, operation: Operation, argument: object): readonly string[] {
  return caller.mode === 'live' ? [] : collectIgnoredNames(Object.keys(argument), knownRequestNames[operation]);
}

/** Copies the known members of a session request. Other members of a JavaScript object may have no JSON text. */
function pickKnownSessionMembers(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => (knownRequestNames.create_session as readonly string[]).includes(name) && value !== undefined,
    ),
  );
}

/** Checks the types of the arguments and converts their values to text, as in a query string. */
function toMarketplaceRequest(query: unknown, format: string | undefined): Outcome<MarketplaceRequest> {
  const { sub_id, max_offers, sort, explain } = (query ?? {}) as Record<keyof MarketplaceQuery, unknown>;
  if (typeof sub_id !== 'string') return invalidRequest('sub_id');
  if (max_offers !== undefined && typeof max_offers !== 'number') return invalidRequest('max_offers');
  if (!isOptionalString(sort)) return invalidRequest('sort');
  if (explain !== undefined && typeof explain !== 'boolean') return invalidRequest('explain');
  return succeeded({
    sub_id,
    format,
    max_offers: max_offers === undefined ? undefined : String(max_offers),
    sort,
    explain: explain === undefined ? undefined : String(explain),
  });
}

function toAnalyticsRequest(query: unknown): Outcome<AnalyticsRequest> {
  const parameters = (query ?? {}) as Record<keyof AnalyticsRequest, unknown>;
  const { referrer_tag, sub_id_list, date_from, date_to, granularity, limit, cursor } = parameters;
  if (!isOptionalString(referrer_tag)) return failedWith('INVALID_REFERRER_TAG');
  if (!isOptionalStringArray(sub_id_list)) return invalidRequest('sub_id_list');
  if (!isOptionalString(granularity)) return invalidRequest('granularity');
  if (!isOptionalString(date_to)) return invalidRequest('date_to');
  if (!isOptionalString(date_from)) return invalidRequest('date_from');
  if (limit !== undefined && typeof limit !== 'number') return invalidRequest('limit');
  if (!isOptionalString(cursor)) return invalidRequest('cursor');
  return succeeded({
    referrer_tag,
    sub_id_list: sub_id_list?.join(','),
    date_from,
    date_to,
    granularity,
    limit: limit === undefined ? undefined : String(limit),
    cursor,
  });
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isOptionalStringArray(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
}

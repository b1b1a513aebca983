import type { Admission, Authenticator } from '../auth/authenticator.ts';
import type { Caller, Operation } from '../auth/key-usage.ts';
import { bounds } from '../bounds.ts';
import { assertKnownNames } from '../domain/assert-options.ts';
import { errorTable } from '../domain/errors.ts';
import { invalidRequest, type Outcome, type Refusal, refusedWith, succeeded, unavailable } from '../domain/outcome.ts';
import { type ErrorBody, errorBody } from '../http/routes/replies.ts';
import type { SortOrder } from '../matching/matcher.ts';
import type { DailyView, RowsView, SummaryView } from '../operations/analytics-views.ts';
import type { ApiOperations } from '../operations/api-operations.ts';
import type { SessionView } from '../operations/create-session.ts';
import type { WidgetEmbedView } from '../operations/embed-widget.ts';
import type { MarketplaceRequest } from '../operations/get-marketplace.ts';
import { collectIgnoredNames, type IgnoredNames, knownRequestNames } from '../operations/ignored-names.ts';
import type { AnalyticsRequest, AnalyticsView } from '../operations/query-analytics.ts';
import type { MarketplaceView } from '../operations/show-offers.ts';
import type { InputsView } from '../operations/submit-inputs.ts';
import type { Vertical } from '../verticals/vertical.ts';

/** An error as the API answers it: the body's members and the status they came with. */
export interface ApiError extends ErrorBody {
  readonly status: number;
  /** Whole seconds to wait (429, 503). */
  readonly retry_after?: number;
}

/** What an operation comes to, in one union: look at `ok` first. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ApiError };

interface OffersQuery {
  readonly sub_id: string;
  readonly max_offers?: number;
  readonly sort?: SortOrder;
}

/** Parameters of GET /marketplace for a widget. */
export interface WidgetQuery extends OffersQuery {
  readonly format: 'iframe' | 'js';
}

/** Parameters of GET /marketplace; `format` is `json` here. */
export interface MarketplaceQuery extends OffersQuery {
  /** Whether to say why offers do not match; test keys only. */
  readonly explain?: boolean;
}

interface AnalyticsFilters {
  readonly referrer_tag?: string;
  readonly sub_id_list?: readonly string[];
  readonly date_from?: string;
  readonly date_to?: string;
}

/** Parameters of GET /analytics for a summary; dates are `YYYY-MM-DD`. */
export interface AnalyticsQuery extends AnalyticsFilters {
  readonly granularity?: 'summary';
}

/** Parameters of GET /analytics for a page of days or of sessions. */
export interface AnalyticsPageQuery<Granularity extends 'daily' | 'row'> extends AnalyticsFilters {
  readonly granularity: Granularity;
  /** 1 to 100, the default. */
  readonly limit?: number;
  /** The `next_cursor` of the page before, with the same filters. */
  readonly cursor?: string;
}

interface PartnerApiDeps {
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  /** Whether it is closed, or closing: then no operation is begun. */
  isStopping(): boolean;
}

/**
 * The door for the program that embeds the service: the four operations as async functions for one API key and vertical, with
 * the same checks in the same order as over HTTP, and the same limits. Programs without types call it too, so an argument of
 * the wrong type is a refusal (INVALID_REQUEST with its `param`) and never an exception.
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
   * POST /session (docs/contract.md#idempotency). The key makes a retry safe: it gets the first answer and creates nothing. An empty key
   * is no key, like an empty header. An option of another name is a RangeError: a key misspelt would make no retry safe.
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
    const given: unknown = options?.idempotencyKey ?? '';
    const idempotencyKey = typeof given === 'string' && given !== '' ? given : null;
    const admission = this.#admit('create_session', operations.repeatCheckFor(idempotencyKey));
    if (!admission.ok) return toErrorResult(admission.refusal);
    if (typeof given !== 'string') {
      return toErrorResult(operations.refuseAdmitted(admission, invalidRequest('Idempotency-Key').refusal).refusal);
    }
    const outcome = await operations.createSession(admission, pickKnownSessionMembers(body), idempotencyKey);
    if (!outcome.ok) return toErrorResult(outcome.refusal);
    return { ok: true, value: withIgnoredNames(admission, 'create_session', body, outcome.value.session) };
  }

  /** POST /inputs (docs/contract.md#submitting-fields). */
  async submitInputs(body: {
    readonly sub_id: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }): Promise<Result<InputsView>> {
    const admission = this.#admit('submit_inputs');
    if (!admission.ok) return toErrorResult(admission.refusal);
    const outcome = await this.#deps.operations.submitInputs(admission, body);
    if (!outcome.ok) return toErrorResult(outcome.refusal);
    return { ok: true, value: withIgnoredNames(admission, 'submit_inputs', body, outcome.value) };
  }

  /** GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). Each answer is a view. */
  async getMarketplace(query: MarketplaceQuery): Promise<Result<MarketplaceView>> {
    const admission = this.#admit('get_marketplace');
    if (!admission.ok) return toErrorResult(admission.refusal);
    const request = toMarketplaceRequest(query, 'json');
    if (!request.ok) return toErrorResult(request.refusal);
    const outcome = await this.#deps.operations.getMarketplace(admission, request.value, true, null);
    if (!outcome.ok) return toErrorResult(outcome.refusal);
    const value = JSON.parse(outcome.value) as MarketplaceView;
    return { ok: true, value: withIgnoredNames(admission, 'get_marketplace', query, value) };
  }

  /**
   * GET /marketplace with `format=iframe` or `format=js` (docs/contract.md#embed-code): what to put on the page that shows this session's
   * offers. The widget then asks the public listener, at `urls.widget`; the view is counted there.
   */
  async getWidget(query: WidgetQuery): Promise<Result<WidgetEmbedView>> {
    const admission = this.#admit('get_marketplace');
    if (!admission.ok) return toErrorResult(admission.refusal);
    const { format } = (query ?? {}) as { readonly format?: unknown };
    const request = toMarketplaceRequest(query, typeof format === 'string' ? format : undefined);
    const outcome = request.ok ? this.#deps.operations.embedWidget(admission, request.value) : request;
    if (!outcome.ok) return toErrorResult(outcome.refusal);
    return { ok: true, value: withIgnoredNames(admission, 'get_marketplace', query, outcome.value) };
  }

  /** GET /analytics (docs/contract.md#analytics). The granularity decides what comes back; the default is the summary. */
  async queryAnalytics(query: AnalyticsQuery): Promise<Result<SummaryView>>;
  async queryAnalytics(query: AnalyticsPageQuery<'daily'>): Promise<Result<DailyView>>;
  async queryAnalytics(query: AnalyticsPageQuery<'row'>): Promise<Result<RowsView>>;
  async queryAnalytics(query: AnalyticsQuery | AnalyticsPageQuery<'daily' | 'row'>): Promise<Result<AnalyticsView>> {
    const admission = this.#admit('query_analytics');
    if (!admission.ok) return toErrorResult(admission.refusal);
    const request = toAnalyticsRequest(query);
    if (!request.ok) return toErrorResult(request.refusal);
    const outcome = await this.#deps.operations.queryAnalytics(admission, request.value, null);
    if (!outcome.ok) return toErrorResult(outcome.refusal);
    return { ok: true, value: withIgnoredNames(admission, 'query_analytics', query, outcome.value) };
  }

  #admit(operation: Operation, isRepeat?: (caller: Caller) => boolean) {
    if (this.#deps.isStopping()) return unavailable(bounds.retryAfterSeconds);
    return this.#deps.authenticator.admit(this.#authorization, this.#vertical, operation, isRepeat);
  }
}

/** An operation's outcome as an embedding program gets it. */
export function toResult<Value>(outcome: Outcome<Value>): Result<Value> {
  return outcome.ok ? outcome : toErrorResult(outcome.refusal);
}

function toErrorResult(refusal: Refusal): { readonly ok: false; readonly error: ApiError } {
  const { retryAfterSeconds } = refusal;
  return {
    ok: false,
    error: {
      status: errorTable[refusal.code].status,
      ...errorBody(refusal),
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    },
  };
}

/** Adds `ignored` to the answer of a test key where the argument has unknown members. */
function withIgnoredNames<View extends IgnoredNames>(
  { caller }: Admission,
  operation: Operation,
  argument: object,
  view: View,
): View {
  if (caller.mode === 'live') return view;
  const ignored = collectIgnoredNames(Object.keys(argument), knownRequestNames[operation]);
  return ignored.length === 0 ? view : { ...view, ignored };
}

/** The members that mean something, if they are there: what else a JavaScript object may hold need not have a JSON text. */
function pickKnownSessionMembers(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => (knownRequestNames.create_session as readonly string[]).includes(name) && value !== undefined,
    ),
  );
}

/** Parameters as a query string would bring them; over HTTP they are text, so their types are judged only here. */
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
  if (!isOptionalString(referrer_tag)) return refusedWith('INVALID_REFERRER_TAG');
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
  return value === undefined || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
}

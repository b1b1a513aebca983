import type { AdmittedCaller, Authenticator } from '../auth/authenticator.ts';
import type { Caller, OperationName } from '../auth/key-usage.ts';
import { bounds } from '../bounds.ts';
import type { OfferUrls } from '../catalogs/offer-view.ts';
import type { PublicUrls } from '../config/config.ts';
import { assertKnownOptionNames } from '../domain/assert-options.ts';
import { errorTable, type RequestParamName } from '../domain/errors.ts';
import {
  type ApiError,
  createErrorBody,
  type ErrorBody,
  failureOutcomeWithCode,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../domain/outcome.ts';
import type { SortOrder, Vertical } from '../domain/vertical.ts';
import type {
  AnalyticsSummary,
  DailyAnalytics,
  SessionRowsResponse,
  TagsResponse,
} from '../operations/analytics-schemas.ts';
import type { ApiOperations } from '../operations/api-operations.ts';
import { createOfferUrls } from '../operations/click-url.ts';
import type { CreateSessionBody, SessionResponse } from '../operations/create-session.ts';
import type { WidgetEmbedResponse } from '../operations/embed-widget.ts';
import type { MarketplaceRequest } from '../operations/get-marketplace.ts';
import { createMarketplaceResponse, type MarketplaceResponse } from '../operations/get-marketplace.ts';
import {
  type IgnoredParameters,
  knownRequestParameters,
  listIgnoredNames,
  reportIgnoredParameters,
} from '../operations/ignored-names.ts';
import type { AnalyticsRequest, AnalyticsResponse } from '../operations/query-analytics.ts';
import type { InputsResponse } from '../operations/submit-inputs.ts';

/** An error of the API, with its HTTP status and the members of its JSON body. */
export interface PartnerApiError extends ErrorBody {
  readonly status: number;
  /** Seconds to wait before a retry; present for status 429 and 503. */
  readonly retry_after?: number;
}

/** The result of an operation: a value or an error. */
export type PartnerApiResult<Value> =
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
  /** Whether to explain why offers do not match (test keys only). */
  readonly explain?: boolean;
}

interface AnalyticsFilters {
  readonly referrer_tag?: string;
  readonly sub_id_list?: readonly string[];
  readonly date_from?: string;
  readonly date_to?: string;
}

/** Parameters of GET /analytics for a summary. `date_from` and `date_to` have the form `YYYY-MM-DD`. */
export interface AnalyticsQuery extends AnalyticsFilters {
  readonly granularity?: 'summary';
}

/** Parameters of GET /analytics for one page of a list, with one item per day (`daily`) or one item per session (`row`). */
export interface AnalyticsPageQuery<Granularity extends 'daily' | 'row'> extends AnalyticsFilters {
  readonly granularity: Granularity;
  /** Number of items on a page, from 1 to 100. Default: 100. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. All pages must be requested with the same filters. */
  readonly cursor?: string;
}

/** Parameters of GET /tags. */
export type TagsQuery = Pick<AnalyticsPageQuery<'row'>, 'limit' | 'cursor'>;

interface PartnerApiDeps {
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  readonly urls: Pick<PublicUrls, 'click' | 'cdn'>;
  /** Ports of the listeners; null without listeners. */
  readonly ports: object | null;
  /** Returns true if the service is closing or closed; operations are then rejected. */
  isStopping(): boolean;
}

/**
 * API of a service that runs inside another program: async functions for one API key and one vertical. Validation and rate limits are the
 * same as over HTTP. For a value of the wrong type, an operation returns an INVALID_REQUEST error and does not throw, because JavaScript
 * programs have no type checks.
 */
export class PartnerApi {
  readonly #deps: PartnerApiDeps;
  readonly #vertical: Vertical;
  readonly #authorization: string;
  readonly #offerUrls: OfferUrls;

  constructor(deps: PartnerApiDeps, vertical: Vertical, apiKey: string) {
    this.#deps = deps;
    this.#vertical = vertical;
    this.#authorization = `Bearer ${apiKey}`;
    this.#offerUrls = createOfferUrls(deps.urls);
  }

  /**
   * POST /session (docs/contract.md#idempotency). With an idempotency key, a retry returns the first response and creates no second
   * session. An empty idempotency key counts as absent. Throws a RangeError for an unknown option: if a misspelt `idempotencyKey` were
   * ignored, a retry would create a second session.
   */
  async createSession(
    body: CreateSessionBody,
    options?: { readonly idempotencyKey?: string | null },
  ): Promise<PartnerApiResult<SessionResponse>> {
    assertKnownOptionNames('', options ?? {}, ['idempotencyKey']);
    const { operations } = this.#deps;
    const keyOption: unknown = options?.idempotencyKey ?? '';
    const idempotencyKey = typeof keyOption === 'string' && keyOption !== '' ? keyOption : null;
    const admission = this.#admitCaller('create_session', operations.repeatCheckFor(idempotencyKey));
    if (!admission.ok) return toErrorResult(admission.error);
    if (typeof keyOption !== 'string') {
      return toErrorResult(operations.rejectAdmitted(admission, invalidRequest('Idempotency-Key').error).error);
    }
    const outcome = await operations.createSession(admission, pickKnownSessionMembers(body), idempotencyKey);
    if (!outcome.ok) return toErrorResult(outcome.error);
    const ignored = listIgnoredNames(admission.caller, 'create_session', Object.keys(body));
    return { ok: true, value: reportIgnoredParameters(outcome.value.session, ignored) };
  }

  /** POST /inputs (docs/contract.md#submitting-fields). */
  submitInputs(body: {
    readonly sub_id: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }): Promise<PartnerApiResult<InputsResponse>> {
    return this.#run('submit_inputs', body, (admission) => this.#deps.operations.submitInputs(admission, body));
  }

  /** GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). Each response counts as a marketplace view. */
  getMarketplace(query: MarketplaceQuery): Promise<PartnerApiResult<MarketplaceResponse>> {
    const { operations } = this.#deps;
    return this.#run('get_marketplace', query, async (admission) => {
      const { format = 'json' } = (query ?? {}) as { readonly format?: unknown };
      if (format !== 'json') return invalidRequest('format', 'must be json or absent; getWidget returns embed code');
      const request = toMarketplaceRequest(query, format);
      if (!request.ok) return request;
      const outcome = await operations.getMarketplace(admission, request.value, true, null);
      return outcome.ok ? successOutcome(createMarketplaceResponse(outcome.value, this.#offerUrls)) : outcome;
    });
  }

  /**
   * GET /marketplace with `format=iframe` or `format=js` (docs/contract.md#embed-code). Returns the HTML that shows the offers of a session
   * on a page. A view is recorded only when the embedded widget requests its offers from the public listener at `urls.widget`. Rejects with
   * an Error if the marketplace has no listener.
   */
  async getWidget(query: WidgetQuery): Promise<PartnerApiResult<WidgetEmbedResponse>> {
    if (this.#deps.ports === null)
      throw new Error('getWidget needs the option listen, because widgets load from the public listener');
    return this.#run('get_marketplace', query, (admission) => {
      const { format } = (query ?? {}) as { readonly format?: unknown };
      const request = toMarketplaceRequest(query, typeof format === 'string' ? format : undefined);
      return request.ok ? this.#deps.operations.embedWidget(admission, request.value) : request;
    });
  }

  /** GET /analytics (docs/contract.md#analytics). The result type depends on `query.granularity`, which is `summary` by default. */
  queryAnalytics(query: AnalyticsQuery): Promise<PartnerApiResult<AnalyticsSummary>>;
  queryAnalytics(query: AnalyticsPageQuery<'daily'>): Promise<PartnerApiResult<DailyAnalytics>>;
  queryAnalytics(query: AnalyticsPageQuery<'row'>): Promise<PartnerApiResult<SessionRowsResponse>>;
  queryAnalytics(
    query: AnalyticsQuery | AnalyticsPageQuery<'daily' | 'row'>,
  ): Promise<PartnerApiResult<AnalyticsResponse>> {
    return this.#run('query_analytics', query, (admission) => {
      const request = toAnalyticsRequest(query);
      return request.ok ? this.#deps.operations.queryAnalytics(admission, request.value, null) : request;
    });
  }

  /** GET /tags (docs/contract.md#tags). Returns one page of the referrer tags that have sessions, with their figures. */
  listTags(query: TagsQuery = {}): Promise<PartnerApiResult<TagsResponse>> {
    return this.#run('list_tags', query, (admission) => {
      const request = toQueryText(query, { limit: 'number', cursor: 'string' });
      return request.ok ? this.#deps.operations.listTags(admission, request.value, null) : request;
    });
  }

  /** Checks the API key and rate limits, and runs an operation. The result lists ignored members of `argument`. */
  async #run<View extends object>(
    operation: OperationName,
    argument: object,
    run: (admission: AdmittedCaller) => Outcome<View> | Promise<Outcome<View>>,
  ): Promise<PartnerApiResult<View & IgnoredParameters>> {
    const admission = this.#admitCaller(operation);
    if (!admission.ok) return toErrorResult(admission.error);
    const outcome = await run(admission);
    if (!outcome.ok) return toErrorResult(outcome.error);
    const ignored = listIgnoredNames(admission.caller, operation, Object.keys(argument ?? {}));
    return { ok: true, value: reportIgnoredParameters(outcome.value, ignored) };
  }

  #admitCaller(operation: OperationName, isRepeat?: (caller: Caller) => boolean) {
    if (this.#deps.isStopping()) return serviceUnavailable(bounds.retryAfterSeconds);
    return this.#deps.authenticator.admitRequest(this.#authorization, this.#vertical, operation, isRepeat);
  }
}

export function toPartnerApiResult<Value>(outcome: Outcome<Value>): PartnerApiResult<Value> {
  return outcome.ok ? outcome : toErrorResult(outcome.error);
}

function toErrorResult(error: ApiError): { readonly ok: false; readonly error: PartnerApiError } {
  const { retryAfterSeconds } = error;
  return {
    ok: false,
    error: {
      status: errorTable[error.code].status,
      ...createErrorBody(error),
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    },
  };
}

/** Copies the known members of a session request. Unknown members are dropped, because their values may not be representable in JSON. */
function pickKnownSessionMembers(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) =>
        (knownRequestParameters.create_session as readonly string[]).includes(name) && value !== undefined,
    ),
  );
}

function toMarketplaceRequest(query: unknown, format: string | undefined): Outcome<MarketplaceRequest> {
  const subId: unknown = (query as Partial<MarketplaceQuery> | null | undefined)?.sub_id;
  if (typeof subId !== 'string') return invalidRequest('sub_id');
  const request = toQueryText(query, { sub_id: 'string', max_offers: 'number', sort: 'string', explain: 'boolean' });
  return request.ok ? successOutcome({ ...request.value, format }) : request;
}

function toAnalyticsRequest(query: unknown): Outcome<AnalyticsRequest> {
  const tag: unknown = (query as Partial<AnalyticsQuery> | null | undefined)?.referrer_tag;
  if (tag !== undefined && typeof tag !== 'string') return failureOutcomeWithCode('INVALID_REFERRER_TAG');
  return toQueryText(query, {
    referrer_tag: 'string',
    sub_id_list: 'strings',
    granularity: 'string',
    date_to: 'string',
    date_from: 'string',
    limit: 'number',
    cursor: 'string',
  });
}

/** Checks the types of the query members, and converts their values to text as in a query string. Skips absent members. */
function toQueryText<Name extends RequestParamName>(
  query: unknown,
  types: Readonly<Record<Name, 'string' | 'number' | 'boolean' | 'strings'>>,
): Outcome<Readonly<Record<Name, string | undefined>>> {
  const text: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(types) as Name[]) {
    const value: unknown = (query as Partial<Record<Name, unknown>> | null | undefined)?.[name];
    if (value === undefined) continue;
    const isTyped = types[name] === 'strings' ? isStringArray(value) : typeof value === types[name];
    if (!isTyped) return invalidRequest(name);
    text[name] = String(value);
  }
  return successOutcome(text as Record<Name, string | undefined>);
}

function isStringArray(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

import type { Authenticator } from '../auth/authenticator.ts';
import { bounds } from '../bounds.ts';
import { assertKnownOptionNames } from '../domain/assert-options.ts';
import { errorTable } from '../domain/errors.ts';
import {
  type ApiError,
  createErrorBody,
  type ErrorBody,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
} from '../domain/outcome.ts';
import type { Vertical } from '../domain/vertical.ts';
import type {
  AnalyticsSummary,
  DailyAnalytics,
  OfferAnalytics,
  SessionRowsResponse,
  TagsResponse,
} from '../operations/analytics-schemas.ts';
import {
  type ApiOperation,
  type ApiRequest,
  type InputOf,
  rejectAdmitted,
  reportIgnoredParameters,
  runOperation,
} from '../operations/api-operation.ts';
import type { ApiOperationDeps } from '../operations/api-operations.ts';
import { type CreateSessionBody, createSession, type SessionResponse } from '../operations/create-session.ts';
import type { WidgetEmbedResponse } from '../operations/embed-widget.ts';
import { closeExperiment } from '../operations/experiments/close-experiment.ts';
import { defineExperiment } from '../operations/experiments/define-experiment.ts';
import { deleteExperiment } from '../operations/experiments/delete-experiment.ts';
import type {
  ExperimentArmResponse,
  ExperimentResponse,
  ExperimentsResponse,
} from '../operations/experiments/experiment-schemas.ts';
import { getExperimentArm } from '../operations/experiments/get-experiment-arm.ts';
import {
  type ExperimentResultsResponse,
  getExperimentResults,
} from '../operations/experiments/get-experiment-results.ts';
import { type ExperimentUnitsResponse, listExperimentUnits } from '../operations/experiments/list-experiment-units.ts';
import { type ExperimentPlanResponse, planExperiment } from '../operations/experiments/plan-experiment.ts';
import { getExperiment, listExperiments } from '../operations/experiments/read-experiments.ts';
import { getMarketplace, type MarketplaceResponse } from '../operations/get-marketplace.ts';
import { listIgnoredNames } from '../operations/ignored-names.ts';
import { listTags } from '../operations/list-tags.ts';
import { type AnalyticsResponse, queryAnalytics } from '../operations/query-analytics.ts';
import type { ParameterTexts } from '../operations/request-members.ts';
import { type InputsResponse, submitInputs } from '../operations/submit-inputs.ts';

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

type OptionalMembers<Query, Names extends keyof Query> = Omit<Query, Names> & Partial<Pick<Query, Names>>;
type MarketplaceInput = OptionalMembers<InputOf<typeof getMarketplace>, 'max_offers' | 'sort' | 'explain'>;
type AnalyticsInput = InputOf<typeof queryAnalytics>;

/** Parameters of GET /marketplace for a widget. */
export interface WidgetQuery extends Omit<MarketplaceInput, 'format' | 'explain'> {
  readonly format: 'iframe' | 'js';
}

/** Parameters of GET /marketplace for a JSON response; `format` is always `json`. `explain` needs a test key. */
export type MarketplaceQuery = Omit<MarketplaceInput, 'format'>;

/** Parameters of GET /analytics for a summary. `date_from` and `date_to` have the form `YYYY-MM-DD`. */
export interface AnalyticsQuery extends Omit<AnalyticsInput, 'granularity' | 'order' | 'limit' | 'cursor'> {
  readonly granularity?: 'summary';
}

/** Parameters of GET /analytics for one page of a list, with one item per day (`daily`), per session (`row`) or per offer (`offer`). */
export interface AnalyticsPageQuery<Granularity extends 'daily' | 'row' | 'offer'>
  extends Omit<AnalyticsInput, 'granularity'> {
  readonly granularity: Granularity;
}

/** Parameters of GET /tags. */
export type TagsQuery = Partial<InputOf<typeof listTags>>;

/** Parameters of GET /experiments. */
export type ExperimentsQuery = Partial<InputOf<typeof listExperiments>>;

/** Name of an experiment, and members of the body of PUT /experiments/{name}. */
export type ExperimentInput = InputOf<typeof defineExperiment>;

/** Name of an experiment. */
export type ExperimentName = InputOf<typeof getExperiment>;

/** Name of an experiment, and parameters of GET /experiments/{name}/results. */
export type ExperimentResultsQuery = ExperimentName & Partial<InputOf<typeof getExperimentResults>>;

/** Name of an experiment, and parameters of GET /experiments/{name}/units. */
export type ExperimentUnitsQuery = ExperimentName & Partial<InputOf<typeof listExperimentUnits>>;

interface PartnerApiDeps {
  readonly authenticator: Authenticator;
  readonly operationDeps: ApiOperationDeps;
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

  constructor(deps: PartnerApiDeps, vertical: Vertical, apiKey: string) {
    this.#deps = deps;
    this.#vertical = vertical;
    this.#authorization = `Bearer ${apiKey}`;
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
    return this.#run(createSession, body, { idempotencyKey: options?.idempotencyKey ?? '' });
  }

  /** POST /inputs (docs/contract.md#submitting-fields). */
  submitInputs(body: InputOf<typeof submitInputs>): Promise<PartnerApiResult<InputsResponse>> {
    return this.#run(submitInputs, body);
  }

  /** GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). Each response counts as a marketplace view. */
  getMarketplace(query: MarketplaceQuery): Promise<PartnerApiResult<MarketplaceResponse>> {
    return this.#run(getMarketplace, query, {
      toTexts: ({ format = 'json' }) =>
        format === 'json'
          ? getMarketplace.parameterValidator.toTexts({ ...query, format })
          : invalidRequest('format', 'must be json or absent; getWidget returns embed code'),
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
    return this.#run(getMarketplace, query, {
      // An empty text is an invalid format.
      toTexts: ({ format }) =>
        getMarketplace.parameterValidator.toTexts({
          ...query,
          format: format === 'iframe' || format === 'js' ? format : '',
        }),
    });
  }

  /** GET /analytics (docs/contract.md#analytics). The result type depends on `query.granularity`, which is `summary` by default. */
  queryAnalytics(query: AnalyticsQuery): Promise<PartnerApiResult<AnalyticsSummary>>;
  queryAnalytics(query: AnalyticsPageQuery<'daily'>): Promise<PartnerApiResult<DailyAnalytics>>;
  queryAnalytics(query: AnalyticsPageQuery<'row'>): Promise<PartnerApiResult<SessionRowsResponse>>;
  queryAnalytics(query: AnalyticsPageQuery<'offer'>): Promise<PartnerApiResult<OfferAnalytics>>;
  queryAnalytics(
    query: AnalyticsQuery | AnalyticsPageQuery<'daily' | 'row' | 'offer'>,
  ): Promise<PartnerApiResult<AnalyticsResponse>> {
    return this.#run(queryAnalytics, query);
  }

  /** GET /tags (docs/contract.md#tags). Returns one page of the referrer tags that have sessions, with their figures. */
  listTags(query: TagsQuery = {}): Promise<PartnerApiResult<TagsResponse>> {
    return this.#run(listTags, query);
  }

  /** GET /experiments (docs/contract.md#experiments). Returns one page of the experiments that are not deleted. */
  listExperiments(query: ExperimentsQuery = {}): Promise<PartnerApiResult<ExperimentsResponse>> {
    return this.#run(listExperiments, query);
  }

  /** GET /experiments/{name} (docs/contract.md#experiments). */
  getExperiment(experiment: ExperimentName): Promise<PartnerApiResult<ExperimentResponse>> {
    return this.#run(getExperiment, experiment);
  }

  /** PUT /experiments/{name} (docs/contract.md#definition-of-an-experiment). Creates or changes an experiment. */
  defineExperiment(experiment: ExperimentInput): Promise<PartnerApiResult<ExperimentResponse>> {
    return this.#run(defineExperiment, experiment);
  }

  /** GET /experiments/{name}/results (docs/contract.md#results). Compares the arms of an experiment. */
  getExperimentResults(query: ExperimentResultsQuery): Promise<PartnerApiResult<ExperimentResultsResponse>> {
    return this.#run(getExperimentResults, query);
  }

  /** GET /experiments/{name}/units (docs/contract.md#units). Returns a page of the units of an experiment, without any id. */
  listExperimentUnits(query: ExperimentUnitsQuery): Promise<PartnerApiResult<ExperimentUnitsResponse>> {
    return this.#run(listExperimentUnits, query);
  }

  /** POST /experiments/{name}/plan (docs/contract.md#plan-of-an-experiment). Checks a definition, and estimates what the experiment can find. */
  planExperiment(plan: InputOf<typeof planExperiment>): Promise<PartnerApiResult<ExperimentPlanResponse>> {
    return this.#run(planExperiment, plan);
  }

  /** GET /experiments/{name}/arm (docs/contract.md#assignment-by-hash). Assigns a visitor to an arm of an experiment with `assignment: 'hash'`. */
  getExperimentArm(visitor: InputOf<typeof getExperimentArm>): Promise<PartnerApiResult<ExperimentArmResponse>> {
    return this.#run(getExperimentArm, visitor);
  }

  /** POST /experiments/{name}/close (docs/contract.md#closing-an-experiment). Stores the outcome and the results of this moment. */
  closeExperiment(closing: InputOf<typeof closeExperiment>): Promise<PartnerApiResult<ExperimentResponse>> {
    return this.#run(closeExperiment, closing);
  }

  /** DELETE /experiments/{name} (docs/contract.md#deleted-experiments). Hides an experiment from the list. */
  deleteExperiment(experiment: ExperimentName): Promise<PartnerApiResult<ExperimentResponse>> {
    return this.#run(deleteExperiment, experiment);
  }

  /**
   * Checks the API key and the rate limits, and runs an operation. The response lists ignored members of `argument`.
   *
   * @param options.idempotencyKey idempotency key; empty for none
   * @param options.toTexts converts the members of `argument` to the texts of the operation's parameters
   */
  async #run<Response extends object>(
    operation: ApiOperation,
    argument: unknown,
    {
      idempotencyKey: keyOption = '',
      toTexts = (members) => operation.parameterValidator.toTexts(members),
    }: {
      readonly idempotencyKey?: unknown;
      readonly toTexts?: (members: Readonly<Record<string, unknown>>) => Outcome<ParameterTexts>;
    } = {},
  ): Promise<PartnerApiResult<Response>> {
    const { authenticator, operationDeps } = this.#deps;
    if (this.#deps.isStopping()) return toErrorResult(serviceUnavailable(bounds.retryAfterSeconds).error);
    const deps = operationDeps as never;
    const idempotencyKey = typeof keyOption === 'string' && keyOption !== '' ? keyOption : null;
    const admission = authenticator.admitRequest(
      this.#authorization,
      this.#vertical,
      operation,
      idempotencyKey === null ? undefined : (caller) => operation.isRepeat!(deps, caller, idempotencyKey),
    );
    if (!admission.ok) return toErrorResult(admission.error);
    if (typeof keyOption !== 'string') {
      return toErrorResult(rejectAdmitted(admission, invalidRequest('Idempotency-Key')).error);
    }
    const texts = toTexts(Object(argument));
    if (!texts.ok) return toErrorResult(rejectAdmitted(admission, texts).error);
    const { caller, quotaReservation } = admission;
    const request: ApiRequest = {
      caller,
      quotaReservation,
      idempotencyKey,
      hasResponseBody: true,
      signal: null,
      actorKind: 'embedding_program',
    };
    const outcome = await runOperation(operation, deps, texts.value, argument, request);
    if (!outcome.ok) return toErrorResult(outcome.error);
    const response = (operation.createResponse?.(outcome.value, deps) ?? outcome.value) as Response;
    const ignored = listIgnoredNames(caller, operation, Object.keys(Object(argument)));
    return { ok: true, value: reportIgnoredParameters(response, ignored) };
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

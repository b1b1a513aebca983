import type { AdmittedCaller } from '../auth/authenticator.ts';
import type { Caller } from '../auth/key-usage.ts';
import type { CancelSignal } from '../domain/async.ts';
import { type ApiError, type Failure, failureOutcome } from '../domain/outcome.ts';
import { type CreateSessionDeps, createSession, isIdempotentRepeat } from './create-session.ts';
import { type EmbedWidgetDeps, embedWidget } from './embed-widget.ts';
import { type GetMarketplaceDeps, getMarketplace, type MarketplaceRequest } from './get-marketplace.ts';
import { type ListTagsDeps, listTags, type TagsRequest } from './list-tags.ts';
import { type AnalyticsRequest, type QueryAnalyticsDeps, queryAnalytics } from './query-analytics.ts';
import { type SubmitInputsDeps, submitInputs } from './submit-inputs.ts';

type ApiOperationsDeps = CreateSessionDeps &
  SubmitInputsDeps &
  GetMarketplaceDeps &
  EmbedWidgetDeps &
  QueryAnalyticsDeps &
  ListTagsDeps;

export type ApiOperations = ReturnType<typeof createApiOperations>;

/**
 * Creates the API operations for authenticated callers that are within their rate limits. The HTTP routes and the embedded API share these
 * operations. If a request creates no session, its reservation in the daily session limit is released (docs/contract.md#sessions-per-day).
 */
export function createApiOperations(deps: ApiOperationsDeps) {
  return {
    /** Returns the function with which `Authenticator.admitRequest` recognizes a repeated request; undefined if there is no Idempotency-Key. */
    repeatCheckFor: (idempotencyKey: string | null): ((caller: Caller) => boolean) | undefined =>
      idempotencyKey === null ? undefined : (caller) => isIdempotentRepeat(deps, caller, idempotencyKey),

    createSession: ({ caller, quotaReservation }: AdmittedCaller, body: unknown, idempotencyKey: string | null) =>
      createSession(deps, caller, caller.keyNumber, body, idempotencyKey, quotaReservation),

    submitInputs: ({ caller }: AdmittedCaller, body: unknown) => submitInputs(deps, caller, body),

    getMarketplace: (
      { caller }: AdmittedCaller,
      request: MarketplaceRequest,
      countsAsView: boolean,
      signal: CancelSignal | null,
    ) => getMarketplace(deps, caller, request, countsAsView, signal),

    embedWidget: ({ caller }: AdmittedCaller, request: MarketplaceRequest) => embedWidget(deps, caller, request),

    queryAnalytics: ({ caller }: AdmittedCaller, request: AnalyticsRequest, signal: CancelSignal | null) =>
      queryAnalytics(deps, caller, request, signal),

    listTags: ({ caller }: AdmittedCaller, request: TagsRequest, signal: CancelSignal | null) =>
      listTags(deps, caller, request, signal),

    /** Rejects an admitted request with `error`, and releases the request's reservation in the daily session limit of the API key. */
    rejectAdmitted: ({ quotaReservation }: AdmittedCaller, error: ApiError): Failure => {
      quotaReservation?.release();
      return failureOutcome(error);
    },
  };
}

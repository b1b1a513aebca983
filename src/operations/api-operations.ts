import type { Admission } from '../auth/authenticator.ts';
import type { Caller } from '../auth/key-usage.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { ApiError, Failure, Outcome } from '../domain/outcome.ts';
import { failed } from '../domain/outcome.ts';
import { type CreatedSession, type CreateSessionDeps, createSession, isIdempotentRepeat } from './create-session.ts';
import { type EmbedWidgetDeps, embedWidget, type WidgetEmbedView } from './embed-widget.ts';
import type { MarketplaceRequest } from './get-marketplace.ts';
import { type GetMarketplaceDeps, getMarketplace } from './get-marketplace.ts';
import {
  type AnalyticsRequest,
  type AnalyticsView,
  type QueryAnalyticsDeps,
  queryAnalytics,
} from './query-analytics.ts';
import type { OffersResult } from './show-offers.ts';
import { type InputsView, type SubmitInputsDeps, submitInputs } from './submit-inputs.ts';

type ApiOperationsDeps = CreateSessionDeps &
  SubmitInputsDeps &
  GetMarketplaceDeps &
  EmbedWidgetDeps &
  QueryAnalyticsDeps;

/**
 * The operations of the API for an authenticated caller that is within its rate limits. HTTP routes and the embedded API share this
 * class. If a request creates no session, its reservation in the daily session limit is released
 * (docs/contract.md#sessions-per-day).
 */
export class ApiOperations {
  readonly #deps: ApiOperationsDeps;

  constructor(deps: ApiOperationsDeps) {
    this.#deps = deps;
  }

  /** Returns the check for repeated requests that `Authenticator.admit` needs; undefined without an Idempotency-Key. */
  repeatCheckFor(idempotencyKey: string | null): ((caller: Caller) => boolean) | undefined {
    return idempotencyKey === null ? undefined : (caller) => isIdempotentRepeat(this.#deps, caller, idempotencyKey);
  }

  createSession(
    { caller, quotaReservation }: Admission,
    body: unknown,
    idempotencyKey: string | null,
  ): Promise<Outcome<CreatedSession>> {
    return createSession(this.#deps, caller, caller.keyNumber, body, idempotencyKey, quotaReservation);
  }

  submitInputs(admission: Admission, body: unknown): Promise<Outcome<InputsView>> {
    return submitInputs(this.#deps, admission.caller, body);
  }

  getMarketplace(
    admission: Admission,
    request: MarketplaceRequest,
    countsAsView: boolean,
    signal: CancelSignal | null,
  ): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
    return getMarketplace(this.#deps, admission.caller, request, countsAsView, signal);
  }

  embedWidget(admission: Admission, request: MarketplaceRequest): Outcome<WidgetEmbedView> {
    return embedWidget(this.#deps, admission.caller, request);
  }

  queryAnalytics(
    admission: Admission,
    request: AnalyticsRequest,
    signal: CancelSignal | null,
  ): Promise<Outcome<AnalyticsView>> {
    return queryAnalytics(this.#deps, admission.caller, request, signal);
  }

  /** Refuses an admitted request before any operation runs, and releases its reservation. */
  rejectAdmitted(admission: Admission, error: ApiError): Failure {
    admission.quotaReservation?.release();
    return failed(error);
  }
}

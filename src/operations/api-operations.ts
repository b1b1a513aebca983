import type { Admission } from '../auth/authenticator.ts';
import type { Caller } from '../auth/key-usage.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { Outcome, Refusal, Refused } from '../domain/outcome.ts';
import { refused } from '../domain/outcome.ts';
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
 * The operations of the API for a caller that the authenticator admitted, shared by the HTTP routes and the embedded API. A request that
 * creates no session releases the place that it reserved in the day's limit (docs/contract.md#sessions-per-day).
 */
export class ApiOperations {
  readonly #deps: ApiOperationsDeps;

  constructor(deps: ApiOperationsDeps) {
    this.#deps = deps;
  }

  /** The check that `Authenticator.admit` needs for a request with an Idempotency-Key. */
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

  /** Refuses a request after its admission, before an operation. */
  refuseAdmitted(admission: Admission, refusal: Refusal): Refused {
    admission.quotaReservation?.release();
    return refused(refusal);
  }
}

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
import { type InputsView, type SubmitInputsDeps, submitInputs } from './submit-inputs.ts';

type ApiOperationsDeps = CreateSessionDeps &
  SubmitInputsDeps &
  GetMarketplaceDeps &
  EmbedWidgetDeps &
  QueryAnalyticsDeps;

/**
 * The four operations of the contract for a caller the gatekeeper has admitted, whichever face it came through. What it
 * adds is the day's slot (docs/contract.md#sessions-per-day): reserved at the gate, kept by a new session, given back by everything else.
 */
export class ApiOperations {
  readonly #deps: ApiOperationsDeps;

  constructor(deps: ApiOperationsDeps) {
    this.#deps = deps;
  }

  /** For the gatekeeper; undefined where there is no Idempotency-Key. */
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

  /** The value is the JSON text of the envelope; `counts` says whether it is a view. At once where nothing is to be ranked. */
  getMarketplace(
    admission: Admission,
    request: MarketplaceRequest,
    counts: boolean,
    signal: CancelSignal | null,
  ): Outcome<string> | Promise<Outcome<string>> {
    return getMarketplace(this.#deps, admission.caller, request, counts, signal);
  }

  /** What a page embeds, for `format=iframe` and `format=js`. */
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

  /** The request was admitted, but there is nothing to operate on. */
  refuseAdmitted(admission: Admission, refusal: Refusal): Refused {
    admission.quotaReservation?.release();
    return refused(refusal);
  }
}

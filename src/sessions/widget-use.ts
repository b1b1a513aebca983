import { bounds } from '../bounds.ts';
import { DigestSet } from './digest-set.ts';

const requestsPerMs = bounds.widgetRequestsPerMinute / 60_000;

/** A record of events that the ledger has taken. */
export interface PendingWidgetReport {
  /** Where it lies in the ledger. */
  readonly position: number;
  /** Settles as `EventLog.append` does. */
  readonly durable: Promise<void>;
}

/**
 * What a live session remembers of its widgets, so that nothing is counted twice and nobody who holds a token can ask without
 * end (docs/contract.md#widget-limits): the loads that have had their view, the events recorded, and how often it was asked of late.
 */
export class WidgetUsage {
  readonly #viewedLoads = new DigestSet();
  readonly #claimedEvents = new DigestSet();
  /** The last record of events, as long as it may not be durable: what it tells is noted, and not yet safe. */
  lastReport: PendingWidgetReport | null = null;
  #remainingRequests: number = bounds.widgetRequestsPerMinute;
  #refilledAtMs = 0;

  /**
   * 0 for a request that is admitted, and taken off; or the whole seconds until the next one will be. A minute's requests may
   * come at once, and come back evenly.
   *
   * @param nowMs monotonic time
   */
  admitRequest(nowMs: number): number {
    const regained = Math.max(0, nowMs - this.#refilledAtMs) * requestsPerMs;
    this.#remainingRequests = Math.min(bounds.widgetRequestsPerMinute, this.#remainingRequests + regained);
    this.#refilledAtMs = nowMs;
    if (this.#remainingRequests < 1) return Math.max(1, Math.ceil((1 - this.#remainingRequests) / requestsPerMs / 1000));
    this.#remainingRequests--;
    return 0;
  }

  /** Whether a load, by its 8 bytes, is owed a view. One beyond the bound is shown offers without being counted. */
  shouldCountView(load: Uint8Array): boolean {
    return this.#viewedLoads.size < bounds.widgetLoadsPerSessionMax && !this.#viewedLoads.has(load);
  }

  /** A load has had its view. */
  markViewCounted(load: Uint8Array): void {
    if (this.shouldCountView(load)) this.#viewedLoads.add(load);
  }

  /** Whether an event, by the 8 bytes of its id's digest, is to be recorded; then it is noted. */
  claimEvent(digest: Uint8Array): boolean {
    if (this.#claimedEvents.size >= bounds.widgetEventsPerSessionMax || this.#claimedEvents.has(digest)) return false;
    this.#claimedEvents.add(digest);
    return true;
  }

  /** An event taken was not recorded after all. */
  releaseEvent(digest: Uint8Array): void {
    this.#claimedEvents.delete(digest);
  }
}

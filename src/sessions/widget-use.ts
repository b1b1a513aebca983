import { bounds } from '../bounds.ts';
import { DigestSet } from './digest-set.ts';

const perMs = bounds.widgetRequestsPerMinute / 60_000;

/** A record of events that the ledger has taken. */
export interface WidgetReport {
  /** Where it lies in the ledger. */
  readonly position: number;
  /** Settles as `EventLog.append` does. */
  readonly durable: Promise<void>;
}

/**
 * What a live session remembers of its widgets, so that nothing is counted twice and nobody who holds a token can ask without
 * end (docs/contract.md#widget-limits): the loads that have had their view, the events recorded, and how often it was asked of late.
 */
export class WidgetUse {
  readonly #loads = new DigestSet();
  readonly #events = new DigestSet();
  /** The last record of events, as long as it may not be durable: what it tells is noted, and not yet safe. */
  lastReport: WidgetReport | null = null;
  #requestsLeft: number = bounds.widgetRequestsPerMinute;
  #refilledMs = 0;

  /**
   * 0 for a request that is admitted, and taken off; or the whole seconds until the next one will be. A minute's requests may
   * come at once, and come back evenly.
   *
   * @param nowMs monotonic time
   */
  admit(nowMs: number): number {
    const regained = Math.max(0, nowMs - this.#refilledMs) * perMs;
    this.#requestsLeft = Math.min(bounds.widgetRequestsPerMinute, this.#requestsLeft + regained);
    this.#refilledMs = nowMs;
    if (this.#requestsLeft < 1) return Math.max(1, Math.ceil((1 - this.#requestsLeft) / perMs / 1000));
    this.#requestsLeft--;
    return 0;
  }

  /** Whether a load, by its 8 bytes, is owed a view. One beyond the bound is shown offers without being counted. */
  isOwedView(load: Uint8Array): boolean {
    return this.#loads.size < bounds.widgetLoadsMax && !this.#loads.has(load);
  }

  /** A load has had its view. */
  noteLoad(load: Uint8Array): void {
    if (this.isOwedView(load)) this.#loads.add(load);
  }

  /** Whether an event, by the 8 bytes of its id's digest, is to be recorded; then it is noted. */
  takeEvent(digest: Uint8Array): boolean {
    if (this.#events.size >= bounds.widgetEventsMax || this.#events.has(digest)) return false;
    this.#events.add(digest);
    return true;
  }

  /** An event taken was not recorded after all. */
  giveBackEvent(digest: Uint8Array): void {
    this.#events.delete(digest);
  }
}

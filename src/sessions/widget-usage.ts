import { bounds } from '../bounds.ts';

const widgetDigestBytes = 8;

/**
 * A small set of 8-byte digests, each kept as two integers of one plain list: sixteen bytes an item, where a Set of texts takes
 * four times as much, and millions of sessions may have one. Looking for one walks the list.
 */
export class DigestSet {
  readonly #halves: number[] = [];

  get size(): number {
    return this.#halves.length / 2;
  }

  has(item: Uint8Array): boolean {
    return this.#indexOf(item) >= 0;
  }

  /** Puts one in that is not here yet. */
  add(item: Uint8Array): void {
    this.#halves.push(readInt32(item, 0), readInt32(item, 4));
  }

  delete(item: Uint8Array): void {
    const place = this.#indexOf(item);
    if (place >= 0) this.#halves.splice(place, 2);
  }

  /** Place of an item's first half, or -1. */
  #indexOf(item: Uint8Array): number {
    if (item.byteLength !== widgetDigestBytes) throw new RangeError(`a digest has ${widgetDigestBytes} bytes`);
    const first = readInt32(item, 0);
    const second = readInt32(item, 4);
    const halves = this.#halves;
    for (let at = 0; at < halves.length; at += 2) {
      if (halves[at] === first && halves[at + 1] === second) return at;
    }
    return -1;
  }
}

/** Four bytes as a signed integer, which takes no room outside the list. */
function readInt32(item: Uint8Array, at: number): number {
  return item[at]! | (item[at + 1]! << 8) | (item[at + 2]! << 16) | (item[at + 3]! << 24);
}

const requestsPerMs = bounds.widgetRequestsPerMinute / 60_000;

/** A record of events that the ledger has taken. */
interface PendingWidgetReport {
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
    if (this.#remainingRequests < 1)
      return Math.max(1, Math.ceil((1 - this.#remainingRequests) / requestsPerMs / 1000));
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

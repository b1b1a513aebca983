import { bounds } from '../bounds.ts';

const widgetDigestBytes = 8;

/**
 * A small set of 8-byte digests, each stored as two integers in an array. A digest takes 16 bytes, a quarter of its size in a Set of
 * strings. Millions of sessions may have such a set. Lookups are linear.
 */
export class DigestSet {
  readonly #halves: number[] = [];

  get size(): number {
    return this.#halves.length / 2;
  }

  has(item: Uint8Array): boolean {
    return this.#indexOf(item) >= 0;
  }

  /** Adds a digest that the set does not contain. */
  add(item: Uint8Array): void {
    this.#halves.push(readInt32(item, 0), readInt32(item, 4));
  }

  delete(item: Uint8Array): void {
    const index = this.#indexOf(item);
    if (index >= 0) this.#halves.splice(index, 2);
  }

  /** Returns the index of the first half of a digest, or -1. */
  #indexOf(item: Uint8Array): number {
    if (item.byteLength !== widgetDigestBytes) throw new RangeError(`digest must have ${widgetDigestBytes} bytes`);
    const first = readInt32(item, 0);
    const second = readInt32(item, 4);
    const halves = this.#halves;
    for (let i = 0; i < halves.length; i += 2) {
      if (halves[i] === first && halves[i + 1] === second) return i;
    }
    return -1;
  }
}

/** Reads a signed 32-bit integer, which the engine stores directly in the array. */
function readInt32(item: Uint8Array, offset: number): number {
  return item[offset]! | (item[offset + 1]! << 8) | (item[offset + 2]! << 16) | (item[offset + 3]! << 24);
}

const requestsPerMs = bounds.widgetRequestsPerMinute / 60_000;

/** A record of widget events that the ledger has accepted but that may not be durable yet. */
interface PendingWidgetReport {
  /** Position in the ledger. */
  readonly position: number;
  /** Promise of the append of the record, see `EventLog.append`. */
  readonly durable: Promise<void>;
}

/**
 * Widget usage of a live session (docs/contract.md#widget-limits): the widget loads with a counted view, the recorded events, and a token
 * bucket that limits requests.
 */
export class WidgetUsage {
  readonly #viewedLoads = new DigestSet();
  readonly #claimedEvents = new DigestSet();
  /** Last record of events, as long as it may not be durable; otherwise null. */
  lastReport: PendingWidgetReport | null = null;
  #remainingRequests: number = bounds.widgetRequestsPerMinute;
  #refilledAtMs = 0;

  /**
   * Charges a request to the token bucket. Returns 0 if the request is admitted, otherwise the seconds, rounded up, until a request can be.
   *
   * @param nowMs monotonic time in milliseconds
   */
  admitRequest(nowMs: number): number {
    const refilled = Math.max(0, nowMs - this.#refilledAtMs) * requestsPerMs;
    this.#remainingRequests = Math.min(bounds.widgetRequestsPerMinute, this.#remainingRequests + refilled);
    this.#refilledAtMs = nowMs;
    if (this.#remainingRequests < 1)
      return Math.max(1, Math.ceil((1 - this.#remainingRequests) / requestsPerMs / 1000));
    this.#remainingRequests--;
    return 0;
  }

  /** Whether to count a view of this widget load (8 bytes). Loads beyond the limit show offers, but no view is counted. */
  shouldCountView(load: Uint8Array): boolean {
    return this.#viewedLoads.size < bounds.widgetLoadsPerSessionMax && !this.#viewedLoads.has(load);
  }

  markViewCounted(load: Uint8Array): void {
    if (this.shouldCountView(load)) this.#viewedLoads.add(load);
  }

  /** Claims an event by the 8-byte digest of its id. Returns false if the event was claimed before or the limit is reached. */
  claimEvent(digest: Uint8Array): boolean {
    if (this.#claimedEvents.size >= bounds.widgetEventsPerSessionMax || this.#claimedEvents.has(digest)) return false;
    this.#claimedEvents.add(digest);
    return true;
  }

  /** Releases a claimed event that was not recorded. */
  releaseEvent(digest: Uint8Array): void {
    this.#claimedEvents.delete(digest);
  }
}

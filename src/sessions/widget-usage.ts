import { bounds } from '../bounds.ts';

const widgetDigestBytes = 8;

/**
 * A small set of 8-byte digests, each stored as two integers in an array. It takes 16 bytes per item, a quarter of a Set of strings,
 * and millions of sessions may have one. Lookups are linear.
 */
export class DigestSet {
  readonly #halves: number[] = [];

  get size(): number {
    return this.#halves.length / 2;
  }

  has(item: Uint8Array): boolean {
    return this.#indexOf(item) >= 0;
  }

  /** Adds an item that the set does not contain. */
  add(item: Uint8Array): void {
    this.#halves.push(readInt32(item, 0), readInt32(item, 4));
  }

  delete(item: Uint8Array): void {
    const index = this.#indexOf(item);
    if (index >= 0) this.#halves.splice(index, 2);
  }

  /** Returns the index of an item's first half, or -1. */
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

/** Returns a signed integer, which the engine stores in the array itself. */
function readInt32(item: Uint8Array, offset: number): number {
  return item[offset]! | (item[offset + 1]! << 8) | (item[offset + 2]! << 16) | (item[offset + 3]! << 24);
}

const requestsPerMs = bounds.widgetRequestsPerMinute / 60_000;

/** A record of widget events that the ledger has accepted. */
interface PendingWidgetReport {
  /** Position in the ledger. */
  readonly position: number;
  /** Settles as `EventLog.append` does. */
  readonly durable: Promise<void>;
}

/**
 * Widget usage of a live session (docs/contract.md#widget-limits): the loads with a counted view, the recorded events, and a token
 * bucket that limits requests.
 */
export class WidgetUsage {
  readonly #viewedLoads = new DigestSet();
  readonly #claimedEvents = new DigestSet();
  /** The last record of events, while it may not be durable. */
  lastReport: PendingWidgetReport | null = null;
  #remainingRequests: number = bounds.widgetRequestsPerMinute;
  #refilledAtMs = 0;

  /**
   * Charges a request to the token bucket. Returns 0 if it is admitted, otherwise the whole seconds until the next one is.
   *
   * @param nowMs Monotonic time.
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

  /** Whether a view of this load (8 bytes) is to be counted. Loads beyond the limit show offers without a counted view. */
  shouldCountView(load: Uint8Array): boolean {
    return this.#viewedLoads.size < bounds.widgetLoadsPerSessionMax && !this.#viewedLoads.has(load);
  }

  markViewCounted(load: Uint8Array): void {
    if (this.shouldCountView(load)) this.#viewedLoads.add(load);
  }

  /** Claims an event by the 8-byte digest of its id. Returns false if it was claimed before or the limit is reached. */
  claimEvent(digest: Uint8Array): boolean {
    if (this.#claimedEvents.size >= bounds.widgetEventsPerSessionMax || this.#claimedEvents.has(digest)) return false;
    this.#claimedEvents.add(digest);
    return true;
  }

  /** Releases an event that was not recorded. */
  releaseEvent(digest: Uint8Array): void {
    this.#claimedEvents.delete(digest);
  }
}

import { bounds } from '../bounds.ts';

const widgetDigestBytes = 8;

/**
 * A small set of 8-byte digests, stored as pairs of integers in an array. A digest uses 16 bytes; in a Set of strings, a digest would use
 * 64. Lookups are linear.
 */
class EventDigestSet {
  readonly #halves: number[] = [];

  get size(): number {
    return this.#halves.length / 2;
  }

  has(item: Uint8Array): boolean {
    return this.#findDigestIndex(item) >= 0;
  }

  add(item: Uint8Array): void {
    this.#halves.push(readInt32(item, 0), readInt32(item, 4));
  }

  /** The digests as two integers each. */
  get halves(): readonly number[] {
    return this.#halves;
  }

  restore(halves: Iterable<number>): void {
    for (const half of halves) this.#halves.push(half);
  }

  delete(item: Uint8Array): void {
    const index = this.#findDigestIndex(item);
    if (index >= 0) this.#halves.splice(index, 2);
  }

  /** Returns the array index of the first half of a digest, or -1 if the set does not contain the digest. */
  #findDigestIndex(item: Uint8Array): number {
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

/** Reads four bytes as a signed 32-bit integer, which the JavaScript engine can store in an array without allocating an object. */
function readInt32(item: Uint8Array, offset: number): number {
  return item[offset]! | (item[offset + 1]! << 8) | (item[offset + 2]! << 16) | (item[offset + 3]! << 24);
}

const requestsPerMs = bounds.widgetRequestsPerMinute / 60_000;

/** A ledger record of widget events that may not be durable yet. */
interface PendingWidgetReport {
  readonly position: number;
  /** Promise that resolves when the record is durable, see `EventLog.append`. */
  readonly durable: Promise<void>;
}

/** Widget usage of a live session (docs/contract.md#widget-limits): counted widget loads, recorded events, and the request limit. */
export class WidgetUsage {
  readonly #viewedLoads = new EventDigestSet();
  readonly #claimedEvents = new EventDigestSet();
  /** Last ledger record with widget events; null if there is no such record, or if the last record is durable. */
  lastReport: PendingWidgetReport | null = null;
  readonly #onChange: () => void;
  #remainingRequests: number = bounds.widgetRequestsPerMinute;
  #refilledAtMs = 0;

  /** @param onChange called for each change that a restart must restore */
  constructor(onChange = () => {}) {
    this.#onChange = onChange;
  }

  /** Digests of the counted widget loads and of the recorded events, as two integers each. */
  get digests(): { readonly loads: readonly number[]; readonly events: readonly number[] } {
    return { loads: this.#viewedLoads.halves, events: this.#claimedEvents.halves };
  }

  restoreDigests(loads: Iterable<number>, events: Iterable<number>): void {
    this.#viewedLoads.restore(loads);
    this.#claimedEvents.restore(events);
  }

  /**
   * Counts a request against the request limit of the session, which is a token bucket. Returns 0 if the request is admitted, otherwise the
   * number of seconds, rounded up, until the next request is admitted.
   *
   * @param nowMs monotonic time in milliseconds
   */
  checkRequestLimit(nowMs: number): number {
    const refilled = Math.max(0, nowMs - this.#refilledAtMs) * requestsPerMs;
    this.#remainingRequests = Math.min(bounds.widgetRequestsPerMinute, this.#remainingRequests + refilled);
    this.#refilledAtMs = nowMs;
    if (this.#remainingRequests < 1)
      return Math.max(1, Math.ceil((1 - this.#remainingRequests) / requestsPerMs / 1000));
    this.#remainingRequests--;
    return 0;
  }

  /**
   * Returns whether to count a view for the widget load with this 8-byte ID. Returns false if a view of the widget load was already
   * counted, or if the session has reached its limit of widget loads.
   */
  shouldCountView(load: Uint8Array): boolean {
    return this.#viewedLoads.size < bounds.widgetLoadsPerSessionMax && !this.#viewedLoads.has(load);
  }

  markViewCounted(load: Uint8Array): void {
    if (!this.shouldCountView(load)) return;
    this.#viewedLoads.add(load);
    this.#onChange();
  }

  /**
   * Marks a widget event as used, by the 8-byte digest of its ID. Returns false if the event was already used, or if the session has
   * reached its event limit.
   */
  tryRememberEvent(digest: Uint8Array): boolean {
    if (this.#claimedEvents.size >= bounds.widgetEventsPerSessionMax || this.#claimedEvents.has(digest)) return false;
    this.#claimedEvents.add(digest);
    this.#onChange();
    return true;
  }

  /** Marks a widget event as unused because the event was not recorded, so that the event can be submitted again. */
  forgetEvent(digest: Uint8Array): void {
    this.#claimedEvents.delete(digest);
    this.#onChange();
  }
}

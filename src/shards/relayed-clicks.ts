import { bounds } from '../bounds.ts';

/**
 * A click that one shard has redirected, because the shard of the account did not answer in time. The shard of the account decides and records
 * it.
 */
export type RelayedClick = readonly [
  clickedMs: number,
  /** The 32 bytes of a sub_id, copied. */
  sub: Uint8Array,
  catalogVersion: string,
  offerId: string,
  lenderName: string,
  /** Revenue of the click in micro-dollars if it books revenue. */
  valueMicros: number,
  /** Payout of the offer in micro-dollars; null in a vertical without flat payouts. */
  payoutMicros: number | null,
];

const subBytes = 32;

/** Returns the items of a frame as a relayed click; null if an item has the wrong type. */
export function parseRelayedClick(items: readonly unknown[]): RelayedClick | null {
  const [clickedMs, sub, catalogVersion, offerId, lenderName, valueMicros, payoutMicros] = items;
  const isValid =
    typeof clickedMs === 'number' &&
    sub instanceof Uint8Array &&
    sub.length === subBytes &&
    typeof catalogVersion === 'string' &&
    typeof offerId === 'string' &&
    typeof lenderName === 'string' &&
    typeof valueMicros === 'number' &&
    (payoutMicros === null || typeof payoutMicros === 'number');
  return isValid
    ? [clickedMs, Uint8Array.from(sub), catalogVersion, offerId, lenderName, valueMicros, payoutMicros]
    : null;
}

/**
 * Relayed clicks in memory that another shard has not recorded yet, in the order of their redirects. A click is sent again after a lost
 * connection, so the other shard can get a click twice. The counting rules count a repeated click once.
 */
export class RelayedClicks {
  readonly #countMax: number;
  /** Sends a click over the current connection. */
  readonly #send: (id: number, click: RelayedClick) => void;
  readonly #clicks = new Map<number, RelayedClick>();
  /** Ids of clicks to send, oldest first, from `#nextUnsent`. */
  #unsent: number[] = [];
  #nextUnsent = 0;
  #sentCount = 0;
  #isConnected = false;
  #lastId = 0;
  #onWaitEnd: () => void = () => {};

  constructor(countMax: number, send: (id: number, click: RelayedClick) => void) {
    this.#countMax = countMax;
    this.#send = send;
  }

  get size(): number {
    return this.#clicks.size;
  }

  /** Adds a click. Returns false if there are too many. */
  add(click: RelayedClick): boolean {
    if (this.#clicks.size >= this.#countMax) return false;
    this.#lastId = (this.#lastId + 1) >>> 0;
    this.#clicks.set(this.#lastId, click);
    this.#unsent.push(this.#lastId);
    this.#sendNext();
    return true;
  }

  /** Deletes a click that the other shard has recorded. */
  remove(id: number): void {
    if (!this.#clicks.delete(id)) return;
    this.#sentCount -= 1;
    this.#sendNext();
    if (this.#clicks.size === 0) this.#onWaitEnd();
  }

  /** Sends all clicks again after a new connection, or waits for a connection. */
  setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#unsent = [...this.#clicks.keys()];
    this.#nextUnsent = 0;
    this.#sentCount = 0;
    if (isConnected) this.#sendNext();
    else this.#onWaitEnd();
  }

  /** Waits until the other shard has recorded all clicks, but at most `graceMs` milliseconds. Does not wait without a connection. */
  async waitUntilTaken(graceMs: number): Promise<void> {
    if (this.#clicks.size === 0 || !this.#isConnected) return;
    const end = Promise.withResolvers<void>();
    this.#onWaitEnd = end.resolve;
    const timer = setTimeout(end.resolve, graceMs);
    await end.promise;
    clearTimeout(timer);
  }

  #sendNext(): void {
    while (
      this.#isConnected &&
      this.#sentCount < bounds.relayedClicksSentMax &&
      this.#nextUnsent < this.#unsent.length
    ) {
      const id = this.#unsent[this.#nextUnsent]!;
      this.#nextUnsent += 1;
      this.#sentCount += 1;
      this.#send(id, this.#clicks.get(id)!);
    }
    if (this.#nextUnsent < this.#unsent.length) return;
    this.#unsent = [];
    this.#nextUnsent = 0;
  }
}

/**
 * Something that has until `dueMs` (monotonic milliseconds) and is told when it is late. The queue sets everything but
 * `onDeadline`; it begins as {@link notQueued}.
 */
export interface Deadlined {
  dueMs: number;
  /** Neighbours in the queue, itself a ring; null outside it. */
  earlier: Deadlined | null;
  later: Deadlined | null;
  onDeadline(): void;
}

/** What an entry holds before it is first added. */
export const notQueued = { dueMs: 0, earlier: null, later: null } as const;

/**
 * Entries that all have the same time to finish, so that the order of arrival is the order of expiry and one timer serves
 * them all. They are linked to each other rather than kept in a set: every request that waits comes and goes here.
 */
export class DeadlineQueue {
  /** Where the ring begins and ends: its later neighbour is the first to expire. */
  private readonly end: Deadlined = { dueMs: Number.POSITIVE_INFINITY, earlier: null, later: null, onDeadline() {} };
  private readonly limitMs: number;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
    this.end.earlier = this.end;
    this.end.later = this.end;
  }

  get isEmpty(): boolean {
    return this.end.later === this.end;
  }

  /** Starts an entry's time, anew when it is already here. `nowMs` never decreases from call to call. */
  add(entry: Deadlined, nowMs: number): void {
    this.remove(entry);
    const { end } = this;
    const last = end.earlier as Deadlined;
    entry.dueMs = nowMs + this.limitMs;
    entry.earlier = last;
    entry.later = end;
    last.later = entry;
    end.earlier = entry;
  }

  /** Does nothing to an entry that is not here. */
  remove(entry: Deadlined): void {
    const { earlier, later } = entry;
    if (earlier === null || later === null) return;
    earlier.later = later;
    later.earlier = earlier;
    entry.earlier = null;
    entry.later = null;
  }

  /** Removes the entries that are late at `nowMs`, and tells each. */
  expire(nowMs: number): void {
    for (let first = this.end.later as Deadlined; first.dueMs <= nowMs; first = this.end.later as Deadlined) {
      this.remove(first);
      first.onDeadline();
    }
  }
}

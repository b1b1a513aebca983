/**
 * Something that has until `dueMs` (monotonic milliseconds) and is told when it is late. The queue sets everything but
 * `onDeadline`; it begins as {@link unqueuedEntry}.
 */
export interface DeadlineEntry {
  dueMs: number;
  /** Neighbours in the queue, itself a ring; null outside it. */
  previous: DeadlineEntry | null;
  next: DeadlineEntry | null;
  onDeadline(): void;
}

/** What an entry holds before it is first added. */
export const unqueuedEntry = { dueMs: 0, previous: null, next: null } as const;

/**
 * Entries that all have the same time to finish, so that the order of arrival is the order of expiry and one timer serves
 * them all. They are linked to each other rather than kept in a set: every request that waits comes and goes here.
 */
export class DeadlineQueue {
  /** Where the ring begins and ends: its later neighbour is the first to expire. */
  private readonly sentinel: DeadlineEntry = {
    dueMs: Number.POSITIVE_INFINITY,
    previous: null,
    next: null,
    onDeadline() {},
  };
  private readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
    this.sentinel.previous = this.sentinel;
    this.sentinel.next = this.sentinel;
  }

  get isEmpty(): boolean {
    return this.sentinel.next === this.sentinel;
  }

  /** Starts an entry's time, anew when it is already here. `nowMs` never decreases from call to call. */
  add(entry: DeadlineEntry, nowMs: number): void {
    this.remove(entry);
    const { sentinel } = this;
    const last = sentinel.previous as DeadlineEntry;
    entry.dueMs = nowMs + this.timeoutMs;
    entry.previous = last;
    entry.next = sentinel;
    last.next = entry;
    sentinel.previous = entry;
  }

  /** Does nothing to an entry that is not here. */
  remove(entry: DeadlineEntry): void {
    const { previous, next } = entry;
    if (previous === null || next === null) return;
    previous.next = next;
    next.previous = previous;
    entry.previous = null;
    entry.next = null;
  }

  /** Removes the entries that are late at `nowMs`, and tells each. */
  expire(nowMs: number): void {
    for (
      let first = this.sentinel.next as DeadlineEntry;
      first.dueMs <= nowMs;
      first = this.sentinel.next as DeadlineEntry
    ) {
      this.remove(first);
      first.onDeadline();
    }
  }
}

/** An entry of a deadline queue. The queue sets all members except `onDeadline`. {@link unqueuedEntry} contains the initial values. */
export interface DeadlineEntry {
  /** Time when the entry expires, in monotonic milliseconds. */
  dueMs: number;
  /** Previous entry in the queue, which is a ring; null if the entry is not in the queue. */
  previous: DeadlineEntry | null;
  next: DeadlineEntry | null;
  onDeadline(): void;
}

export const unqueuedEntry = { dueMs: 0, previous: null, next: null } as const;

/**
 * A queue of entries with the same timeout. Entries expire in the order in which they were added, so the queue needs one timer only. The
 * queue is a linked list, because every waiting request is added and removed.
 */
export class DeadlineQueue {
  /** Start and end of the ring. The entry after the sentinel expires first. */
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

  /** Adds an entry, or restarts its timeout. `nowMs` must not decrease between calls. */
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

  /** Removes an entry. Does nothing if the entry is not in the queue. */
  remove(entry: DeadlineEntry): void {
    const { previous, next } = entry;
    if (previous === null || next === null) return;
    previous.next = next;
    next.previous = previous;
    entry.previous = null;
    entry.next = null;
  }

  /** Removes all entries that are due at `nowMs`, and calls `onDeadline` of each removed entry. */
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

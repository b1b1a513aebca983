/** Something that has until `dueMs` (monotonic milliseconds, set by the queue) and is told when it is late. */
export interface Deadlined {
  dueMs: number;
  onDeadline(): void;
}

/**
 * Entries that all have the same time to finish, so that the order of arrival is the order of expiry and one timer serves
 * them all: adding and removing is a set operation, and a check looks at nothing but the late ones and one more.
 */
export class DeadlineQueue {
  private readonly entries = new Set<Deadlined>();
  private readonly limitMs: number;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Starts an entry's time, anew when it is already here. `nowMs` never decreases from call to call. */
  add(entry: Deadlined, nowMs: number): void {
    this.entries.delete(entry);
    entry.dueMs = nowMs + this.limitMs;
    this.entries.add(entry);
  }

  remove(entry: Deadlined): void {
    this.entries.delete(entry);
  }

  /** Removes the entries that are late at `nowMs`, and tells each. */
  expire(nowMs: number): void {
    for (const entry of this.entries) {
      if (entry.dueMs > nowMs) return;
      this.entries.delete(entry);
      entry.onDeadline();
    }
  }
}

/** Undoes a start in reverse order: what was opened last is closed first. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];
  #closed: Promise<void> | null = null;

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything even when one closing fails, then throws the first failure. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

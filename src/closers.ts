/** Undoes a start in reverse order: what was opened last is closed first. */
export class CleanupStack {
  readonly #callbacks: (() => unknown)[] = [];
  #closePromise: Promise<void> | null = null;

  defer(close: () => unknown): void {
    this.#callbacks.push(close);
  }

  /** Closes everything even when one closing fails, then throws the first failure. Idempotent. */
  close(): Promise<void> {
    this.#closePromise ??= this.#runCallbacks();
    return this.#closePromise;
  }

  async #runCallbacks(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#callbacks.reverse()) {
      try {
        await close();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

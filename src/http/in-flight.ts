/** Counts the requests whose answers are not fully sent, and tells a drain when there are none. */
export class InFlightRequests {
  private current = 0;
  private waiters: (() => void)[] = [];

  get count(): number {
    return this.current;
  }

  increment(): void {
    this.current += 1;
  }

  decrement(): void {
    this.current -= 1;
    if (this.current > 0 || this.waiters.length === 0) return;
    for (const resolve of this.waiters) resolve();
    this.waiters = [];
  }

  /**
   * Resolves when nothing is in flight and the last answer has been handed to the system, or after `remainingMs`, with the number
   * of requests still unanswered. Connections that are still open bring new requests meanwhile; those are waited for too.
   */
  async waitUntilEmpty(graceMs: number): Promise<number> {
    const giveUp = Promise.withResolvers<void>();
    let patient = true;
    const timer = setTimeout(() => {
      patient = false;
      giveUp.resolve();
    }, graceMs);
    do {
      await Promise.race([this.whenEmpty(), giveUp.promise]);
      // An answer written in this turn leaves when the engine gets control back.
      await new Promise(setImmediate);
    } while (this.current > 0 && patient);
    clearTimeout(timer);
    return this.current;
  }

  private whenEmpty(): Promise<void> {
    if (this.current === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiters.push(resolve);
    });
  }
}

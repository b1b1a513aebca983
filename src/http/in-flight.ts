/** Counts the requests whose answers are not fully sent, and tells a drain when there are none. */
export class InFlight {
  private requests = 0;
  private waiting: (() => void)[] = [];

  get count(): number {
    return this.requests;
  }

  begin(): void {
    this.requests += 1;
  }

  end(): void {
    this.requests -= 1;
    if (this.requests > 0 || this.waiting.length === 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting = [];
  }

  /**
   * Resolves when nothing is in flight and the last answer has been handed to the system, or after `graceMs`, with the number
   * of requests still unanswered. Connections that are still open bring new requests meanwhile; those are waited for too.
   */
  async drained(graceMs: number): Promise<number> {
    const giveUp = Promise.withResolvers<void>();
    let patient = true;
    const timer = setTimeout(() => {
      patient = false;
      giveUp.resolve();
    }, graceMs);
    do {
      await Promise.race([this.none(), giveUp.promise]);
      // An answer written in this turn leaves when the engine gets control back.
      await new Promise(setImmediate);
    } while (this.requests > 0 && patient);
    clearTimeout(timer);
    return this.requests;
  }

  private none(): Promise<void> {
    if (this.requests === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }
}

import { bounds } from '../../bounds.ts';

/**
 * How long a drain goes on accepting: `delayMs`, and at least until the event loop has looked for connections once more. Those
 * that the system has established would be reset by closing the listening socket.
 */
export async function keepAcceptingConnections(delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  // The first ends this turn of the event loop, the second one that has looked at the sockets.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

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

/** An answer that its client has not taken yet. */
export interface UnsentReply {
  /** Closes the connection. */
  closeConnection(): void;
}

/**
 * The answers of a listener that wait for their clients to read, and a bound on what they hold together. Beyond it the connection
 * that has made no progress for the longest is closed.
 */
export class UnsentReplies {
  /** With the bytes each holds; the one that waits longest comes first. */
  private readonly bytesByReply = new Map<UnsentReply, number>();
  private bytes = 0;

  /** Adds an answer, or updates one that has made progress. It may be disconnected before this returns. */
  add(answer: UnsentReply, bodyBytes: number): void {
    this.remove(answer);
    const bytes = bodyBytes + bounds.engineBufferBytesPerConnection;
    this.bytesByReply.set(answer, bytes);
    this.bytes += bytes;
    while (this.bytes > bounds.unsentReplyBytesMax) {
      const [longest] = this.bytesByReply.keys();
      if (longest === undefined) return;
      this.remove(longest);
      longest.closeConnection();
    }
  }

  /** Does nothing to an answer that is not here. */
  remove(answer: UnsentReply): void {
    this.bytes -= this.bytesByReply.get(answer) ?? 0;
    this.bytesByReply.delete(answer);
  }
}

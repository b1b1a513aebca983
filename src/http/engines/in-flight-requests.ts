import { bounds } from '../../bounds.ts';

/**
 * Waits for `delayMs`, and at least until the event loop has polled for connections once more. Closing the listening socket would reset
 * the connections that the system has established but the process has not accepted.
 */
export async function keepAcceptingConnections(delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  // The first ends this turn of the event loop, the second a turn that polled the sockets.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

/** Counts the requests whose replies are not fully sent. */
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
   * Resolves when no request is in flight and the last reply was passed to the system, or after `graceMs`, with the number of
   * unanswered requests. Also waits for new requests on open connections.
   */
  async waitUntilEmpty(graceMs: number): Promise<number> {
    const graceEnd = Promise.withResolvers<void>();
    let inGrace = true;
    const timer = setTimeout(() => {
      inGrace = false;
      graceEnd.resolve();
    }, graceMs);
    do {
      await Promise.race([this.whenEmpty(), graceEnd.promise]);
      // A reply written in this turn is sent when the engine gets control back.
      await new Promise(setImmediate);
    } while (this.current > 0 && inGrace);
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

/** A reply that its client has not read completely. */
export interface UnsentReply {
  closeConnection(): void;
}

/**
 * The replies of a listener that wait for their clients to read, with a limit on their total size. Beyond the limit, the connection that has
 * made no progress for the longest time is closed.
 */
export class UnsentReplies {
  /** Size of each reply, in the order of their last progress. */
  private readonly bytesByReply = new Map<UnsentReply, number>();
  private bytes = 0;

  /** Adds a reply, or updates one that has made progress. May close its connection. */
  add(reply: UnsentReply, bodyBytes: number): void {
    this.remove(reply);
    const bytes = bodyBytes + bounds.engineBufferBytesPerConnection;
    this.bytesByReply.set(reply, bytes);
    this.bytes += bytes;
    while (this.bytes > bounds.unsentReplyBytesMax) {
      const [longest] = this.bytesByReply.keys();
      if (longest === undefined) return;
      this.remove(longest);
      longest.closeConnection();
    }
  }

  /** Does nothing if the reply is not in the collection. */
  remove(reply: UnsentReply): void {
    this.bytes -= this.bytesByReply.get(reply) ?? 0;
    this.bytesByReply.delete(reply);
  }
}

import { bounds } from '../../bounds.ts';

/**
 * Waits for `delayMs`, and at least until the event loop has polled for new connections once more. Closing the listening socket earlier
 * would reset connections that the operating system has established but the process has not accepted yet.
 */
export async function keepAcceptingConnections(delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  // The first wait ends the current turn of the event loop. The second wait ends a turn in which the sockets were polled.
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
   * Waits until no request is in flight and the last reply was passed to the system, or until `graceMs` have passed. Includes new requests
   * on open connections. Resolves with the number of unanswered requests.
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
      // The engine sends a reply that was written in this turn when it regains control.
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
 * Replies of a listener whose clients have not read all bytes, with a limit on the total size. If the limit is exceeded, the connection
 * that has made no progress for the longest time is closed.
 */
export class UnsentReplies {
  /** Size in bytes of each reply. The reply without progress for the longest time comes first. */
  private readonly bytesByReply = new Map<UnsentReply, number>();
  private bytes = 0;

  /** Adds a reply, or updates a reply that has made progress. May close a connection if the limit is exceeded. */
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

  /** Removes a reply. Does nothing if the reply is not in the collection. */
  remove(reply: UnsentReply): void {
    this.bytes -= this.bytesByReply.get(reply) ?? 0;
    this.bytesByReply.delete(reply);
  }
}

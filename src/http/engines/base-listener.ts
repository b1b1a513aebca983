import { bounds } from '../../bounds.ts';
import { type Certificate, InvalidCertificateError, type TlsVersion } from '../../tls/certificate.ts';
import type { Listener, ListenerOptions } from './listener.ts';

/**
 * Keeps the listening socket open for at least `acceptMs` milliseconds, and until the event loop has polled for new connections. Closing
 * the listening socket before the poll would reset connections that the operating system has established but the process has not accepted.
 */
async function keepAcceptingConnections(acceptMs: number): Promise<void> {
  if (acceptMs > 0) await new Promise((resolve) => setTimeout(resolve, acceptMs));
  // Waits for a whole turn of the event loop, because each turn polls the listening socket.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

/** Counts the requests whose reply is not completely sent. */
export class InFlightRequests {
  count = 0;
  private onEmpty: () => void = () => {};

  addRequest(): void {
    this.count += 1;
  }

  removeRequest(): void {
    this.count -= 1;
    if (this.count === 0) this.onEmpty();
  }

  /**
   * Waits at most `graceMs` milliseconds until all requests, including new requests on open connections, are answered and the last reply
   * was passed to the operating system. Resolves with the number of unanswered requests. Call this method only once.
   */
  async waitForAllRequests(graceMs: number): Promise<number> {
    const graceEnd = Promise.withResolvers<void>();
    let inGrace = true;
    const timer = setTimeout(() => {
      inGrace = false;
      graceEnd.resolve();
    }, graceMs);
    do {
      const empty = Promise.withResolvers<void>();
      this.onEmpty = empty.resolve;
      if (this.count > 0) await Promise.race([empty.promise, graceEnd.promise]);
      // A reply that was written in this turn of the event loop is sent when the turn ends.
      await new Promise(setImmediate);
    } while (this.count > 0 && inGrace);
    clearTimeout(timer);
    return this.count;
  }
}

/** A reply that the client has not completely read. */
export interface UnsentReply {
  /** Whether the operating system accepts no more bytes of the reply, because the client reads too slowly. */
  readonly isStalled: boolean;
  closeConnection(): void;
}

/**
 * Limits the total size of the replies that clients have not completely read. If the total exceeds the limit, closes the connection of the
 * client that has read nothing for the longest time.
 */
class UnsentReplies {
  /** Size in bytes of each unsent reply. The reply whose client has read nothing for the longest time comes first. */
  private readonly bytesByReply = new Map<UnsentReply, number>();
  private bytes = 0;

  /**
   * Adds an unsent reply, or updates the size of an unsent reply of which the client has read a part. If the total size of all unsent
   * replies exceeds the limit, closes connections with stalled replies, oldest first.
   */
  add(reply: UnsentReply, bodyBytes: number): void {
    this.remove(reply);
    const bytes = bodyBytes + bounds.engineBufferBytesPerConnection;
    this.bytesByReply.set(reply, bytes);
    this.bytes += bytes;
    for (const [longest] of this.bytesByReply) {
      if (this.bytes <= bounds.unsentReplyBytesMax || !longest.isStalled) return;
      this.close(longest);
    }
  }

  remove(reply: UnsentReply): void {
    this.bytes -= this.bytesByReply.get(reply) ?? 0;
    this.bytesByReply.delete(reply);
  }

  /**
   * Closes connections with stalled replies, oldest first, until there is room for another reply. Returns false if there is no room yet
   * because the oldest reply is not stalled.
   */
  makeRoom(bodyBytes: number): boolean {
    const allowedBytes = bounds.unsentReplyBytesMax - bodyBytes - bounds.engineBufferBytesPerConnection;
    for (const [oldest] of this.bytesByReply) {
      if (this.bytes <= allowedBytes) return true;
      if (!oldest.isStalled) return false;
      this.close(oldest);
    }
    return true;
  }

  private close(reply: UnsentReply): void {
    this.remove(reply);
    reply.closeConnection();
  }
}

/** Entry of a deadline queue. The queue sets `dueMs`, `previous` and `next`; the entry implements `onDeadline`. */
export interface DeadlineQueueEntry {
  /** Time when the entry expires, in milliseconds of the monotonic clock. */
  dueMs: number;
  /** Previous entry of the circular linked list; null if the entry is not in a queue. */
  previous: DeadlineQueueEntry | null;
  next: DeadlineQueueEntry | null;
  onDeadline(): void;
}

/** Initial values of the properties that a deadline queue sets. */
export const emptyDeadlineLinks = { dueMs: 0, previous: null, next: null } as const;

/**
 * Queue of entries with deadlines. All entries have the same timeout, so the oldest entry always expires first, and one timer is enough for
 * all entries. The queue is a circular linked list, in which adding and removing an entry takes constant time.
 */
export class DeadlineQueue {
  /** Placeholder between the last and the first entry of the circular linked list. */
  private readonly sentinel: DeadlineQueueEntry = {
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

  /** Adds an entry, or restarts the timeout of an entry. `nowMs` must not decrease between calls. */
  add(entry: DeadlineQueueEntry, nowMs: number): void {
    this.remove(entry);
    const { sentinel } = this;
    const last = sentinel.previous as DeadlineQueueEntry;
    entry.dueMs = nowMs + this.timeoutMs;
    entry.previous = last;
    entry.next = sentinel;
    last.next = entry;
    sentinel.previous = entry;
  }

  /** Removes an entry. Has no effect if the entry is not in the queue. */
  remove(entry: DeadlineQueueEntry): void {
    const { previous, next } = entry;
    if (previous === null || next === null) return;
    previous.next = next;
    next.previous = previous;
    entry.previous = null;
    entry.next = null;
  }

  /** Removes all entries whose deadline has passed at `nowMs`, and calls `onDeadline` of each removed entry. */
  removeExpiredEntries(nowMs: number): void {
    for (
      let first = this.sentinel.next as DeadlineQueueEntry;
      first.dueMs <= nowMs;
      first = this.sentinel.next as DeadlineQueueEntry
    ) {
      this.remove(first);
      first.onDeadline();
    }
  }
}

/** Base class of the listeners of both engines: request counter, deadlines, certificate changes and drain. */
export abstract class BaseListener implements Listener {
  abstract readonly engine: Listener['engine'];
  readonly engineReason: string;
  readonly options: ListenerOptions;
  readonly inFlightRequests = new InFlightRequests();
  readonly deadlines: DeadlineQueue;
  readonly unsentReplies = new UnsentReplies();
  port = 0;
  /** Whether the drain has started. During the drain, every reply closes its connection. */
  isDraining = false;
  private isClosed = false;
  private deadlineTimer: NodeJS.Timeout | undefined;
  private drainResult: Promise<number> | undefined;

  constructor(options: ListenerOptions, engineReason: string) {
    this.options = options;
    this.engineReason = engineReason;
    this.deadlines = new DeadlineQueue(options.deadlineMs);
  }

  /** Configures the certificate for new connections. Throws if the engine cannot load the certificate. */
  protected abstract applyCertificate(certificate: Certificate, minVersion: TlsVersion): void;

  protected abstract stopAccepting(): void;

  protected abstract closeConnections(): void | Promise<void>;

  get inFlightCount(): number {
    return this.inFlightRequests.count;
  }

  setCertificate(certificate: Certificate): void {
    const { tls } = this.options;
    if (tls === undefined) throw new Error('this listener was started without TLS');
    if (this.isClosed) return;
    try {
      this.applyCertificate(certificate, tls.minVersion);
    } catch {
      const library = this.engine === 'uws' ? 'uWebSockets.js' : 'node:https';
      throw new InvalidCertificateError('certificate', certificate, `a certificate and key that ${library} can load`);
    }
  }

  close(graceMs: number, acceptMs = 0): Promise<number> {
    this.drainResult ??= this.drainAndClose(graceMs, acceptMs);
    return this.drainResult;
  }

  /** Called when the listening socket is bound to the port. */
  protected onListening(port: number): void {
    this.port = port;
    this.deadlineTimer = setInterval(
      () => this.deadlines.removeExpiredEntries(performance.now()),
      bounds.deadlineCheckIntervalMs,
    );
  }

  private async drainAndClose(graceMs: number, acceptMs: number): Promise<number> {
    this.isDraining = true;
    await keepAcceptingConnections(acceptMs);
    this.stopAccepting();
    const unanswered = await this.inFlightRequests.waitForAllRequests(graceMs);
    this.isClosed = true;
    await this.closeConnections();
    clearInterval(this.deadlineTimer);
    return unanswered;
  }
}

import { randomBytes } from 'node:crypto';
import { bounds } from '../../bounds.ts';
import type { RequestParam } from '../../domain/errors.ts';
import { invalidRequest, type Refusal } from '../../domain/outcome.ts';
import type { DeadlineEntry, DeadlineQueue } from './deadline-queue.ts';
import type { InFlightRequests, UnsentReplies, UnsentReply } from './in-flight-requests.ts';
import type { CallerIds, ListenerOptions, LoggedRequest, Reply, RequestContext } from './listener.ts';

// 72 random bits make the prefix unique among processes and threads; the counter makes the id unique within one. Sixteen
// bytes of randomness for each request would cost several times as much as the rest of the id.
const requestIdPrefix = `${randomBytes(9).toString('base64url')}-`;
let issuedRequestIds = 0;

/** A new request id: 14 or more characters of `[A-Za-z0-9_-]`, never repeated by any process. */
export function nextRequestId(): string {
  issuedRequestIds += 1;
  return requestIdPrefix + issuedRequestIds.toString(36);
}

/** Gathers the pieces of a request body in one buffer, which grows with them up to a bound. */
export class BodyBuffer {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #byteLength = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Appends a copy of a piece. Returns false, and appends nothing, if the body would exceed the bound. */
  append(piece: Uint8Array): boolean {
    const bytes = this.#byteLength + piece.byteLength;
    if (bytes > this.#bytesMax) return false;
    if (bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(bytes, 2 * this.#buffer.length)));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#byteLength);
    this.#byteLength = bytes;
    return true;
  }

  /** Everything appended so far; valid until the next piece. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#byteLength);
  }
}

export const headerReadTooLateMessage = 'a request header can only be read before the handler returns or first awaits';

/** What an context needs of the listener it came in through. */
export interface ListenerState {
  readonly options: ListenerOptions;
  readonly inFlightRequests: InFlightRequests;
  readonly deadlines: DeadlineQueue;
  readonly unsentReplies: UnsentReplies;
}

/**
 * One request, as far as it is the same on every engine: who is told what, once, about the body, the deadline and the end.
 *
 *     handling ──reply──> over ─────────────────────────> released
 *        │                  ├─(body refused)─> lingering ─┤
 *        │                  └─(client does not read)─> unsent
 *        └─return─> pending ──reply, deadline──> over ...
 *     an abort leads from everywhere to: over, released
 *
 * An engine starts it with `handle`, puts it among the listener's deadlines while it is pending or lingering, and ends it
 * with `release`. An context lingers when it is answered and its unwanted body is still going by. It is unsent when it is answered
 * and its client has not read enough for all of the answer to be handed to the system.
 */
export abstract class BaseRequestContext<L extends ListenerState>
  implements RequestContext, DeadlineEntry, LoggedRequest, UnsentReply
{
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly requestId = nextRequestId();
  ended = false;
  errorHeaders = '';
  routeIndex = 0;
  caller: CallerIds | null = null;
  dueMs = 0;
  previous: DeadlineEntry | null = null;
  next: DeadlineEntry | null = null;
  protected readonly listener: L;
  /** When its head was here; monotonic milliseconds. */
  protected readonly receivedMs = performance.now();
  /** The declared size of the body exceeds the bound. */
  protected isBodyTooLarge = false;
  /** An answer given now ends the connection, because the rest of the body is of unknown size or too large. */
  protected mustDiscardBody = false;
  private isBodyRequested = false;
  /** While the body is awaited: whom to tell that it will not come. */
  private onBodyUnavailable: (() => void) | undefined;
  private isCounted = false;

  constructor(listener: L, method: string, path: string, query: string) {
    this.listener = listener;
    this.method = method;
    this.path = path;
    this.query = query;
  }

  abstract header(lowerCaseName: string): string;

  /** The handler has not returned yet. */
  protected abstract readonly isHandling: boolean;

  /** The header or other part that a proxy before us may have read otherwise, if any: no handler sees such a request. */
  protected abstract findMalformedPart(): RequestParam | undefined;

  /** Hands the body to `deliver` when all of it is here, unless the context is over by then. */
  protected abstract collectBody(onBody: (body: Buffer) => void | Promise<void>): void;

  /** Calls `settle` and sends the answer. Throws, with nothing settled or sent, when the answer is not fit to be sent. */
  protected abstract writeReply(reply: Reply): void;

  /** Closes the connection of an context that is answered. */
  abstract closeConnection(): void;

  readBody(onBody: (body: Buffer) => void | Promise<void>, onBodyUnavailable?: () => void): void {
    if (!this.isHandling || this.isBodyRequested) throw new Error('readBody is for once, before the handler returns');
    this.isBodyRequested = true;
    if (this.ended) {
      onBodyUnavailable?.();
      return;
    }
    this.onBodyUnavailable = onBodyUnavailable;
    if (this.isBodyTooLarge) this.rejectLargeBody();
    else this.collectBody(onBody);
  }

  reply(reply: Reply): void {
    if (this.ended) return;
    try {
      this.sendReply(reply);
    } catch (fault) {
      this.failRequest(fault);
    }
  }

  get elapsedMs(): number {
    return performance.now() - this.receivedMs;
  }

  onDeadline(): void {
    if (this.ended) {
      this.closeConnection();
      return;
    }
    this.listener.options.onDeadline?.();
    this.sendError({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: bounds.retryAfterSeconds });
  }

  /** The answer has left, or the client has. */
  release(): void {
    this.markEnded();
    this.listener.deadlines.remove(this);
    this.leaveInFlight();
  }

  /** Runs the handler, or refuses what must not reach it. */
  protected runHandler(): void {
    const { options, inFlightRequests } = this.listener;
    inFlightRequests.increment();
    this.isCounted = true;
    const param = this.findMalformedPart();
    if (param !== undefined) {
      this.mustDiscardBody = true;
      this.sendError(invalidRequest(param).refusal);
      return;
    }
    try {
      options.handler(this)?.catch((fault: unknown) => this.failRequest(fault));
    } catch (fault) {
      this.failRequest(fault);
    }
  }

  /**
   * Whether the transfer coding of the request is one that every server reads alike: `chunked` alone, in one header, without a
   * length, without trailers, and with a method made for a body.
   */
  protected hasPlainChunkedCoding(codings: number, lengths: number): boolean {
    return (
      codings === 1 &&
      lengths === 0 &&
      this.header('transfer-encoding').toLowerCase() === 'chunked' &&
      this.header('trailer') === '' &&
      this.method !== 'GET' &&
      this.method !== 'HEAD'
    );
  }

  protected deliverBody(onBody: (body: Buffer) => void | Promise<void>, body: Buffer): void {
    this.onBodyUnavailable = undefined;
    try {
      onBody(body)?.catch((fault: unknown) => this.failRequest(fault));
    } catch (fault) {
      this.failRequest(fault);
    }
  }

  /** The context is over: a body still awaited will not come. */
  protected markEnded(): void {
    const { onBodyUnavailable } = this;
    this.ended = true;
    this.onBodyUnavailable = undefined;
    try {
      onBodyUnavailable?.();
    } catch (fault) {
      this.listener.options.onHandlerError(fault, this);
    }
  }

  /** It is answered as far as a drain is concerned, which does not wait for those that linger. */
  protected leaveInFlight(): void {
    if (this.isCounted) this.listener.inFlightRequests.decrement();
    this.isCounted = false;
  }

  private failRequest(fault: unknown): void {
    this.listener.options.onHandlerError(fault, this);
    if (!this.ended) this.sendError({ code: 'INTERNAL_ERROR' });
  }

  /** Answers 413. Does nothing if the context is over. */
  protected rejectLargeBody(): void {
    if (!this.ended) this.sendError({ code: 'PAYLOAD_TOO_LARGE' });
  }

  protected sendError(refusal: Refusal): void {
    this.sendReply(this.listener.options.errorReply(refusal, this.requestId, this.errorHeaders));
  }

  private sendReply(reply: Reply): void {
    this.writeReply(reply);
    // In whole microseconds, which unlike fractions need no object of their own.
    this.listener.options.onReply?.(this.routeIndex, reply.status, ((performance.now() - this.receivedMs) * 1000) | 0);
    if (reply.status >= 400) this.listener.options.onErrorReply?.(this, reply);
    else this.listener.options.onSuccessReply?.(this, reply);
  }
}

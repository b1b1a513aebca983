import { randomBytes } from 'node:crypto';
import { bounds } from '../../bounds.ts';
import type { RequestParamName } from '../../domain/errors.ts';
import { type ApiError, invalidRequest, type ServiceProblem, serviceUnavailable } from '../../domain/outcome.ts';
import type { DeadlineQueue, DeadlineQueueEntry, InFlightRequests, UnsentReply } from './base-listener.ts';
import type { CallerIdentity, HandlingOptions, LoggedRequest, RequestContext } from './listener.ts';
import type { Reply } from './response-head.ts';

// Prefix of all request IDs of this thread. The prefix contains 72 random bits, so that no other thread or process issues the same request
// IDs. A counter makes request IDs unique within a thread, in a fraction of the time for generating 16 random bytes.
const requestIdPrefix = `${randomBytes(9).toString('base64url')}-`;
let issuedRequestIds = 0;

/** Returns a request ID that is unique among all processes and has 14 or more characters of `[A-Za-z0-9_-]`. */
export function nextRequestId(): string {
  issuedRequestIds += 1;
  return requestIdPrefix + issuedRequestIds.toString(36);
}

/** Collects the chunks of a request body in a buffer that grows up to a limit. */
export class BodyBuffer {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #byteLength = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Appends a copy of a chunk to the body. Returns false, without appending the chunk, if the body would exceed the limit. */
  append(chunk: Uint8Array): boolean {
    const bytes = this.#byteLength + chunk.byteLength;
    if (bytes > this.#bytesMax) return false;
    if (bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(bytes, 2 * this.#buffer.length)));
      larger.set(this.receivedBody);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#byteLength);
    this.#byteLength = bytes;
    return true;
  }

  /** The part of the request body that was received so far. The returned buffer is valid until the next `append`. */
  get receivedBody(): Buffer {
    return this.#buffer.subarray(0, this.#byteLength);
  }
}

export const headersUnavailableMessage = 'request headers must be read before the handler returns or awaits';

const deadlineProblem = {
  text: 'no answer before the deadline; check the load of the machine and of its disk',
} as const;

/** The parts of a listener that its request contexts use. */
export interface RequestReceiver {
  readonly options: HandlingOptions;
  readonly inFlightRequests: InFlightRequests;
  readonly deadlines: DeadlineQueue;
}

/**
 * Base class of all request contexts: states, body callbacks, deadline and error replies.
 *
 *     handling ──reply──> ended ────────────────────────────────> released
 *        │                  ├─(body refused)─────────> lingering ─┤
 *        │                  └─(client does not read)─> unsent ────┘
 *        └─return─> pending ──reply, deadline──> ended ...
 *     every state ──client disconnects──> ended ──> released
 *
 * An engine calls `runHandler`, adds the context to the listener's deadlines while the context is pending or lingering, and calls
 * `releaseResources` at the end. A context is lingering if its reply was sent, but the client is still sending a request body that was
 * refused. A context is in the state `unsent` if a part of its reply is still in memory, because the client reads too slowly.
 */
export abstract class BaseRequestContext<L extends RequestReceiver>
  implements RequestContext, DeadlineQueueEntry, LoggedRequest, UnsentReply
{
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly requestId: string;
  ended = false;
  errorHeaders = '';
  routeIndex = 0;
  caller: CallerIdentity | null = null;
  dueMs = 0;
  previous: DeadlineQueueEntry | null = null;
  next: DeadlineQueueEntry | null = null;
  protected readonly listener: L;
  /** Time when the request head was received, in milliseconds of the monotonic clock. */
  protected readonly receivedMs: number;
  /** Whether the Content-Length of the request exceeds the body size limit. */
  protected isBodyTooLarge = false;
  /** Whether a reply must close the connection, because the rest of the request body is too large or has an unknown size. */
  protected mustDiscardBody = false;
  private isBodyRequested = false;
  /** Called if the body cannot be read; undefined while no handler waits for the body. */
  private onBodyUnavailable: (() => void) | undefined;
  /** Called instead of the reply 413 if the body is too large. */
  private onBodyTooLarge: (() => void) | undefined;
  /** Whether `onBodyTooLarge` was called. The rest of the body is then discarded. */
  private isBodyRefused = false;
  private isCounted = false;

  /**
   * @param requestId ID of a request that another process has received; by default, a new ID
   * @param elapsedMs time since the request head was received
   */
  constructor(
    listener: L,
    method: string,
    path: string,
    query: string,
    requestId: string = nextRequestId(),
    elapsedMs = 0,
  ) {
    this.listener = listener;
    this.method = method;
    this.path = path;
    this.query = query;
    this.requestId = requestId;
    this.receivedMs = performance.now() - elapsedMs;
  }

  abstract getRequestHeader(lowerCaseName: string): string;

  abstract getPeerAddress(): string;

  abstract readonly hasIdempotencyKey: boolean;

  /** Whether the synchronous part of the handler is running. */
  protected abstract readonly isHandling: boolean;

  /**
   * Returns a part of the request, such as a header, that a proxy and this service may interpret differently; undefined if there is no such
   * part. A request with an ambiguous part gets a 400 response and does not reach the handler.
   */
  protected abstract findMalformedPart(): RequestParamName | undefined;

  /** Collects the request body, and calls `passBodyToHandler` with the complete body if the request is still pending. */
  protected abstract collectBody(onBody: (body: Buffer) => void | Promise<void>): void;

  /** Calls `markRequestEnded` and sends the reply. Throws without sending anything if the reply is invalid. */
  protected abstract writeReply(reply: Reply): void;

  /** Closes the connection. Called only after the request was answered. */
  abstract closeConnection(): void;

  abstract readonly isStalled: boolean;

  readBody(
    onBody: (body: Buffer) => void | Promise<void>,
    onBodyUnavailable?: () => void,
    onBodyTooLarge?: () => void,
  ): void {
    if (!this.isHandling || this.isBodyRequested)
      throw new Error('readBody must be called at most once, before the handler returns');
    this.isBodyRequested = true;
    if (this.ended) {
      onBodyUnavailable?.();
      return;
    }
    this.onBodyUnavailable = onBodyUnavailable;
    this.onBodyTooLarge = onBodyTooLarge;
    if (this.isBodyTooLarge) this.rejectLargeBody();
    else this.collectBody(onBody);
  }

  reply(reply: Reply): void {
    if (this.ended) return;
    try {
      this.sendReply(reply);
    } catch (error) {
      this.failRequest(error);
    }
  }

  logIncompleteAnswer(problem: ServiceProblem): void {
    if (!this.ended) this.listener.options.onIncompleteAnswer?.(this, problem);
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
    this.sendError(serviceUnavailable(bounds.retryAfterSeconds, deadlineProblem).error);
  }

  /** Releases the resources of the request. Called when the reply is completely sent or the client has disconnected. */
  releaseResources(): void {
    this.markRequestEnded();
    this.listener.deadlines.remove(this);
    this.removeFromInFlight();
  }

  /** Runs the handler, or replies 400 to a malformed request. */
  protected runHandler(): void {
    const { options, inFlightRequests } = this.listener;
    inFlightRequests.addRequest();
    this.isCounted = true;
    const param = this.findMalformedPart();
    if (param !== undefined) {
      this.mustDiscardBody = true;
      this.sendError(invalidRequest(param).error);
      return;
    }
    try {
      options.handler(this)?.catch((error: unknown) => this.failRequest(error));
    } catch (error) {
      this.failRequest(error);
    }
  }

  /**
   * Whether every server and proxy interprets the `Transfer-Encoding` of the request in the same way: the request has one
   * `Transfer-Encoding: chunked` header, no `Content-Length`, no trailers, and a method that allows a body.
   */
  protected hasUnambiguousChunkedCoding(codings: number, lengths: number): boolean {
    return (
      codings === 1 &&
      lengths === 0 &&
      this.getRequestHeader('transfer-encoding').toLowerCase() === 'chunked' &&
      this.getRequestHeader('trailer') === '' &&
      this.method !== 'GET' &&
      this.method !== 'HEAD'
    );
  }

  protected passBodyToHandler(onBody: (body: Buffer) => void | Promise<void>, body: Buffer): void {
    if (this.isBodyRefused) return;
    this.onBodyUnavailable = undefined;
    try {
      onBody(body)?.catch((error: unknown) => this.failRequest(error));
    } catch (error) {
      this.failRequest(error);
    }
  }

  /** Marks the request as answered or aborted. Calls `onBodyUnavailable` if the handler is still waiting for the body. */
  protected markRequestEnded(): void {
    const { onBodyUnavailable } = this;
    this.ended = true;
    this.onBodyUnavailable = undefined;
    try {
      onBodyUnavailable?.();
    } catch (error) {
      this.listener.options.onHandlerError(error, this);
    }
  }

  /** Removes the request from the count of requests in flight. A drain waits until no request is in flight. */
  protected removeFromInFlight(): void {
    if (this.isCounted) this.listener.inFlightRequests.removeRequest();
    this.isCounted = false;
  }

  private failRequest(error: unknown): void {
    this.listener.options.onHandlerError(error, this);
    if (!this.ended) this.sendError({ code: 'INTERNAL_ERROR' });
  }

  /** Replies 413, or calls `onBodyTooLarge`, unless the request was already answered or aborted. */
  protected rejectLargeBody(): void {
    if (this.ended || this.isBodyRefused) return;
    if (this.onBodyTooLarge === undefined) {
      this.sendError({ code: 'PAYLOAD_TOO_LARGE' });
      return;
    }
    this.isBodyRefused = true;
    this.onBodyUnavailable = undefined;
    this.onBodyTooLarge();
  }

  protected sendError(error: ApiError): void {
    this.sendReply(this.listener.options.errorReply(error, this.requestId, this.errorHeaders));
  }

  private sendReply(reply: Reply): void {
    this.writeReply(reply);
    // Rounds the duration to an integer, because V8 would allocate a fractional number on the heap.
    this.listener.options.onReply?.(this.routeIndex, reply.status, ((performance.now() - this.receivedMs) * 1000) | 0);
    if (reply.status >= 400) this.listener.options.onErrorReply?.(this, reply);
    else this.listener.options.onSuccessReply?.(this, reply);
  }
}

import type { CancelSignal } from '../../domain/async.ts';
import type { ApiError, ServiceProblem } from '../../domain/outcome.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import type { HeaderText, Reply } from './response-head.ts';

/** An HTTP request and its reply. Both HTTP engines implement this interface; the tests in `test/http/` run with both engines. */
export interface RequestContext extends CancelSignal {
  /** HTTP method as the client sent it, such as `GET`. The listener omits the body of a reply to HEAD. */
  readonly method: string;
  /** URL path as the client sent it: not decoded, and without the query. */
  readonly path: string;
  /** URL query as the client sent it: not decoded, and without the question mark; empty if the URL has no query. */
  readonly query: string;
  /** Request ID, unique among all processes. Every response contains the request ID as `X-Request-Id`. */
  readonly requestId: string;
  /**
   * Returns the value of a request header by its lower-case name; empty if the header is absent. `getRequestHeader` throws after the handler
   * has returned or awaited.
   */
  getRequestHeader(lowerCaseName: string): string;
  /**
   * Returns the IP address of the other end of the connection, which is the client or a proxy; empty if the connection is closed.
   * `getPeerAddress` throws after the handler has returned or awaited.
   */
  getPeerAddress(): string;
  /**
   * Whether the request has an `Idempotency-Key` header, even an empty one. uWebSockets.js removes non-ASCII bytes at both ends of a header
   * value, so the value of a header that contains only such bytes is empty.
   */
  readonly hasIdempotencyKey: boolean;
  /**
   * Reads the request body. A handler may call `readBody` only once, and only before the handler returns. `readBody` calls either `onBody`
   * or `onBodyUnavailable`, but never both. `onBodyUnavailable` is called if the body is too large (the listener replies 413), the client
   * disconnects, or the deadline passes (the listener replies 503). The buffer is valid only during the call of `onBody`.
   *
   * @param onBodyTooLarge called instead of `onBodyUnavailable` if the body is too large; the caller then replies
   */
  readBody(
    onBody: (body: Buffer) => void | Promise<void>,
    onBodyUnavailable?: () => void,
    onBodyTooLarge?: () => void,
  ): void;
  /** Headers that the route adds to error replies of the listener itself, such as 413 for a body that is too large. */
  errorHeaders: HeaderText;
  /** Index of the route in `allRouteNames`, for metrics and logs; 0 (`other`) until the route sets the index. */
  routeIndex: number;
  /** The authenticated caller, for the log; null until the route sets the caller. */
  caller: CallerIdentity | null;
  /** Sends the reply. Has no effect if the request was already answered, the client has disconnected, or the deadline has passed. */
  reply(reply: Reply): void;
  /** Logs why the answer to the request will be incomplete. Has no effect in the cases in which `reply` has none. */
  logIncompleteAnswer(problem: ServiceProblem): void;
  /** True if the request was answered, the client has disconnected, or the deadline has passed. */
  readonly ended: boolean;
  /** Time since the request head was received, in milliseconds. */
  readonly elapsedMs: number;
}

/** Numbers of an account and an API key. `SqliteKeyDirectory.findAccountAndKeyName` returns the account name and key ID. */
export interface CallerIdentity {
  readonly account: number;
  /** Number of the API key; absent for a request without an API key. */
  readonly keyNumber?: number;
}

/** Properties of a request for the log. Validate `method` before logging it, because a client can send any text as the method. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly routeIndex: number;
  readonly caller: CallerIdentity | null;
  /** Time since the request head was received, in milliseconds. */
  readonly elapsedMs: number;
}

/**
 * Handles one HTTP request. If a handler throws or rejects, the listener replies 500 and calls `onHandlerError`. A handler must not call
 * `getRequestHeader` or `readBody` after its first await.
 */
export type RequestHandler = (context: RequestContext) => void | Promise<void>;

/** Header with the address of the client of a program that forwards requests to a Unix socket. */
export const peerAddressHeader = 'x-peer-address';

/** Handler of requests, and callbacks for their outcomes. */
export interface HandlingOptions {
  readonly handler: RequestHandler;
  /** Creates the error replies that the listener itself sends, such as 400 for a malformed request. */
  readonly errorReply: (error: ApiError, requestId: string, headers: HeaderText) => Reply;
  /** Called when a handler throws or rejects, which is always a bug. */
  readonly onHandlerError: (error: unknown, request: LoggedRequest) => void;
  /** Called after each reply with a status of 400 or more. */
  readonly onErrorReply?: (request: LoggedRequest, reply: Reply) => void;
  /** Called after each reply with a status below 400. */
  readonly onSuccessReply?: ((request: LoggedRequest, reply: Reply) => void) | undefined;
  /** Called before the reply to a request whose answer is incomplete. */
  readonly onIncompleteAnswer?: (request: LoggedRequest, problem: ServiceProblem) => void;
  readonly onDeadline?: () => void;
  /**
   * Called when a reply is passed to the engine, with the time in microseconds since the request head was received. `onReply` is not called
   * for replies that the engine's HTTP parser sends itself.
   */
  readonly onReply?: (route: number, status: number, elapsedUs: number) => void;
  readonly bodyBytesMax: number;
  readonly deadlineMs: number;
}

export interface ListenerOptions extends HandlingOptions {
  readonly host: string;
  /** TCP port; 0 selects a free port. */
  readonly port: number;
  /** Whether the kernel may distribute the connections to the port among several processes. Default: false. */
  readonly sharesPort?: boolean | undefined;
  /**
   * Path of a Unix socket that replaces host and port, for the engine `node`. `peerAddressHeader` is then the address of the client. Only
   * trusted programs must be able to enter the folder of the socket.
   */
  readonly socketPath?: string | undefined;
  /** TLS settings for https; undefined for http. */
  readonly tls?: { readonly certificate: Certificate; readonly minVersion: TlsVersion } | undefined;
}

export interface Listener {
  readonly engine: 'uws' | 'node';
  /** Version of the engine and the reason why this engine was chosen, as text for the operator. */
  readonly engineReason: string;
  readonly port: number;
  /** Number of requests whose reply is not completely sent. */
  readonly inFlightCount: number;
  /**
   * Sets the certificate for new connections of a listener that was started with `tls`. If the engine cannot load the certificate, throws
   * `InvalidCertificateError` and continues to use the current certificate.
   */
  setCertificate(certificate: Certificate): void;
  /**
   * Drains and closes the listener. During the drain, every reply contains `Connection: close`. The listening socket closes `acceptMs`
   * milliseconds after the call of `close`. Connections close when all replies are sent, but at the latest `graceMs` milliseconds after the
   * listening socket. Resolves with the number of requests that stayed unanswered. Repeated calls of `close` have no effect.
   */
  close(graceMs: number, acceptMs?: number): Promise<number>;
}

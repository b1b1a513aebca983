import type { CancelSignal } from '../../domain/async.ts';
import type { ApiError } from '../../domain/outcome.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import type { HeaderText } from './response-head.ts';

/** One request and its reply. Both HTTP engines implement this interface, and one conformance suite (`test/http/`) tests both engines. */
export interface RequestContext extends CancelSignal {
  /** Method as sent, such as `GET`. The listener omits the body of a reply to HEAD. */
  readonly method: string;
  /** Path as sent, without decoding and without the query. */
  readonly path: string;
  /** Query as sent, without decoding and without the question mark; empty when the request has none. */
  readonly query: string;
  /** Request ID, unique among all requests of all processes. Every response contains it as `X-Request-Id`. */
  readonly requestId: string;
  /** Returns a request header by its lower-case name; empty if absent. Throws after the handler has returned or awaited. */
  header(lowerCaseName: string): string;
  /**
   * Reads the request body. Must be called at most once, before the handler returns. Exactly one of the two callbacks is called, once.
   * `onBodyUnavailable` is called if the body is too large (the listener replies 413), the client disconnects, or the deadline passes (503). The
   * bytes are valid only during the call of `onBody`.
   */
  readBody(onBody: (body: Buffer) => void | Promise<void>, onBodyUnavailable?: () => void): void;
  /**
   * Headers for error replies of the listener itself, such as 413, or 503 after the deadline. Set by the route.
   */
  errorHeaders: HeaderText;
  /** Index of the route in `allRouteNames`, for metrics and logs. Set by the route; 0 until then. */
  routeIndex: number;
  /** The authenticated caller, for the log. Set by the route; null until then. */
  caller: CallerIds | null;
  /** Sends the reply. Calls after a reply, a disconnect of the client or the deadline have no effect. */
  reply(reply: Reply): void;
  /** True after a reply, after the client has disconnected, or after the deadline. */
  readonly ended: boolean;
}

/** Numbers of an account and an API key. `SqliteKeyDirectory.callerNames` returns their names. */
export interface CallerIds {
  readonly account: number;
  /** Number of the API key; absent for a request without an API key. */
  readonly keyNumber?: number;
}

export interface Reply {
  readonly status: number;
  /** Headers except `X-Request-Id`, `X-Content-Type-Options`, `Content-Length`, `Date` and `Connection`, which the listener adds. */
  readonly headers: HeaderText;
  readonly body: string | Uint8Array;
  /** The error that the reply reports, for the log. */
  readonly error?: ApiError;
}

/** Properties of a request for the log. `method` is the text that the client sent, so it must be checked before it is logged. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly routeIndex: number;
  readonly caller: CallerIds | null;
  /** Time since the request head was received, in milliseconds. */
  readonly elapsedMs: number;
}

/**
 * Handles one request. If a handler throws or rejects, the listener replies 500 and reports the error. A handler must not call `header` or
 * `readBody` after its first await.
 */
export type Handler = (context: RequestContext) => void | Promise<void>;

export interface ListenerOptions {
  readonly host: string;
  /** TCP port; 0 selects a free port. */
  readonly port: number;
  readonly handler: Handler;
  /** Creates error replies of the listener itself: 400 for malformed requests, 413, 500, and 503 after the deadline. */
  readonly errorReply: (error: ApiError, requestId: string, headers: HeaderText) => Reply;
  /** Called when a handler throws or rejects. This is always a bug. */
  readonly onHandlerError: (error: unknown, request: LoggedRequest) => void;
  /** Called after a reply with a status of 400 or more. */
  readonly onErrorReply?: (request: LoggedRequest, reply: Reply) => void;
  /** Called after a reply with a status below 400. */
  readonly onSuccessReply?: ((request: LoggedRequest, reply: Reply) => void) | undefined;
  /** Called when a request exceeds its deadline. */
  readonly onDeadline?: () => void;
  /**
   * Called once for each reply when it is passed to the engine, with the microseconds since the request head was received. Not called for
   * requests that the engine itself refuses.
   */
  readonly onReply?: (route: number, status: number, elapsedUs: number) => void;
  readonly bodyBytesMax: number;
  readonly deadlineMs: number;
  /** TLS settings for https; undefined for http. */
  readonly tls?: { readonly certificate: Certificate; readonly minVersion: TlsVersion } | undefined;
}

export interface Listener {
  readonly engine: 'uws' | 'node';
  /** The build of the engine and the reason for its choice, for the operator. */
  readonly engineReason: string;
  /** TCP port to which the listener is bound. */
  readonly port: number;
  /** Number of requests whose replies are not fully sent. */
  readonly inFlightCount: number;
  /**
   * Sets the certificate for new connections of a listener that was started with `tls`. Throws `InvalidCertificateError` if the engine
   * cannot load the certificate, and continues to use the current one.
   */
  setCertificate(certificate: Certificate): void;
  /**
   * Drains the listener: every reply contains `Connection: close`, no connection is accepted after `acceptMs`, and all sockets are closed
   * when every reply is sent, at the latest `graceMs` later. Resolves with the number of unanswered requests. Idempotent.
   */
  close(graceMs: number, acceptMs?: number): Promise<number>;
}

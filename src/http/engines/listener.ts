import type { CancelSignal } from '../../domain/async.ts';
import type { Refusal } from '../../domain/outcome.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import type { HeaderText } from './response-head.ts';

/** One request and its reply, the same on both HTTP engines. One conformance suite (`test/http/`) runs against both. */
export interface RequestContext extends CancelSignal {
  /** As sent, e.g. `GET`. The listener omits the body of a reply to HEAD. */
  readonly method: string;
  /** The path as sent, undecoded, without the query. */
  readonly path: string;
  /** The query as sent, undecoded, without the question mark; empty when there is none. */
  readonly query: string;
  /** Unique among all requests of all processes; every response has it as `X-Request-Id`. */
  readonly requestId: string;
  /** Returns a request header by its lower-case name, empty if absent. Throws after the handler has returned or awaited. */
  header(lowerCaseName: string): string;
  /**
   * Reads the request body. Must be called at most once, before the handler returns. Exactly one callback is called, once: `onNoBody` if
   * the body is too large (the listener replies 413), the client disconnects, or the deadline passes (503). The bytes are valid only
   * during the call of `onBody`.
   */
  readBody(onBody: (body: Buffer) => void | Promise<void>, onNoBody?: () => void): void;
  /**
   * Headers for replies of the listener itself, such as a 413 or the deadline's 503. Set by the route.
   */
  errorHeaders: HeaderText;
  /** Index of the route in `allRouteNames`, for metrics and logs. Set by the route; 0 before. */
  routeIndex: number;
  /** The authenticated caller, for the log. Set by the route; null before. */
  caller: CallerIds | null;
  /** Sends the reply. Later calls, and calls after an abort or the deadline, do nothing. */
  reply(reply: Reply): void;
  /** True once answered, aborted or past the deadline. */
  readonly ended: boolean;
}

/** Numbers of an account and key; `SqliteKeyDirectory.namesOf` returns the names. */
export interface CallerIds {
  readonly account: number;
  /** Absent for a request without an API key. */
  readonly keyNumber?: number;
}

export interface Reply {
  readonly status: number;
  /** Without `X-Request-Id`, `X-Content-Type-Options`, `Content-Length`, `Date` and `Connection`, which the listener adds. */
  readonly headers: HeaderText;
  readonly body: string | Uint8Array;
  /** The error that the reply reports, for the log. */
  readonly refusal?: Refusal;
}

/** A request for the log. The method is as sent, so it must not be logged unchecked. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly routeIndex: number;
  readonly caller: CallerIds | null;
  /** Since its head was received. */
  readonly elapsedMs: number;
}

/**
 * Handles one request. If it throws or rejects, the listener replies 500 and reports the error. It must not call `header` or `readBody`
 * after its first await.
 */
export type Handler = (context: RequestContext) => void | Promise<void>;

export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly handler: Handler;
  /** Creates the listener's own error replies: 400 for framing, 413, 500, and 503 for the deadline. */
  readonly errorReply: (refusal: Refusal, requestId: string, headers: HeaderText) => Reply;
  /** Called when a handler throws or rejects, which is a bug. */
  readonly onHandlerError: (error: unknown, request: LoggedRequest) => void;
  /** Called after a reply with a status of 400 or more. */
  readonly onErrorReply?: (request: LoggedRequest, reply: Reply) => void;
  /** Called after a reply with a status below 400. */
  readonly onSuccessReply?: ((request: LoggedRequest, reply: Reply) => void) | undefined;
  /** Called when a request exceeds its deadline. */
  readonly onDeadline?: () => void;
  /**
   * Called once for each reply, when it is passed to the engine, with the time since the request's head was received. Not called for
   * requests that the engine itself refuses.
   */
  readonly onReply?: (route: number, status: number, elapsedUs: number) => void;
  readonly bodyBytesMax: number;
  readonly deadlineMs: number;
  /** For https; default: http. */
  readonly tls?: { readonly certificate: Certificate; readonly minVersion: TlsVersion } | undefined;
}

export interface Listener {
  readonly engine: 'uws' | 'node';
  /** The build of the engine and why it was chosen, for the operator. */
  readonly engineReason: string;
  /** The bound port. */
  readonly port: number;
  /** Number of requests whose replies are not fully sent. */
  readonly inFlightCount: number;
  /**
   * Uses this certificate for new connections. For a listener that was started with `tls`. Throws `InvalidCertificateError`, and keeps the
   * current certificate, if the engine cannot load it.
   */
  setCertificate(certificate: Certificate): void;
  /**
   * Drains the listener: replies with `Connection: close`, stops accepting connections after `delayMs`, and closes all sockets when every
   * reply is sent or after another `graceMs`. Resolves with the number of unanswered requests. Idempotent.
   */
  close(graceMs: number, delayMs?: number): Promise<number>;
}

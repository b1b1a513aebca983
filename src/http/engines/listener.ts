import type { Refusal } from '../../domain/outcome.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import type { HeaderText } from './response-head.ts';

/**
 * The HTTP port: what a face may ask of one request, whichever engine carries it. Two adapters stand beside it, and one
 * conformance suite (`test/http/`) runs against both.
 */
export interface RequestContext {
  /** As sent, e.g. `GET`. A HEAD request is answered like GET, without the body. */
  readonly method: string;
  /** The path as sent, undecoded, without the query. */
  readonly path: string;
  /** The query as sent, undecoded, without the question mark; empty when there is none. */
  readonly query: string;
  /** Unique among all requests of all processes; sent back as `X-Request-Id` with every answer. */
  readonly requestId: string;
  /** Returns a request header by its lower-case name, empty when absent. Throws once the handler has returned or awaited. */
  header(lowerCaseName: string): string;
  /**
   * Collects the request body. Call it at most once, before the handler returns. A body over the bound is answered 413 by
   * the listener, one whose client went away is dropped, and one that is still coming at the deadline is answered 503: then
   * `onBodyUnavailable` is called instead. One of the two is called, once. The bytes are valid only during the call of `onBody`.
   */
  readBody(onBody: (body: Buffer) => void | Promise<void>, onNoBody?: () => void): void;
  /**
   * Headers for what the listener answers by itself from now on, such as a 413 or the deadline's 503: a caller is
   * owed them whoever answers. Empty until the face knows them.
   */
  errorHeaders: HeaderText;
  /** Which of the service's routes it came to, for figures and logs: a number the faces agree on. 0 until a face knows it. */
  routeIndex: number;
  /** Who is asking, for the log. Null until the face knows. */
  caller: CallerIds | null;
  /** Sends the answer. Only the first call counts; after an abort or the deadline it does nothing. */
  reply(reply: Reply): void;
  /** True once answered, aborted or past the deadline: whatever is still being computed is wanted by nobody. */
  readonly ended: boolean;
}

/** A caller by numbers; `SqliteKeyDirectory.namesOf` returns the names. */
export interface CallerIds {
  readonly account: number;
  /** Absent where no key is involved. */
  readonly keyNumber?: number;
}

export interface Reply {
  readonly status: number;
  /** Without request id, `nosniff`, length, date and connection, which belong to whoever writes the answer out. */
  readonly headers: HeaderText;
  readonly body: string | Uint8Array;
  /** Of an answer that is an error of the table. */
  readonly refusal?: Refusal;
}

/** A request that was refused, failed or answered, for a log. The method is as sent, so it is nothing to be repeated. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly routeIndex: number;
  readonly caller: CallerIds | null;
  /** Since its head was here. */
  readonly elapsedMs: number;
}

/**
 * Answers one request, now or later. It may throw or reject: the listener answers 500 and reports it. It must not touch
 * `header` or `readBody` after its first await.
 */
export type Handler = (context: RequestContext) => void | Promise<void>;

export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly handler: Handler;
  /** The answer to what the listener refuses by itself: 400 framing, 413, 500, 503 deadline. */
  readonly errorReply: (refusal: Refusal, requestId: string, headers: HeaderText) => Reply;
  /** A handler threw or rejected, or an engine misbehaved: a bug to log, with the id the client was given. */
  readonly onHandlerError: (fault: unknown, request: LoggedRequest) => void;
  /** An answer with a status of 400 or more has been given; also the 500 that follows a fault. */
  readonly onErrorReply?: (request: LoggedRequest, reply: Reply) => void;
  /** Called after an answer with a status below 400; undefined unless such answers are logged. */
  readonly onSuccessReply?: ((request: LoggedRequest, reply: Reply) => void) | undefined;
  /** A request that ran into the deadline, for a metric. */
  readonly onDeadline?: () => void;
  /**
   * Told of every answer once, as it is handed to the engine, with the microseconds since the request's head was here. What
   * the engine refuses by itself is not told: such a request never was an context.
   */
  readonly onReply?: (route: number, status: number, elapsedUs: number) => void;
  readonly bodyBytesMax: number;
  readonly deadlineMs: number;
  /** Serves https; default: http. */
  readonly tls?: { readonly certificate: Certificate; readonly minVersion: TlsVersion } | undefined;
}

export interface Listener {
  readonly engine: 'uws' | 'node';
  /** Which build of the engine runs and why, for the operator. */
  readonly engineReason: string;
  /** The port bound, also when 0 was asked for. */
  readonly port: number;
  /** Requests received whose answers are not fully sent. */
  readonly inFlightCount: number;
  /**
   * Shows this certificate to whoever connects from now on; open connections keep the one they have seen. For a listener that
   * was started with `tls`. Throws `InvalidCertificateError`, and goes on with the one in use, when the engine cannot take it.
   */
  setCertificate(certificate: Certificate): void;
  /**
   * Answers with `Connection: close` from now on, stops accepting connections after `delayMs`, and resolves when every
   * answer is sent or `remainingMs` more have passed; then every socket is closed. Tells how many requests were left
   * without an answer. Idempotent.
   */
  close(graceMs: number, delayMs?: number): Promise<number>;
}

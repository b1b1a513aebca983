import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { bounds } from '../../bounds.ts';
import { type Certificate, InvalidCertificateError, type TlsVersion } from '../../tls/certificate.ts';
import {
  BaseRequestContext,
  BodyBuffer,
  headerReadTooLateMessage,
  type ListenerState,
} from './base-request-context.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import { InFlightRequests, keepAcceptingConnections, UnsentReplies } from './in-flight-requests.ts';
import type { Listener, ListenerOptions, Reply } from './listener.ts';
import { bodyByteLength, isBodyless, responseHead } from './response-head.ts';
import {
  findListenError,
  type LoadedEngine,
  loadNativeEngine,
  type NativeApp,
  type NativeEngine,
} from './uws-engine.ts';

// docs/contributing/native-http.md states when values of the native library are valid.

/**
 * Starts a listener on uWebSockets.js. Rejects with `NativeEngineUnavailableError` if the library cannot be loaded, and with the system's
 * error (`EADDRINUSE`, `EACCES`, ...) if it cannot listen on the address.
 */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  const engine = loadNativeEngine();
  const listener = new UwsListener(options, engine);
  let socket: us_listen_socket | false = false;
  // The exclusive option keeps two servers from sharing a port. The callback runs before `listen` returns.
  listener.acceptor.listen(options.host, options.port, engine.native.LIBUS_LISTEN_EXCLUSIVE_PORT, (listening) => {
    socket = listening;
  });
  if (socket === false) throw await findListenError(options.host, options.port);
  listener.markListening(socket);
  return listener;
}

class UwsListener implements Listener, ListenerState {
  readonly engine = 'uws';
  readonly engineReason: string;
  readonly options: ListenerOptions;
  readonly inFlightRequests = new InFlightRequests();
  readonly deadlines: DeadlineQueue;
  readonly unsentReplies = new UnsentReplies();
  port = 0;
  /** True from the start of the drain: every reply closes its connection. */
  isDraining = false;
  /** Listens. Without TLS it also handles requests; with TLS it passes connections to child apps, whose certificates cannot change. */
  readonly acceptor: NativeApp;
  private readonly native: NativeEngine;
  /** With TLS: an app for each certificate so far, the current one last. A connection stays in its app. */
  private readonly tlsApps: NativeApp[] = [];
  private listenSocket: us_listen_socket | undefined;
  private deadlineTimer: NodeJS.Timeout | undefined;
  private drainResult: Promise<number> | undefined;

  constructor(options: ListenerOptions, { native, reason }: LoadedEngine) {
    this.options = options;
    this.native = native;
    this.engineReason = reason;
    this.deadlines = new DeadlineQueue(options.deadlineMs);
    if (options.tls === undefined) {
      this.acceptor = native.App();
      this.registerHandler(this.acceptor);
    } else {
      this.acceptor = native.SSLApp({});
      this.setCertificate(options.tls.certificate);
    }
  }

  get inFlightCount(): number {
    return this.inFlightRequests.count;
  }

  markListening(listenSocket: us_listen_socket): void {
    this.listenSocket = listenSocket;
    this.port = this.native.us_socket_local_port(listenSocket);
    this.deadlineTimer = setInterval(() => this.deadlines.expire(performance.now()), bounds.deadlineCheckIntervalMs);
  }

  onRequest(res: HttpResponse, req: HttpRequest): void {
    new UwsRequestContext(this, res, req).run();
  }

  setCertificate(certificate: Certificate): void {
    const { tls } = this.options;
    if (tls === undefined) throw new Error('this listener was started without TLS');
    if (this.isDraining) return;
    const previousApp = this.tlsApps.at(-1);
    const app = this.createTlsApp(certificate, tls.minVersion);
    this.registerHandler(app);
    this.tlsApps.push(app);
    this.acceptor.addChildAppDescriptor(app.getDescriptor());
    if (previousApp !== undefined) this.acceptor.removeChildAppDescriptor(previousApp.getDescriptor());
  }

  close(graceMs: number, delayMs = 0): Promise<number> {
    this.drainResult ??= this.drain(graceMs, delayMs);
    return this.drainResult;
  }

  private createTlsApp(certificate: Certificate, minVersion: TlsVersion): NativeApp {
    const { certificateFile, keyFile } = certificate;
    try {
      return this.native.SSLApp({
        cert_file_name: certificateFile,
        key_file_name: keyFile,
        ...(minVersion === '1.3' && { ssl_ciphers: tls13OnlyCiphers }),
      });
    } catch {
      throw new InvalidCertificateError(
        'certificate',
        certificate,
        'a certificate and key that uWebSockets.js can load',
      );
    }
  }

  private registerHandler(app: NativeApp): void {
    app.any('/*', (res, req) => this.onRequest(res, req));
  }

  private async drain(graceMs: number, delayMs: number): Promise<number> {
    this.isDraining = true;
    await keepAcceptingConnections(delayMs);
    if (this.listenSocket !== undefined) this.native.us_listen_socket_close(this.listenSocket);
    const unanswered = await this.inFlightRequests.waitUntilEmpty(graceMs);
    // Closes every socket at once, so it must not run in a callback of the engine. Accepted connections have reached their app by now,
    // since that takes one turn of the event loop.
    for (const app of [this.acceptor, ...this.tlsApps]) app.close();
    clearInterval(this.deadlineTimer);
    return unanswered;
  }
}

/** The engine cannot disable TLS 1.2. These TLS 1.2 ciphers need a pre-shared key, so no client can negotiate it. */
const tls13OnlyCiphers = 'ECDHE-PSK-CHACHA20-POLY1305';

/**
 * The context whose native callback ran last. Its socket may still own the process's single cork buffer, also in the microtasks after the
 * callback. Until it releases the buffer, no other socket can be corked, and each part of a reply written to another socket would be a
 * system call (measured: six times the cost of the whole request).
 */
let corkHolder: UwsRequestContext | undefined;

/** Contexts with something to write or close once no native callback can be running. */
let postponedContexts: UwsRequestContext[] = [];

function postpone(context: UwsRequestContext): void {
  if (postponedContexts.length === 0) setImmediate(runPostponed);
  postponedContexts.push(context);
}

function runPostponed(): void {
  const due = postponedContexts;
  postponedContexts = [];
  corkHolder = undefined;
  for (const context of due) context.resume();
}

/**
 * Requests handled in this turn of the event loop. The engine delivers all requests of one read, up to 512 KB, in one turn; without a limit
 * one connection could delay all others for seconds.
 */
let requestsThisTurn = 0;
/** The counter is reset with one `setImmediate` per this many requests, which costs nothing measurable. */
const turnCheckInterval = bounds.repliesPerTurnMax / 4;

function resetTurnCount(): void {
  requestsThisTurn = 0;
}

// Counted by a module function without a closure, because it is called for every header of a request with a body.
let contentLengthCount = 0;
let transferEncodingCount = 0;
function countFramingHeader(lowerCaseName: string): void {
  if (lowerCaseName === 'content-length') contentLengthCount += 1;
  else if (lowerCaseName === 'transfer-encoding') transferEncodingCount += 1;
}

/**
 * Whether to check, with a reply of this size, that the client reads. The check needs `tryEnd`, which takes 1 us more than `end` (4 % of a
 * request), so it is a random sample with a probability proportional to the size.
 */
function isSampledForReadCheck(bytes: number): boolean {
  return Math.random() * bounds.bytesBetweenReadChecksMean < bytes;
}

const emptyBody = Buffer.alloc(0);

/** `req` is valid while the handler runs, `res` until `release`. */
class UwsRequestContext extends BaseRequestContext<UwsListener> {
  private req: HttpRequest | undefined;
  private res: HttpResponse | undefined;
  /** From Content-Length. */
  private declaredBytes = 0;
  /**
   * The body is chunked. This engine parses a chunk extension as digits of the size and a trailer as the next request, so the end of the
   * body is uncertain. The connection closes after this context, and requests after the body are not handled.
   */
  private isChunked = false;
  /** All chunks were received, and the callback of the last one has returned. */
  private hasAllChunks = false;
  /** `onData` was called. The callback must not be replaced, because that would destroy a running callback. */
  private hasBodyCallback = false;
  private heldReply: { readonly reply: Reply; readonly head: string } | undefined;
  /** The body of a reply that is not fully sent. */
  private unsentBody: Uint8Array | undefined;

  constructor(listener: UwsListener, res: HttpResponse, req: HttpRequest) {
    // The query is declared as a string, but is undefined without a question mark.
    super(listener, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery() ?? '');
    this.res = res;
    this.req = req;
  }

  /** Runs before the engine gets control back. Must not throw, and must reply or register `onAborted`. */
  run(): void {
    corkHolder = this;
    requestsThisTurn += 1;
    if (requestsThisTurn === turnCheckInterval) setImmediate(resetTurnCount);
    this.runHandler();
    this.req = undefined;
    // No abort can arrive before this call returns. An answered context needs no `onAborted`, which saves a twentieth of the cost of a
    // small request.
    if (this.res === undefined) return;
    this.res.onAborted(() => this.release());
    if (!this.ended) this.listener.deadlines.add(this, this.receivedMs);
  }

  override header(lowerCaseName: string): string {
    if (this.req === undefined) throw new Error(headerReadTooLateMessage);
    return this.req.getHeader(lowerCaseName);
  }

  /** Must be called when no native callback can be running. */
  resume(): void {
    const { res, heldReply } = this;
    if (res === undefined) return;
    if (heldReply === undefined) {
      this.closeConnection();
      return;
    }
    this.heldReply = undefined;
    res.cork(() => this.writeToSocket(heldReply.reply, heldReply.head));
  }

  /** `res` must not be used after this call. */
  override release(): void {
    this.res = undefined;
    if (this.unsentBody !== undefined) {
      this.unsentBody = undefined;
      this.listener.unsentReplies.remove(this);
    }
    super.release();
  }

  override closeConnection(): void {
    const { res } = this;
    this.release();
    res?.close();
  }

  protected override get isHandling(): boolean {
    return this.req !== undefined;
  }

  /**
   * This engine uses the first of several lengths and treats any transfer coding as chunked. A proxy may interpret such a request
   * differently, which allows request smuggling.
   *
   * Iterating over the headers takes 0.1 us each, so it is done only for requests that have a body or a method with a body. A GET whose
   * first Content-Length is empty and followed by another one passes; no proxy may forward it.
   */
  protected override findMalformedPart(): 'Content-Length' | 'Transfer-Encoding' | undefined {
    const req = this.req as HttpRequest;
    const length = req.getHeader('content-length');
    const isLookup = this.method === 'GET' || this.method === 'HEAD';
    if (isLookup && length === '' && req.getHeader('transfer-encoding') === '') return undefined;
    contentLengthCount = 0;
    transferEncodingCount = 0;
    req.forEach(countFramingHeader);
    if (transferEncodingCount > 0) {
      this.isChunked = true;
      this.mustDiscardBody = true;
      return this.hasPlainChunkedCoding(transferEncodingCount, contentLengthCount) ? undefined : 'Transfer-Encoding';
    }
    if (contentLengthCount !== (length === '' ? 0 : 1)) return 'Content-Length';
    if (length === '') return undefined;
    // The engine itself replies 400 to an invalid number and drops the handler's reply.
    if (!/^[0-9]{1,18}$/.test(length)) return 'Content-Length';
    this.declaredBytes = Number(length);
    this.isBodyTooLarge = this.declaredBytes > this.listener.options.bodyBytesMax;
    this.mustDiscardBody = this.isBodyTooLarge;
    return undefined;
  }

  protected override collectBody(onBody: (body: Buffer) => void | Promise<void>): void {
    if (this.isChunked) {
      this.collectChunks(onBody);
      return;
    }
    // The engine does not always call `onData` for an empty body.
    if (this.declaredBytes === 0) {
      this.deliverBody(onBody, emptyBody);
      return;
    }
    let body: Buffer | undefined;
    let filled = 0;
    // The engine delivers no more bytes than were declared.
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (this.ended) return;
      if (body === undefined && isLast) {
        this.deliverBody(onBody, Buffer.from(chunk));
        return;
      }
      body ??= Buffer.allocUnsafe(this.declaredBytes);
      body.set(new Uint8Array(chunk), filled);
      filled += chunk.byteLength;
      if (isLast) this.deliverBody(onBody, body);
    });
  }

  /**
   * The engine continues to parse after the last chunk, and after a refused one, even if the socket was closed. So no reply is sent from its
   * callback: until the reply, a further request on this connection makes the engine close it.
   */
  private collectChunks(onBody: (body: Buffer) => void | Promise<void>): void {
    const body = new BodyBuffer(this.listener.options.bodyBytesMax);
    let fits = true;
    this.hasBodyCallback = true;
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (isLast) setImmediate(() => this.finishChunks(onBody, body));
      else if (fits && !this.ended && !body.append(new Uint8Array(chunk))) {
        fits = false;
        setImmediate(() => this.rejectLargeBody());
      }
    });
  }

  private finishChunks(onBody: (body: Buffer) => void | Promise<void>, body: BodyBuffer): void {
    this.hasAllChunks = true;
    this.mustDiscardBody = false;
    if (this.ended) postpone(this);
    else this.deliverBody(onBody, body.bytes);
  }

  protected override writeReply(reply: Reply): void {
    const head = responseHead(reply, this.requestId);
    this.markEnded();
    const { isHandling } = this;
    if (isHandling ? requestsThisTurn > bounds.repliesPerTurnMax : corkHolder !== this && corkHolder !== undefined) {
      this.heldReply = { reply, head };
      postpone(this);
    } else if (isHandling) {
      // The socket is corked while the handler runs.
      this.writeToSocket(reply, head);
    } else {
      this.res?.cork(() => this.writeToSocket(reply, head));
    }
  }

  private writeToSocket(reply: Reply, head: string): void {
    const { res, listener } = this;
    if (res === undefined) return;
    if (this.mustDiscardBody || (this.isChunked && (isBodyless(reply.status) || reply.body.length === 0))) {
      this.writeAndLinger(res, reply, head);
      return;
    }
    if (this.method === 'HEAD' || isBodyless(reply.status) || reply.body.length === 0) {
      this.writeBodyless(res, reply, head);
      return;
    }
    if (listener.isDraining ? bodyByteLength(reply) === 1 : this.isChunked) {
      // The engine closes the connection when the reply is sent. No other reply of this connection can be waiting.
      this.release();
      res.writeStatus(head);
      res.end(reply.body, true);
      return;
    }
    if (listener.isDraining) {
      res.writeStatus(`${head}\r\nConnection: close`);
      // Writes the head with one byte of the body, because build 20.69 would otherwise treat the reply as finished. The engine cannot close
      // after `tryEnd`, so the connection is closed here when all is sent.
      res.tryEnd(toBytes(reply.body).subarray(0, 1), bodyByteLength(reply));
    } else {
      const isCheck = isSampledForReadCheck(head.length + reply.body.length);
      if (!isCheck) this.release();
      // One string for status and headers. A call per header would cost half as much as the service's own work.
      res.writeStatus(head);
      if (!isCheck) {
        res.end(reply.body);
        return;
      }
      if (res.tryEnd(reply.body, 0)[1]) {
        this.release();
        return;
      }
    }
    listener.deadlines.remove(this);
    const body = toBytes(reply.body);
    this.unsentBody = body;
    res.onWritable(() => this.writeMore(res, body));
    this.writeMore(res, body);
  }

  /**
   * Sends as much of the body as the socket accepts. The engine closes the connection if another request arrives before the reply is
   * finished, or if the client reads nothing for 10 seconds.
   *
   * @returns whether all of it was sent
   */
  private writeMore(res: HttpResponse, body: Uint8Array): boolean {
    const isLast = this.listener.isDraining;
    // With a total that is never reached, the engine keeps treating the reply as unfinished.
    const total = isLast ? body.byteLength + 1 : body.byteLength;
    const [sent, finished] = res.tryEnd(body.subarray(res.getWriteOffset()), total);
    if (finished) this.release();
    else if (sent) postpone(this);
    else this.listener.unsentReplies.add(this, body.byteLength - res.getWriteOffset());
    return sent;
  }

  /**
   * Sends a reply without a body. If it is sampled for the read check, it closes the connection, because the engine does not report whether
   * such a reply was sent.
   */
  private writeBodyless(res: HttpResponse, reply: Reply, head: string): void {
    const withLength = isBodyless(reply.status) ? head : `${head}\r\nContent-Length: ${bodyByteLength(reply)}`;
    if (this.listener.isDraining || isSampledForReadCheck(head.length)) {
      // Written as a status, which leaves the reply unfinished: see `writeAndLinger`.
      res.writeStatus(`${withLength}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`);
      postpone(this);
      return;
    }
    this.release();
    res.writeStatus(withLength);
    // The parameters of this call for a length and for closing do not work.
    res.endWithoutBody();
  }

  /**
   * Replies while the client may still be sending a body that is not read. Closing at once would reset the connection, often before the
   * client reads the reply. So the body is discarded until it ends or the deadline passes, and then the connection is closed.
   *
   * The engine keeps the socket only while the reply is unfinished. So the whole reply is written as a status; the line end after a status
   * counts as the last two bytes of the body.
   */
  private writeAndLinger(res: HttpResponse, reply: Reply, head: string): void {
    const length = isBodyless(reply.status) ? '' : `Content-Length: ${bodyByteLength(reply) + 2}\r\n`;
    const headEnd = `${head}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n${length}`;
    const body = toBytes(reply.body);
    const headOnly = this.method === 'HEAD' || isBodyless(reply.status);
    res.writeStatus(headOnly ? headEnd : Buffer.concat([Buffer.from(`${headEnd}\r\n`), body]));
    this.leaveInFlight();
    this.listener.deadlines.add(this, performance.now());
    if (this.hasAllChunks) postpone(this);
    if (this.hasBodyCallback) return;
    res.onData((_chunk, isLast) => {
      corkHolder = this;
      if (isLast) postpone(this);
    });
  }
}

function toBytes(body: Reply['body']): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

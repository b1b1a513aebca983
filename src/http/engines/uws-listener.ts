import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { bounds } from '../../bounds.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import { BaseListener } from './base-listener.ts';
import { BaseRequestContext, BodyBuffer, headerReadTooLateMessage } from './base-request-context.ts';
import type { Listener, ListenerOptions, Reply } from './listener.ts';
import { bodyByteLength, isBodyless, responseHead } from './response-head.ts';
import {
  findListenError,
  type LoadedEngine,
  loadNativeEngine,
  type NativeApp,
  type NativeEngine,
} from './uws-engine.ts';

// docs/contributing/native-http.md states how long the values of the native library are valid.

/**
 * Starts a listener on uWebSockets.js. Rejects with `NativeEngineUnavailableError` if the library cannot be loaded, and with the system
 * error (`EADDRINUSE`, `EACCES`, ...) if the listener cannot listen on the address.
 */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  const listener = new UwsListener(options, loadNativeEngine());
  if (!listener.listen()) throw await findListenError(options.host, options.port);
  return listener;
}

class UwsListener extends BaseListener {
  readonly engine = 'uws';
  private readonly native: NativeEngine;
  /** App that accepts connections. With TLS, it passes each connection to a child app, because an app cannot change its certificate. */
  private readonly acceptor: NativeApp;
  /** Child apps, one for each certificate so far, with the current one last; empty without TLS. A connection stays in its app. */
  private readonly tlsApps: NativeApp[] = [];
  private listenSocket: us_listen_socket | undefined;

  constructor(options: ListenerOptions, { native, reason }: LoadedEngine) {
    super(options, reason);
    this.native = native;
    if (options.tls === undefined) {
      this.acceptor = native.App();
      this.registerHandler(this.acceptor);
    } else {
      this.acceptor = native.SSLApp({});
      this.setCertificate(options.tls.certificate);
    }
  }

  /** Binds the listening socket. Returns false if the address cannot be used. */
  listen(): boolean {
    const { native, options } = this;
    // The exclusive option prevents two servers from sharing a port. The callback runs before `listen` returns.
    this.acceptor.listen(options.host, options.port, native.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) return;
      this.listenSocket = socket;
      this.markListening(native.us_socket_local_port(socket));
    });
    return this.listenSocket !== undefined;
  }

  protected override applyCertificate({ certificateFile, keyFile }: Certificate, minVersion: TlsVersion): void {
    const app = this.native.SSLApp({
      cert_file_name: certificateFile,
      key_file_name: keyFile,
      ...(minVersion === '1.3' && { ssl_ciphers: tls13OnlyCiphers }),
    });
    const previousApp = this.tlsApps.at(-1);
    this.registerHandler(app);
    this.tlsApps.push(app);
    this.acceptor.addChildAppDescriptor(app.getDescriptor());
    if (previousApp !== undefined) this.acceptor.removeChildAppDescriptor(previousApp.getDescriptor());
  }

  protected override stopAccepting(): void {
    if (this.listenSocket !== undefined) this.native.us_listen_socket_close(this.listenSocket);
  }

  protected override closeConnections(): void {
    // `close` closes every socket immediately, so it must not run in a callback of the engine. By now, accepted connections have reached
    // their child app, which takes one turn of the event loop.
    for (const app of [this.acceptor, ...this.tlsApps]) app.close();
  }

  private registerHandler(app: NativeApp): void {
    app.any('/*', (res, req) => new UwsRequestContext(this, res, req).run());
  }
}

/** TLS 1.2 ciphers of a TLS 1.3 listener. The engine cannot disable TLS 1.2, but these ciphers need a pre-shared key that no client has. */
const tls13OnlyCiphers = 'ECDHE-PSK-CHACHA20-POLY1305';

/**
 * The context whose native callback ran last. Its socket may still use the only cork buffer of the process, even in the microtasks after
 * the callback. Until the socket releases the buffer, no other socket can be corked, and each part of a reply on another socket would be
 * a separate system call (measured: six times the cost of the whole request).
 */
let corkHolder: UwsRequestContext | undefined;

/** Contexts that write or close their socket later, when no native callback is running. */
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
 * Number of requests handled in this turn of the event loop. The engine delivers all requests of one read, up to 512 KB, in one turn.
 * Without a limit, one connection could delay all other connections for seconds.
 */
let requestsThisTurn = 0;
/** Number of requests after which a `setImmediate` that resets the counter is scheduled. Its cost is too small to measure. */
const turnCheckInterval = bounds.repliesPerTurnMax / 4;

function resetTurnCount(): void {
  requestsThisTurn = 0;
}

// A module function without a closure counts these headers, because it is called for every header of a request with a body.
let contentLengthCount = 0;
let transferEncodingCount = 0;
function countFramingHeader(lowerCaseName: string): void {
  if (lowerCaseName === 'content-length') contentLengthCount += 1;
  else if (lowerCaseName === 'transfer-encoding') transferEncodingCount += 1;
}

/**
 * Whether to check, with a reply of this size, that the client reads its replies. The check needs `tryEnd`, which takes 1 us longer than
 * `end` (4 % of a request). Therefore it is done for a random sample, with a probability proportional to the size.
 */
function isSampledForReadCheck(bytes: number): boolean {
  return Math.random() * bounds.bytesBetweenReadChecksMean < bytes;
}

const emptyBody = Buffer.alloc(0);

/** Request context of uWebSockets.js. `req` is valid while the handler runs, and `res` until `release`. */
class UwsRequestContext extends BaseRequestContext<UwsListener> {
  private req: HttpRequest | undefined;
  private res: HttpResponse | undefined;
  /** Body size from the Content-Length header. */
  private declaredBytes = 0;
  /**
   * Whether the body is chunked. This engine parses a chunk extension as digits of the size and a trailer as the next request, so it may
   * find a wrong end of the body. Therefore the connection closes after this context, and requests after the body are not handled.
   */
  private isChunked = false;
  /** Whether all chunks were received and the callback of the last chunk has returned. */
  private hasAllChunks = false;
  /** Whether `onData` was called. Another call must not replace the callback, because that would destroy a running callback. */
  private hasBodyCallback = false;
  private heldReply: { readonly reply: Reply; readonly head: string } | undefined;
  /** Body of a reply that is not fully sent. */
  private unsentBody: Uint8Array | undefined;

  constructor(listener: UwsListener, res: HttpResponse, req: HttpRequest) {
    // The query is undefined without a question mark, although its declared type is string.
    super(listener, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery() ?? '');
    this.res = res;
    this.req = req;
  }

  /** Handles the request before the engine regains control. Must not throw, and must reply or register `onAborted`. */
  run(): void {
    corkHolder = this;
    requestsThisTurn += 1;
    if (requestsThisTurn === turnCheckInterval) setImmediate(resetTurnCount);
    this.runHandler();
    this.req = undefined;
    // The client cannot disconnect before this call returns. An answered context needs no `onAborted`, which saves 5 % of the cost of a
    // small request.
    if (this.res === undefined) return;
    this.res.onAborted(() => this.release());
    if (!this.ended) this.listener.deadlines.add(this, this.receivedMs);
  }

  override header(lowerCaseName: string): string {
    if (this.req === undefined) throw new Error(headerReadTooLateMessage);
    return this.req.getHeader(lowerCaseName);
  }

  /** Writes or closes the socket after `postpone`. Must be called when no native callback is running. */
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

  /** Releases the context. `res` must not be used after this call. */
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
   * Checks the headers that determine the end of the body. This engine uses the first of several lengths and treats any transfer coding as
   * chunked. A proxy may interpret such a request differently, which allows request smuggling.
   *
   * Iterating over the headers takes 0.1 us per header, so only requests with a body or with a method that has a body are checked. A GET
   * whose first Content-Length is empty and followed by another Content-Length is accepted. No proxy may forward such a request.
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
    // For an invalid number, the engine itself replies 400 and drops the handler's reply.
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
    // The engine delivers at most the declared number of bytes.
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
   * Collects a chunked body. The engine continues to parse after the last chunk, and after a refused chunk, even if the socket was closed.
   * Therefore no reply is sent from its callback. Until the reply, a further request on this connection makes the engine close the
   * connection.
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
      // The engine closes the connection when the reply is sent. No other reply can be waiting on this connection.
      this.release();
      res.writeStatus(head);
      res.end(reply.body, true);
      return;
    }
    if (listener.isDraining) {
      res.writeStatus(`${head}\r\nConnection: close`);
      // Sends the head with one byte of the body, because build 20.69 would otherwise treat the reply as finished. The engine cannot close
      // after `tryEnd`, so the listener closes the connection when the whole reply is sent.
      res.tryEnd(toBytes(reply.body).subarray(0, 1), bodyByteLength(reply));
    } else {
      const isCheck = isSampledForReadCheck(head.length + reply.body.length);
      if (!isCheck) this.release();
      // Status and headers are one string. One call per header would cost half as much as the service's own work.
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
   * @returns whether the whole body was sent
   */
  private writeMore(res: HttpResponse, body: Uint8Array): boolean {
    const isLast = this.listener.isDraining;
    // With a total size that is never reached, the engine treats the reply as unfinished until the connection closes.
    const total = isLast ? body.byteLength + 1 : body.byteLength;
    const [sent, finished] = res.tryEnd(body.subarray(res.getWriteOffset()), total);
    if (finished) this.release();
    else if (sent) postpone(this);
    else this.listener.unsentReplies.add(this, body.byteLength - res.getWriteOffset());
    return sent;
  }

  /**
   * Sends a reply without a body. If the read check samples this reply, its connection is closed, because the engine does not report
   * whether a reply without a body was sent.
   */
  private writeBodyless(res: HttpResponse, reply: Reply, head: string): void {
    const withLength = isBodyless(reply.status) ? head : `${head}\r\nContent-Length: ${bodyByteLength(reply)}`;
    if (this.listener.isDraining || isSampledForReadCheck(head.length)) {
      // The head is written as a status, which leaves the reply unfinished; see `writeAndLinger`.
      res.writeStatus(`${withLength}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`);
      postpone(this);
      return;
    }
    this.release();
    res.writeStatus(withLength);
    // The parameters of `endWithoutBody` for a length and for closing the connection do not work.
    res.endWithoutBody();
  }

  /**
   * Replies while the client may still be sending a body that the service does not read. Closing the connection immediately would reset
   * it, often before the client reads the reply. Therefore the listener discards the body until the body ends or the deadline passes, and
   * then closes the connection.
   *
   * The engine keeps the socket open only while the reply is unfinished. Therefore the whole reply is written as a status. The engine adds
   * a line break after the status, which counts as the last two bytes of the reply body.
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

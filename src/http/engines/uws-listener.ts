import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { bounds } from '../../bounds.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import { BaseListener } from './base-listener.ts';
import { BaseRequestContext, BodyBuffer, headersUnavailableMessage } from './base-request-context.ts';
import type { Listener, ListenerOptions } from './listener.ts';
import { bodyByteLength, isBodylessStatus, type Reply, responseHead } from './response-head.ts';
import {
  findListenError,
  type ImportedEngine,
  loadNativeEngine,
  type NativeEngine,
  type UwsApp,
} from './uws-engine.ts';

// docs/contributing/native-http.md explains how long `HttpRequest` and `HttpResponse` of uWebSockets.js are valid.

/**
 * Starts a listener that uses uWebSockets.js. Rejects with `NativeEngineUnavailableError` if the library cannot be loaded, and with the
 * system error (`EADDRINUSE`, `EACCES`, ...) if the address cannot be used.
 */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  const listener = new UwsListener(options, loadNativeEngine());
  if (!listener.listen()) throw await findListenError(options);
  return listener;
}

class UwsListener extends BaseListener {
  readonly engine = 'uws';
  private readonly native: NativeEngine;
  /**
   * uWebSockets.js app that accepts the connections. With TLS, this app passes each connection to a child app, because an app cannot change
   * its own certificate.
   */
  private readonly acceptor: UwsApp;
  /**
   * Child apps that serve the TLS connections, one for each certificate since the start. The last child app in the array has the current
   * certificate. After a certificate change, open connections stay with the child app of the earlier certificate.
   */
  private readonly tlsApps: UwsApp[] = [];
  private listenSocket: us_listen_socket | undefined;

  constructor(options: ListenerOptions, { native, reason }: ImportedEngine) {
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
    // By default, uWebSockets.js lets several processes listen on a port. `listen` calls its callback synchronously.
    const listenFlags = options.sharesPort === true ? 0 : native.LIBUS_LISTEN_EXCLUSIVE_PORT;
    this.acceptor.listen(options.host, options.port, listenFlags, (socket) => {
      if (socket === false) return;
      this.listenSocket = socket;
      this.onListening(native.us_socket_local_port(socket));
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
    // `UwsApp.close` closes every socket immediately, so it must not run in a callback of the engine. `close` reaches every connection,
    // because the drain waits for a turn of the event loop, in which the acceptor passes every accepted TLS connection to a child app.
    for (const app of [this.acceptor, ...this.tlsApps]) app.close();
  }

  private registerHandler(app: UwsApp): void {
    app.any('/*', (res, req) => new UwsRequestContext(this, res, req).run());
  }
}

/**
 * Cipher list for a listener that supports only TLS 1.3. uWebSockets.js cannot disable TLS 1.2. The only TLS 1.2 cipher in this list
 * requires a pre-shared key, so no client can use TLS 1.2.
 */
const tls13OnlyCiphers = 'ECDHE-PSK-CHACHA20-POLY1305';

/**
 * Request context whose callback uWebSockets.js called last. The socket of this context may still use the cork buffer, in which
 * uWebSockets.js collects the parts of a reply. A reply on another socket then needs one system call for each part, which makes a request
 * six times as expensive as with the cork buffer.
 */
let corkHolder: UwsRequestContext | undefined;

/** Requests for which `runPostponed` will send the reply or close the connection. */
let postponedContexts: UwsRequestContext[] = [];

function postpone(context: UwsRequestContext): void {
  if (postponedContexts.length === 0) setImmediate(runPostponed);
  postponedContexts.push(context);
}

function runPostponed(): void {
  const due = postponedContexts;
  postponedContexts = [];
  corkHolder = undefined;
  for (const context of due) context.sendPostponedReply();
}

/**
 * Number of requests handled in this turn of the event loop. The engine parses up to 512 KB from one connection in one turn of the event
 * loop. Without a limit on the number of requests, one connection could delay all other connections for seconds.
 */
let requestsThisTurn = 0;
/** Value of `requestsThisTurn` at which the listener schedules a reset of `requestsThisTurn` for the end of the turn. */
const turnCheckInterval = bounds.repliesPerTurnMax / 4;

function resetTurnCount(): void {
  requestsThisTurn = 0;
}

// Numbers of three headers of a request, counted without creating a closure for each request.
let contentLengthCount = 0;
let transferEncodingCount = 0;
let idempotencyKeyCount = 0;
function countHeader(lowerCaseName: string): void {
  if (lowerCaseName === 'content-length') contentLengthCount += 1;
  else if (lowerCaseName === 'transfer-encoding') transferEncodingCount += 1;
  else if (lowerCaseName === 'idempotency-key') idempotencyKeyCount += 1;
}

/**
 * Decides at random whether to check that the client reads a reply. The probability of a read check is proportional to the size of the
 * reply. A read check increases the cost of a request by 4 %, because `tryEnd` takes 1 us longer than `end`.
 */
function isSampledForReadCheck(bytes: number): boolean {
  return Math.random() * bounds.bytesBetweenReadChecksMean < bytes;
}

const emptyBody = Buffer.alloc(0);

/** Request context of uWebSockets.js. `req` is valid until the handler returns or awaits, `res` until `releaseResources`. */
class UwsRequestContext extends BaseRequestContext<UwsListener> {
  /** Always false for GET and HEAD requests without a body, whose headers are not counted. */
  hasIdempotencyKey = false;
  private req: HttpRequest | undefined;
  private res: HttpResponse | undefined;
  /** Value of the Content-Length header; 0 if absent. */
  private declaredBytes = 0;
  /**
   * Whether the body is chunked. The connection closes after the reply to a chunked request, because uWebSockets.js cannot parse chunk
   * extensions and trailers and may find the wrong end of the body.
   */
  private isChunked = false;
  /** Whether the last chunk was received and its `onData` callback has returned. */
  private hasAllChunks = false;
  /** Whether `onData` was called. A second call of `onData` would destroy the first callback, even while the first callback runs. */
  private hasBodyCallback = false;
  private heldReply: { readonly reply: Reply; readonly head: string } | undefined;
  /** Body of a reply that is not completely sent; undefined otherwise. */
  private unsentBody: Uint8Array | undefined;

  constructor(listener: UwsListener, res: HttpResponse, req: HttpRequest) {
    // `getQuery` returns undefined for a URL without a question mark, although its declared type is string.
    super(listener, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery() ?? '');
    this.res = res;
    this.req = req;
  }

  /** Handles the request in a callback of the engine. This method must reply or register `onAborted`, and must not throw. */
  run(): void {
    corkHolder = this;
    requestsThisTurn += 1;
    if (requestsThisTurn === turnCheckInterval) setImmediate(resetTurnCount);
    this.runHandler();
    this.req = undefined;
    // The engine reports a disconnect only after `run` has returned. If the reply is already sent, `onAborted` is not registered, which
    // saves 5 % of the cost of a small request.
    if (this.res === undefined) return;
    this.res.onAborted(() => this.releaseResources());
    if (!this.ended) this.listener.deadlines.add(this, this.receivedMs);
  }

  override getRequestHeader(lowerCaseName: string): string {
    if (this.req === undefined) throw new Error(headersUnavailableMessage);
    return this.req.getHeader(lowerCaseName);
  }

  override getPeerAddress(): string {
    if (this.req === undefined) throw new Error(headersUnavailableMessage);
    return this.res === undefined ? '' : Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  /** Sends the postponed reply, or closes the socket if no reply was postponed. Must not be called in a callback of uWebSockets.js. */
  sendPostponedReply(): void {
    const { res, heldReply } = this;
    if (res === undefined) return;
    if (heldReply === undefined) {
      this.closeConnection();
      return;
    }
    this.heldReply = undefined;
    res.cork(() => this.writeToSocket(heldReply.reply, heldReply.head));
  }

  /** Releases the resources of the request. After the release, `res` of uWebSockets.js must not be used. */
  override releaseResources(): void {
    this.res = undefined;
    if (this.unsentBody !== undefined) {
      this.unsentBody = undefined;
      this.listener.unsentReplies.remove(this);
    }
    super.releaseResources();
  }

  override closeConnection(): void {
    const { res } = this;
    this.releaseResources();
    res?.close();
  }

  // `unsentReplies` contains only replies that `tryEnd` could not send completely.
  override get isStalled(): boolean {
    return true;
  }

  protected override get isHandling(): boolean {
    return this.req !== undefined;
  }

  /**
   * Checks the headers that determine the end of the body. If a request has several `Content-Length` headers, the engine uses the first.
   * The engine treats every transfer coding, such as gzip, as chunked. If a proxy and the engine interpret a header differently, request
   * smuggling is possible.
   *
   * The headers of GET and HEAD requests without a body are not counted, because iterating over the headers takes 0.1 us per header. A GET
   * request with two `Content-Length` headers is accepted if the first header is empty. A conforming proxy never forwards such a request.
   */
  protected override findMalformedPart(): 'Content-Length' | 'Transfer-Encoding' | undefined {
    const req = this.req as HttpRequest;
    const length = req.getHeader('content-length');
    const isLookup = this.method === 'GET' || this.method === 'HEAD';
    if (isLookup && length === '' && req.getHeader('transfer-encoding') === '') return undefined;
    contentLengthCount = 0;
    transferEncodingCount = 0;
    idempotencyKeyCount = 0;
    req.forEach(countHeader);
    this.hasIdempotencyKey = idempotencyKeyCount > 0;
    if (transferEncodingCount > 0) {
      this.isChunked = true;
      this.mustDiscardBody = true;
      return this.hasUnambiguousChunkedCoding(transferEncodingCount, contentLengthCount)
        ? undefined
        : 'Transfer-Encoding';
    }
    if (contentLengthCount !== (length === '' ? 0 : 1)) return 'Content-Length';
    if (length === '') return undefined;
    // If Content-Length is invalid, the handler is not called, because the engine itself replies 400 and would drop the handler's reply.
    if (!/^[0-9]{1,18}$/.test(length)) return 'Content-Length';
    this.declaredBytes = Number(length);
    this.isBodyTooLarge = this.declaredBytes > this.listener.options.bodyBytesMax;
    this.mustDiscardBody = this.isBodyTooLarge;
    return undefined;
  }

  protected override collectBody(onBody: (body: Buffer) => void | Promise<void>): void {
    if (this.isChunked) {
      this.collectBodyChunks(onBody);
      return;
    }
    // `onData` is not used for an empty body, because the engine does not always call the callback of `onData` if the body is empty.
    if (this.declaredBytes === 0) {
      this.passBodyToHandler(onBody, emptyBody);
      return;
    }
    let body: Buffer | undefined;
    let filled = 0;
    // The engine never delivers more bytes than `Content-Length`.
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (this.ended) return;
      if (body === undefined && isLast) {
        this.passBodyToHandler(onBody, Buffer.from(chunk));
        return;
      }
      body ??= Buffer.allocUnsafe(this.declaredBytes);
      body.set(new Uint8Array(chunk), filled);
      filled += chunk.byteLength;
      if (isLast) this.passBodyToHandler(onBody, body);
    });
  }

  /**
   * Collects a chunked body. The `onData` callback must not send a reply, because the engine continues to parse after the callback, even if
   * the reply has closed the socket. If another request arrives before the reply, the engine closes the connection.
   */
  private collectBodyChunks(onBody: (body: Buffer) => void | Promise<void>): void {
    const body = new BodyBuffer(this.listener.options.bodyBytesMax);
    let fits = true;
    this.hasBodyCallback = true;
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (isLast) setImmediate(() => this.finishChunkedBody(onBody, body));
      else if (fits && !this.ended && !body.append(new Uint8Array(chunk))) {
        fits = false;
        setImmediate(() => this.rejectLargeBody());
      }
    });
  }

  private finishChunkedBody(onBody: (body: Buffer) => void | Promise<void>, body: BodyBuffer): void {
    this.hasAllChunks = true;
    this.mustDiscardBody = false;
    if (this.ended) postpone(this);
    else this.passBodyToHandler(onBody, body.receivedBody);
  }

  protected override writeReply(reply: Reply): void {
    const head = responseHead(reply, this.requestId);
    this.markRequestEnded();
    const { isHandling } = this;
    if (isHandling ? requestsThisTurn > bounds.repliesPerTurnMax : corkHolder !== this && corkHolder !== undefined) {
      this.heldReply = { reply, head };
      postpone(this);
    } else if (isHandling) {
      // While the handler runs, the engine has already corked the socket, so calling `cork` is unnecessary.
      this.writeToSocket(reply, head);
    } else {
      this.res?.cork(() => this.writeToSocket(reply, head));
    }
  }

  private writeToSocket(reply: Reply, head: string): void {
    const { res, listener } = this;
    if (res === undefined) return;
    if (this.mustDiscardBody || (this.isChunked && (isBodylessStatus(reply.status) || reply.body.length === 0))) {
      this.writeWithLingeringClose(res, reply, head);
      return;
    }
    if (this.method === 'HEAD' || isBodylessStatus(reply.status) || reply.body.length === 0) {
      this.writeReplyWithoutBody(res, reply, head);
      return;
    }
    if (listener.isDraining ? bodyByteLength(reply) === 1 : this.isChunked) {
      // The second argument of `end` closes the connection after the reply. No other request of the connection is pending.
      this.releaseResources();
      res.writeStatus(head);
      res.end(reply.body, true);
      return;
    }
    if (listener.isDraining) {
      res.writeStatus(`${head}\r\nConnection: close`);
      // Sends only one byte of the body with the head: if the whole body were sent, uWebSockets.js 20.69 would treat the reply as finished.
      // The listener itself closes the connection when the whole reply is sent, because `tryEnd` cannot close the connection.
      res.tryEnd(toBytes(reply.body).subarray(0, 1), bodyByteLength(reply));
    } else {
      const isCheck = isSampledForReadCheck(head.length + reply.body.length);
      if (!isCheck) this.releaseResources();
      // The status and all headers are passed as one string, because an engine call for each header would increase the service's own time
      // for a request by half.
      res.writeStatus(head);
      if (!isCheck) {
        res.end(reply.body);
        return;
      }
      if (res.tryEnd(reply.body, 0)[1]) {
        this.releaseResources();
        return;
      }
    }
    listener.deadlines.remove(this);
    const body = toBytes(reply.body);
    this.unsentBody = body;
    res.onWritable(() => this.writeRemainingBody(res, body));
    this.writeRemainingBody(res, body);
  }

  /**
   * Sends as much of the response body as the socket accepts. The engine closes the connection if another request arrives before the reply
   * is complete, or if the client reads nothing for 10 seconds.
   *
   * @returns whether the whole body was sent
   */
  private writeRemainingBody(res: HttpResponse, body: Uint8Array): boolean {
    const isLast = this.listener.isDraining;
    // During a drain, `total` is one byte more than the body, so that the reply stays unfinished until the connection closes.
    const total = isLast ? body.byteLength + 1 : body.byteLength;
    const [sent, finished] = res.tryEnd(body.subarray(res.getWriteOffset()), total);
    if (finished) this.releaseResources();
    else if (sent) postpone(this);
    else this.listener.unsentReplies.add(this, body.byteLength - res.getWriteOffset());
    return sent;
  }

  /**
   * Sends a reply without a body. If `isSampledForReadCheck` selects this reply, the connection is closed after the reply, because the
   * engine cannot report whether the client has read a reply without a body.
   */
  private writeReplyWithoutBody(res: HttpResponse, reply: Reply, head: string): void {
    const withLength = isBodylessStatus(reply.status) ? head : `${head}\r\nContent-Length: ${bodyByteLength(reply)}`;
    if (this.listener.isDraining || isSampledForReadCheck(head.length)) {
      // Does not call `end`, so that the engine keeps the socket open until `sendPostponedReply` closes the connection.
      res.writeStatus(`${withLength}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`);
      postpone(this);
      return;
    }
    this.releaseResources();
    res.writeStatus(withLength);
    res.endWithoutBody();
  }

  /**
   * Sends a reply while the client may still be sending a body that the service does not read. Closing the connection immediately would
   * reset the connection, often before the client reads the reply. The listener closes the connection when the rest of the body is received
   * or the deadline passes.
   *
   * The whole reply is sent with `writeStatus`, so the engine expects more data and keeps the socket open. `writeStatus` appends a line
   * break after the body, and the Content-Length includes these two bytes.
   */
  private writeWithLingeringClose(res: HttpResponse, reply: Reply, head: string): void {
    const length = isBodylessStatus(reply.status) ? '' : `Content-Length: ${bodyByteLength(reply) + 2}\r\n`;
    const headEnd = `${head}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n${length}`;
    const body = toBytes(reply.body);
    const headOnly = this.method === 'HEAD' || isBodylessStatus(reply.status);
    res.writeStatus(headOnly ? headEnd : Buffer.concat([Buffer.from(`${headEnd}\r\n`), body]));
    this.removeFromInFlight();
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

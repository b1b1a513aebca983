import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
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

// The only file that touches the native library. docs/native-http.md holds its contract: which of its values is valid when.

/** The native library cannot be loaded on this machine: no binary for its platform, C library or Node.js version. */
export class NativeEngineUnavailableError extends Error {}

/** What we use of the library, with what its own declarations leave out: host and options, child apps, and `_cfg`. */
interface NativeEngine {
  App(): NativeApp;
  SSLApp(options: TlsAppOptions): NativeApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(setting: 'silent'): void;
}

interface TlsAppOptions {
  readonly cert_file_name?: string;
  readonly key_file_name?: string;
  readonly ssl_ciphers?: string;
}

interface NativeApp {
  any(pattern: string, handler: (res: HttpResponse, req: HttpRequest) => void): NativeApp;
  listen(host: string, port: number, options: number, listening: (socket: us_listen_socket | false) => void): NativeApp;
  getDescriptor(): unknown;
  /** Connections this app accepts are handed to its child apps in turn, before a byte of them is read. */
  addChildAppDescriptor(descriptor: unknown): NativeApp;
  removeChildAppDescriptor(descriptor: unknown): NativeApp;
  close(): void;
}

/**
 * Serves on uWebSockets.js. Rejects with {@link NativeEngineUnavailableError} when the library cannot be loaded, and with the
 * system's error (`EADDRINUSE`, `EACCES`, ...) when the address cannot be listened on.
 */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  const engine = loadNativeEngine();
  const listener = new UwsListener(options, engine);
  let socket: us_listen_socket | false = false;
  // Without the exclusive option two servers could share a port unnoticed. The callback runs before `listen` returns.
  listener.acceptor.listen(options.host, options.port, engine.native.LIBUS_LISTEN_EXCLUSIVE_PORT, (listening) => {
    socket = listening;
  });
  if (socket === false) throw await findListenError(options.host, options.port);
  listener.markListening(socket);
  return listener;
}

/** The library, and in words which build of it this is and why. */
interface LoadedEngine {
  readonly native: NativeEngine;
  readonly reason: string;
}

const require = createRequire(import.meta.url);

/** The builds of the library that package.json installs, newest first. docs/native-http.md lists where each one loads. */
const engineBuilds: readonly { readonly version: string; readonly load: () => unknown }[] = [
  { version: '20.69.0', load: () => require('uWebSockets.js-glibc-2.38') },
  { version: '20.51.4', load: () => require('uWebSockets.js') },
];

let loadedEngine: LoadedEngine | undefined;

/**
 * Loads the newest build that this machine can load, once for the process. Throws {@link NativeEngineUnavailableError}, which names the
 * reason for each build, when there is none.
 */
export function loadNativeEngine(): LoadedEngine {
  loadedEngine ??= withEnvironmentVariable(
    'UWS_HTTP_MAX_HEADERS_SIZE',
    String(bounds.requestHeadBytesMax),
    loadNewestEngineBuild,
  );
  return loadedEngine;
}

function loadNewestEngineBuild(): LoadedEngine {
  const faults: string[] = [];
  for (const { version, load } of engineBuilds) {
    try {
      const native = load() as NativeEngine;
      native._cfg('silent');
      return { native, reason: [`uWebSockets.js ${version} loaded`, ...faults].join('; ') };
    } catch (fault) {
      faults.push(`uWebSockets.js ${version} cannot be loaded: ${loaderMessage(fault)}`);
    }
  }
  throw new NativeEngineUnavailableError(faults.join('; '));
}

/** The library puts a sentence of its own, which never names the cause, and a blank line before the message of the loader. */
function loaderMessage(fault: unknown): string {
  const message = fault instanceof Error ? fault.message : String(fault);
  return message
    .replace(/^.*\n\n/s, '')
    .replace(/^Error: /, '')
    .replace(/\n.*$/s, '');
}

/**
 * Calls `load` with a variable in the environment, which the library reads once, while its binary is loaded, and then restores the
 * environment. All of it is synchronous, so a program that embeds the service never sees the variable.
 */
function withEnvironmentVariable<Result>(name: string, value: string, load: () => Result): Result {
  const before = process.env[name];
  process.env[name] = value;
  try {
    return load();
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
}

/** The library says only that it failed, so the system is asked again in a way that tells the reason. */
async function findListenError(host: string, port: number): Promise<unknown> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (reason) {
    return reason;
  }
  server.close();
  return new Error(`the HTTP engine could not listen on ${host}:${port}`);
}

class UwsListener implements Listener, ListenerState {
  readonly engine = 'uws';
  readonly engineReason: string;
  readonly options: ListenerOptions;
  readonly inFlightRequests = new InFlightRequests();
  readonly deadlines: DeadlineQueue;
  readonly unsentReplies = new UnsentReplies();
  port = 0;
  /** Set for good when the drain begins: every answer from then on ends its connection. */
  isDraining = false;
  /** Listens. Without TLS it also serves; with TLS, where an app's certificate is for good, it hands connections over. */
  readonly acceptor: NativeApp;
  private readonly native: NativeEngine;
  /** With TLS: an app for each certificate there was, the one in use last. Connections live in the app that got them. */
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
    const former = this.tlsApps.at(-1);
    const app = this.createTlsApp(certificate, tls.minVersion);
    this.registerHandler(app);
    this.tlsApps.push(app);
    this.acceptor.addChildAppDescriptor(app.getDescriptor());
    if (former !== undefined) this.acceptor.removeChildAppDescriptor(former.getDescriptor());
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
      throw new InvalidCertificateError('certificate', certificate, 'one that uWebSockets.js can load with its key');
    }
  }

  private registerHandler(app: NativeApp): void {
    app.any('/*', (res, req) => this.onRequest(res, req));
  }

  private async drain(remainingMs: number, delayMs: number): Promise<number> {
    this.isDraining = true;
    await keepAcceptingConnections(delayMs);
    if (this.listenSocket !== undefined) this.native.us_listen_socket_close(this.listenSocket);
    const unanswered = await this.inFlightRequests.waitUntilEmpty(remainingMs);
    // Closes every socket at once, so it must not be called from within a callback of the engine; here we never are. What
    // was accepted has reached its app by now, since that takes one turn of the event loop.
    for (const app of [this.acceptor, ...this.tlsApps]) app.close();
    clearInterval(this.deadlineTimer);
    return unanswered;
  }
}

/** The engine has no setting for the oldest protocol, TLS 1.2. These ciphers of it need a shared key, which nobody has. */
const tls13OnlyCiphers = 'ECDHE-PSK-CHACHA20-POLY1305';

/**
 * The context whose native callback was entered last. Its socket may still hold the one cork buffer of the process, also
 * in the microtasks after the callback; while it does, no other socket can be corked, and each piece of an answer written
 * to one would be a system call of its own (measured: six times the cost of the whole request).
 */
let corkHolder: UwsRequestContext | undefined;

/** Request contexts with something to write or to close as soon as no native callback can be running. */
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
 * Requests handled since the event loop was last seen to turn. The engine hands over all requests of one read, up to 512 KB, in one
 * turn; without a bound one connection could keep everybody else waiting for seconds.
 */
let requestsThisTurn = 0;
/** Checks for a turn are rare enough to cost nothing, and early enough for the bound to count those of one turn. */
const turnCheckInterval = bounds.repliesPerTurnMax / 4;

function resetTurnCount(): void {
  requestsThisTurn = 0;
}

// Counted by one static function, since a request with a body calls it for every header it has.
let contentLengthCount = 0;
let transferEncodingCount = 0;
function countFramingHeader(lowerCaseName: string): void {
  if (lowerCaseName === 'content-length') contentLengthCount += 1;
  else if (lowerCaseName === 'transfer-encoding') transferEncodingCount += 1;
}

/**
 * Whether to check with an answer of this size if the client reads. `tryEnd`, which tells, costs 1 us more than `end`, 4 % of a request.
 * So it is left to chance, which is fair to small answers and certain for large ones.
 */
function isSampledForReadCheck(bytes: number): boolean {
  return Math.random() * bounds.bytesBetweenReadChecksMean < bytes;
}

const emptyBody = Buffer.alloc(0);

/** One request on the native engine. `req` is ours while handling, `res` until released. */
class UwsRequestContext extends BaseRequestContext<UwsListener> {
  private req: HttpRequest | undefined;
  private res: HttpResponse | undefined;
  /** From Content-Length. */
  private declaredBytes = 0;
  /**
   * The body comes in chunks. This engine takes a chunk extension for digits of the size and a trailer for the next request, so where
   * such a body ends is not certain: the connection ends with this context, and nothing behind the body is carried out.
   */
  private isChunked = false;
  /** All chunks are here, and the callback that brought the last one has returned. */
  private hasAllChunks = false;
  /** The engine has a callback for the body. It cannot be replaced: the one that is running would be destroyed. */
  private hasBodyCallback = false;
  private heldReply: { readonly reply: Reply; readonly head: string } | undefined;
  /** The body of an answer that is not fully sent. */
  private unsentBody: Uint8Array | undefined;

  constructor(listener: UwsListener, res: HttpResponse, req: HttpRequest) {
    // The query is declared a string, and undefined when there is no question mark.
    super(listener, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery() ?? '');
    this.res = res;
    this.req = req;
  }

  /** Everything that happens before the engine gets control back. It must not throw, and must leave `res` answered or watched. */
  run(): void {
    corkHolder = this;
    requestsThisTurn += 1;
    if (requestsThisTurn === turnCheckInterval) setImmediate(resetTurnCount);
    this.runHandler();
    this.req = undefined;
    // No abort can reach us before here, since the engine is waiting for this very call; and an context already answered
    // needs no watching. That is a twentieth of a small request's cost.
    if (this.res === undefined) return;
    this.res.onAborted(() => this.release());
    if (!this.ended) this.listener.deadlines.add(this, this.receivedMs);
  }

  override header(lowerCaseName: string): string {
    if (this.req === undefined) throw new Error(headerReadTooLateMessage);
    return this.req.getHeader(lowerCaseName);
  }

  /** Called when no native callback can be running. */
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

  /** From here on `res` is the engine's alone. */
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
   * The header that leaves doubt about where the body ends, if any. This engine would take the first of several lengths
   * and any transfer coding for chunked, where a proxy before us may have read otherwise: that is how requests are smuggled.
   *
   * Going over all headers costs 0.1 us each, so it is left to requests that have a body or a method made for one. A GET
   * whose first Content-Length is empty and followed by another passes; no proxy may forward such a thing.
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
    // The engine answers 400 to what it takes for no number, in place of whatever we wrote; the handler must not see it.
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
    // The engine does not always announce a body without bytes.
    if (this.declaredBytes === 0) {
      this.deliverBody(onBody, emptyBody);
      return;
    }
    let gathered: Buffer | undefined;
    let filled = 0;
    // The engine hands over no more than was declared, so the bound holds without counting.
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (this.ended) return;
      if (gathered === undefined && isLast) {
        this.deliverBody(onBody, Buffer.from(chunk));
        return;
      }
      gathered ??= Buffer.allocUnsafe(this.declaredBytes);
      gathered.set(new Uint8Array(chunk), filled);
      filled += chunk.byteLength;
      if (isLast) this.deliverBody(onBody, gathered);
    });
  }

  /**
   * The engine reads on behind the last chunk, and behind one that is refused, whatever becomes of the socket meanwhile. So nothing is
   * answered from within its callback: until then a further request on this connection makes the engine close it.
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
      // The engine corks the socket while the handler runs.
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
      // The engine closes the connection when all is sent; no other answer of this connection can wait behind this one.
      this.release();
      res.writeStatus(head);
      res.end(reply.body, true);
      return;
    }
    if (listener.isDraining) {
      res.writeStatus(`${head}\r\nConnection: close`);
      // Writes the head; without a byte of the body build 20.69 would regard the answer as finished. The engine has no way to close after
      // `tryEnd`, so the connection is closed here when all is sent.
      res.tryEnd(toBytes(reply.body).subarray(0, 1), bodyByteLength(reply));
    } else {
      const isCheck = isSampledForReadCheck(head.length + reply.body.length);
      if (!isCheck) this.release();
      // One string for status and headers: a call for each header costs half as much as all of our own work.
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
   * Sends as much of the body as the socket takes. The engine closes the connection when another request arrives before the answer is
   * finished, and when the client reads nothing for 10 seconds.
   *
   * @returns whether all of it was sent
   */
  private writeMore(res: HttpResponse, body: Uint8Array): boolean {
    const isLast = this.listener.isDraining;
    // With a total that is never reached the engine goes on to regard the answer as unfinished.
    const total = isLast ? body.byteLength + 1 : body.byteLength;
    const [sent, finished] = res.tryEnd(body.subarray(res.getWriteOffset()), total);
    if (finished) this.release();
    else if (sent) postpone(this);
    else this.listener.unsentReplies.add(this, body.byteLength - res.getWriteOffset());
    return sent;
  }

  /**
   * Sends an answer without a body. Where it would be a check of whether the client reads, it is the last answer of its connection, since
   * no call of the engine reports whether such an answer was sent.
   */
  private writeBodyless(res: HttpResponse, reply: Reply, head: string): void {
    const withLength = isBodyless(reply.status) ? head : `${head}\r\nContent-Length: ${bodyByteLength(reply)}`;
    if (this.listener.isDraining || isSampledForReadCheck(head.length)) {
      // All of it is written as a status, which leaves the answer unfinished: see `writeAndLinger`.
      res.writeStatus(`${withLength}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n`);
      postpone(this);
      return;
    }
    this.release();
    res.writeStatus(withLength);
    // This call takes no length and no wish to close without going wrong.
    res.endWithoutBody();
  }

  /**
   * Answers while the client may still be sending a body that nobody will read. Closing at once would reset the
   * connection and often destroy the answer before it is read, so the body is let go by until it ends or the deadline
   * passes, and then the connection is closed.
   *
   * The engine keeps a socket for us only while it believes the answer unfinished. So all of the answer is written as if
   * it were a status; the line end that follows a status is counted as the body's last two bytes.
   */
  private writeAndLinger(res: HttpResponse, reply: Reply, head: string): void {
    const length = isBodyless(reply.status) ? '' : `Content-Length: ${bodyByteLength(reply) + 2}\r\n`;
    const ended = `${head}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n${length}`;
    const body = toBytes(reply.body);
    const headOnly = this.method === 'HEAD' || isBodyless(reply.status);
    res.writeStatus(headOnly ? ended : Buffer.concat([Buffer.from(`${ended}\r\n`), body]));
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

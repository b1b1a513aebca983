import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { bounds } from '../bounds.ts';
import { type Certificate, CertificateFaulty, type TlsVersion } from '../tls/certificate.ts';
import { acceptedFor } from './accepted-for.ts';
import { BodyBuffer } from './body-buffer.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import { EngineExchange, type ExchangeListener, headerTooLate } from './engine-exchange.ts';
import { InFlight } from './in-flight.ts';
import type { Listener, ListenerOptions, Reply } from './listener.ts';
import { bodyBytes, headText, isBodyless } from './reply-text.ts';
import { UnsentAnswers } from './unsent-answers.ts';

// The only file that touches the native library. docs/contributing/native-http.md holds its contract: which of its values is valid when.

/** The native library cannot be loaded on this machine: no binary for its platform, C library or Node.js version. */
export class NativeEngineUnavailable extends Error {}

/** What we use of the library, with what its own declarations leave out: host and options, child apps, and `_cfg`. */
interface NativeEngine {
  App(): NativeApp;
  SSLApp(options: SecureOptions): NativeApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg(setting: 'silent'): void;
}

interface SecureOptions {
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
 * Serves on uWebSockets.js. Rejects with {@link NativeEngineUnavailable} when the library cannot be loaded, and with the
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
  if (socket === false) throw await whyNotListening(options.host, options.port);
  listener.opened(socket);
  return listener;
}

/** The library, and in words which build of it this is and why. */
interface LoadedEngine {
  readonly native: NativeEngine;
  readonly reason: string;
}

const require = createRequire(import.meta.url);

/** The builds of the library that package.json installs, newest first. docs/contributing/native-http.md lists where each one loads. */
const builds: readonly { readonly version: string; readonly load: () => unknown }[] = [
  { version: '20.69.0', load: () => require('uWebSockets.js-glibc-2.38') },
  { version: '20.51.4', load: () => require('uWebSockets.js') },
];

let loaded: LoadedEngine | undefined;

/**
 * Loads the newest build that this machine can load, once for the process. Throws {@link NativeEngineUnavailable}, which names the
 * reason for each build, when there is none.
 */
export function loadNativeEngine(): LoadedEngine {
  loaded ??= withEnvironment('UWS_HTTP_MAX_HEADERS_SIZE', String(bounds.headBytesMax), loadNewestBuild);
  return loaded;
}

function loadNewestBuild(): LoadedEngine {
  const faults: string[] = [];
  for (const { version, load } of builds) {
    try {
      const native = load() as NativeEngine;
      native._cfg('silent');
      return { native, reason: [`uWebSockets.js ${version} loaded`, ...faults].join('; ') };
    } catch (fault) {
      faults.push(`uWebSockets.js ${version} cannot be loaded: ${loaderMessage(fault)}`);
    }
  }
  throw new NativeEngineUnavailable(faults.join('; '));
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
function withEnvironment<Result>(name: string, value: string, load: () => Result): Result {
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
async function whyNotListening(host: string, port: number): Promise<unknown> {
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

class UwsListener implements Listener, ExchangeListener {
  readonly engine = 'uws';
  readonly engineReason: string;
  readonly options: ListenerOptions;
  readonly requests = new InFlight();
  readonly deadlines: DeadlineQueue;
  readonly unsent = new UnsentAnswers();
  port = 0;
  /** Set for good when the drain begins: every answer from then on ends its connection. */
  draining = false;
  /** Listens. Without TLS it also serves; with TLS, where an app's certificate is for good, it hands connections over. */
  readonly acceptor: NativeApp;
  private readonly native: NativeEngine;
  /** With TLS: an app for each certificate there was, the one in use last. Connections live in the app that got them. */
  private readonly secureApps: NativeApp[] = [];
  private socket: us_listen_socket | undefined;
  private deadlineCheck: NodeJS.Timeout | undefined;
  private closed: Promise<number> | undefined;

  constructor(options: ListenerOptions, { native, reason }: LoadedEngine) {
    this.options = options;
    this.native = native;
    this.engineReason = reason;
    this.deadlines = new DeadlineQueue(options.deadlineMs);
    if (options.tls === undefined) {
      this.acceptor = native.App();
      this.routeAll(this.acceptor);
    } else {
      this.acceptor = native.SSLApp({});
      this.useCertificate(options.tls.certificate);
    }
  }

  get inFlight(): number {
    return this.requests.count;
  }

  opened(socket: us_listen_socket): void {
    this.socket = socket;
    this.port = this.native.us_socket_local_port(socket);
    this.deadlineCheck = setInterval(() => this.deadlines.expire(performance.now()), bounds.deadlineCheckMs);
  }

  serve(res: HttpResponse, req: HttpRequest): void {
    new UwsExchange(this, res, req).run();
  }

  useCertificate(certificate: Certificate): void {
    const { tls } = this.options;
    if (tls === undefined) throw new Error('this listener was started without TLS');
    if (this.draining) return;
    const former = this.secureApps.at(-1);
    const app = this.secureApp(certificate, tls.minVersion);
    this.routeAll(app);
    this.secureApps.push(app);
    this.acceptor.addChildAppDescriptor(app.getDescriptor());
    if (former !== undefined) this.acceptor.removeChildAppDescriptor(former.getDescriptor());
  }

  close(graceMs: number, delayMs = 0): Promise<number> {
    this.closed ??= this.drain(graceMs, delayMs);
    return this.closed;
  }

  private secureApp(certificate: Certificate, minVersion: TlsVersion): NativeApp {
    const { certificateFile, keyFile } = certificate;
    try {
      return this.native.SSLApp({
        cert_file_name: certificateFile,
        key_file_name: keyFile,
        ...(minVersion === '1.3' && { ssl_ciphers: noCipherOfTls12 }),
      });
    } catch {
      throw new CertificateFaulty('certificate', certificate, 'one that uWebSockets.js can load with its key');
    }
  }

  private routeAll(app: NativeApp): void {
    app.any('/*', (res, req) => this.serve(res, req));
  }

  private async drain(graceMs: number, delayMs: number): Promise<number> {
    this.draining = true;
    await acceptedFor(delayMs);
    if (this.socket !== undefined) this.native.us_listen_socket_close(this.socket);
    const unanswered = await this.requests.drained(graceMs);
    // Closes every socket at once, so it must not be called from within a callback of the engine; here we never are. What
    // was accepted has reached its app by now, since that takes one turn of the event loop.
    for (const app of [this.acceptor, ...this.secureApps]) app.close();
    clearInterval(this.deadlineCheck);
    return unanswered;
  }
}

/** The engine has no setting for the oldest protocol, TLS 1.2. These ciphers of it need a shared key, which nobody has. */
const noCipherOfTls12 = 'ECDHE-PSK-CHACHA20-POLY1305';

/**
 * The exchange whose native callback was entered last. Its socket may still hold the one cork buffer of the process, also
 * in the microtasks after the callback; while it does, no other socket can be corked, and each piece of an answer written
 * to one would be a system call of its own (measured: six times the cost of the whole request).
 */
let corkHolder: UwsExchange | undefined;

/** Exchanges with something to write or to close as soon as no native callback can be running. */
let postponed: UwsExchange[] = [];

function postpone(exchange: UwsExchange): void {
  if (postponed.length === 0) setImmediate(runPostponed);
  postponed.push(exchange);
}

function runPostponed(): void {
  const due = postponed;
  postponed = [];
  corkHolder = undefined;
  for (const exchange of due) exchange.proceed();
}

/**
 * Requests handled since the event loop was last seen to turn. The engine hands over all requests of one read, up to 512 KB, in one
 * turn; without a bound one connection could keep everybody else waiting for seconds.
 */
let handledAtOnce = 0;
/** Checks for a turn are rare enough to cost nothing, and early enough for the bound to count those of one turn. */
const handledBetweenChecks = bounds.answersAtOnceMax / 4;

function loopTurned(): void {
  handledAtOnce = 0;
}

// Counted by one static function, since a request with a body calls it for every header it has.
let contentLengths = 0;
let transferEncodings = 0;
function countFraming(lowerCaseName: string): void {
  if (lowerCaseName === 'content-length') contentLengths += 1;
  else if (lowerCaseName === 'transfer-encoding') transferEncodings += 1;
}

/**
 * Whether to check with an answer of this size if the client reads. `tryEnd`, which tells, costs 1 us more than `end`, 4 % of a request.
 * So it is left to chance, which is fair to small answers and certain for large ones.
 */
function isDrawn(bytes: number): boolean {
  return Math.random() * bounds.uncheckedBytesMean < bytes;
}

const emptyBody = Buffer.alloc(0);

/** One request on the native engine. `req` is ours while handling, `res` until released. */
class UwsExchange extends EngineExchange<UwsListener> {
  private req: HttpRequest | undefined;
  private res: HttpResponse | undefined;
  /** From Content-Length. */
  private declaredBytes = 0;
  /**
   * The body comes in chunks. This engine takes a chunk extension for digits of the size and a trailer for the next request, so where
   * such a body ends is not certain: the connection ends with this exchange, and nothing behind the body is carried out.
   */
  private chunked = false;
  /** All chunks are here, and the callback that brought the last one has returned. */
  private chunksEnded = false;
  /** The engine has a callback for the body. It cannot be replaced: the one that is running would be destroyed. */
  private watchesBody = false;
  private held: { readonly reply: Reply; readonly head: string } | undefined;
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
    handledAtOnce += 1;
    if (handledAtOnce === handledBetweenChecks) setImmediate(loopTurned);
    this.handle();
    this.req = undefined;
    // No abort can reach us before here, since the engine is waiting for this very call; and an exchange already answered
    // needs no watching. That is a twentieth of a small request's cost.
    if (this.res === undefined) return;
    this.res.onAborted(() => this.release());
    if (!this.over) this.listener.deadlines.add(this, this.arrivedMs);
  }

  override header(lowerCaseName: string): string {
    if (this.req === undefined) throw new Error(headerTooLate);
    return this.req.getHeader(lowerCaseName);
  }

  /** Called when no native callback can be running. */
  proceed(): void {
    const { res, held } = this;
    if (res === undefined) return;
    if (held === undefined) {
      this.disconnect();
      return;
    }
    this.held = undefined;
    res.cork(() => this.write(held.reply, held.head));
  }

  /** From here on `res` is the engine's alone. */
  override release(): void {
    this.res = undefined;
    if (this.unsentBody !== undefined) {
      this.unsentBody = undefined;
      this.listener.unsent.remove(this);
    }
    super.release();
  }

  override disconnect(): void {
    const { res } = this;
    this.release();
    res?.close();
  }

  protected override get handling(): boolean {
    return this.req !== undefined;
  }

  /**
   * The header that leaves doubt about where the body ends, if any. This engine would take the first of several lengths
   * and any transfer coding for chunked, where a proxy before us may have read otherwise: that is how requests are smuggled.
   *
   * Going over all headers costs 0.1 us each, so it is left to requests that have a body or a method made for one. A GET
   * whose first Content-Length is empty and followed by another passes; no proxy may forward such a thing.
   */
  protected override malformed(): 'Content-Length' | 'Transfer-Encoding' | undefined {
    const req = this.req as HttpRequest;
    const length = req.getHeader('content-length');
    const isLookup = this.method === 'GET' || this.method === 'HEAD';
    if (isLookup && length === '' && req.getHeader('transfer-encoding') === '') return undefined;
    contentLengths = 0;
    transferEncodings = 0;
    req.forEach(countFraming);
    if (transferEncodings > 0) {
      this.chunked = true;
      this.bodyUnwanted = true;
      return this.isPlainlyChunked(transferEncodings, contentLengths) ? undefined : 'Transfer-Encoding';
    }
    if (contentLengths !== (length === '' ? 0 : 1)) return 'Content-Length';
    if (length === '') return undefined;
    // The engine answers 400 to what it takes for no number, in place of whatever we wrote; the handler must not see it.
    if (!/^[0-9]{1,18}$/.test(length)) return 'Content-Length';
    this.declaredBytes = Number(length);
    this.bodyTooLarge = this.declaredBytes > this.listener.options.bodyBytesMax;
    this.bodyUnwanted = this.bodyTooLarge;
    return undefined;
  }

  protected override gather(onBody: (body: Buffer) => void | Promise<void>): void {
    if (this.chunked) {
      this.gatherChunks(onBody);
      return;
    }
    // The engine does not always announce a body without bytes.
    if (this.declaredBytes === 0) {
      this.deliver(onBody, emptyBody);
      return;
    }
    let gathered: Buffer | undefined;
    let filled = 0;
    // The engine hands over no more than was declared, so the bound holds without counting.
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (this.over) return;
      if (gathered === undefined && isLast) {
        this.deliver(onBody, Buffer.from(chunk));
        return;
      }
      gathered ??= Buffer.allocUnsafe(this.declaredBytes);
      gathered.set(new Uint8Array(chunk), filled);
      filled += chunk.byteLength;
      if (isLast) this.deliver(onBody, gathered);
    });
  }

  /**
   * The engine reads on behind the last chunk, and behind one that is refused, whatever becomes of the socket meanwhile. So nothing is
   * answered from within its callback: until then a further request on this connection makes the engine close it.
   */
  private gatherChunks(onBody: (body: Buffer) => void | Promise<void>): void {
    const body = new BodyBuffer(this.listener.options.bodyBytesMax);
    let fits = true;
    this.watchesBody = true;
    this.res?.onData((chunk, isLast) => {
      corkHolder = this;
      if (isLast) setImmediate(() => this.endChunks(onBody, body));
      else if (fits && !this.over && !body.add(new Uint8Array(chunk))) {
        fits = false;
        setImmediate(() => this.refuseLargeBody());
      }
    });
  }

  private endChunks(onBody: (body: Buffer) => void | Promise<void>, body: BodyBuffer): void {
    this.chunksEnded = true;
    this.bodyUnwanted = false;
    if (this.over) postpone(this);
    else this.deliver(onBody, body.bytes);
  }

  protected override answer(reply: Reply): void {
    const head = headText(reply, this.requestId);
    this.settle();
    const { handling } = this;
    if (handling ? handledAtOnce > bounds.answersAtOnceMax : corkHolder !== this && corkHolder !== undefined) {
      this.held = { reply, head };
      postpone(this);
    } else if (handling) {
      // The engine corks the socket while the handler runs.
      this.write(reply, head);
    } else {
      this.res?.cork(() => this.write(reply, head));
    }
  }

  private write(reply: Reply, head: string): void {
    const { res, listener } = this;
    if (res === undefined) return;
    if (this.bodyUnwanted || (this.chunked && (isBodyless(reply.status) || reply.body.length === 0))) {
      this.writeAndLinger(res, reply, head);
      return;
    }
    if (this.method === 'HEAD' || isBodyless(reply.status) || reply.body.length === 0) {
      this.writeBodyless(res, reply, head);
      return;
    }
    if (listener.draining ? bodyBytes(reply) === 1 : this.chunked) {
      // The engine closes the connection when all is sent; no other answer of this connection can wait behind this one.
      this.release();
      res.writeStatus(head);
      res.end(reply.body, true);
      return;
    }
    if (listener.draining) {
      res.writeStatus(`${head}\r\nConnection: close`);
      // Writes the head; without a byte of the body build 20.69 would regard the answer as finished. The engine has no way to close after
      // `tryEnd`, so the connection is closed here when all is sent.
      res.tryEnd(bytesOf(reply.body).subarray(0, 1), bodyBytes(reply));
    } else {
      const isCheck = isDrawn(head.length + reply.body.length);
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
    const body = bytesOf(reply.body);
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
    const isLast = this.listener.draining;
    // With a total that is never reached the engine goes on to regard the answer as unfinished.
    const total = isLast ? body.byteLength + 1 : body.byteLength;
    const [sent, finished] = res.tryEnd(body.subarray(res.getWriteOffset()), total);
    if (finished) this.release();
    else if (sent) postpone(this);
    else this.listener.unsent.add(this, body.byteLength - res.getWriteOffset());
    return sent;
  }

  /**
   * Sends an answer without a body. Where it would be a check of whether the client reads, it is the last answer of its connection, since
   * no call of the engine reports whether such an answer was sent.
   */
  private writeBodyless(res: HttpResponse, reply: Reply, head: string): void {
    const withLength = isBodyless(reply.status) ? head : `${head}\r\nContent-Length: ${bodyBytes(reply)}`;
    if (this.listener.draining || isDrawn(head.length)) {
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
    const length = isBodyless(reply.status) ? '' : `Content-Length: ${bodyBytes(reply) + 2}\r\n`;
    const ended = `${head}\r\nConnection: close\r\nDate: ${new Date().toUTCString()}\r\n${length}`;
    const body = bytesOf(reply.body);
    const headOnly = this.method === 'HEAD' || isBodyless(reply.status);
    res.writeStatus(headOnly ? ended : Buffer.concat([Buffer.from(`${ended}\r\n`), body]));
    this.uncount();
    this.listener.deadlines.add(this, performance.now());
    if (this.chunksEnded) postpone(this);
    if (this.watchesBody) return;
    res.onData((_chunk, isLast) => {
      corkHolder = this;
      if (isLast) postpone(this);
    });
  }
}

function bytesOf(body: Reply['body']): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

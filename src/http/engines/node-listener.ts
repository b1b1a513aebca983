import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { bounds } from '../../bounds.ts';
import type { RequestParamName } from '../../domain/errors.ts';
import { type ApiError, invalidRequest } from '../../domain/outcome.ts';
import type { Certificate, TlsVersion } from '../../tls/certificate.ts';
import { BaseListener, emptyDeadlineLinks } from './base-listener.ts';
import { BaseRequestContext, BodyBuffer, headersUnavailableMessage, nextRequestId } from './base-request-context.ts';
import { type Listener, type ListenerOptions, peerAddressHeader } from './listener.ts';
import {
  bodyByteLength,
  isBodylessStatus,
  type Reply,
  responseHead,
  responseHeaders,
  splitHeaderLines,
} from './response-head.ts';

/**
 * Starts a listener that uses node:http, for machines without a binary of uWebSockets.js. Listeners of node:http and of uWebSockets.js send
 * the same replies. Rejects with the system error (`EADDRINUSE`, `EACCES`, ...) if the address cannot be used.
 *
 * @param reason reason why this engine was chosen
 */
export async function startNodeListener(
  options: ListenerOptions,
  reason = 'node:http was requested',
): Promise<Listener> {
  const http: ServerOptions = {
    maxHeaderSize: bounds.requestHeadBytesMax,
    headersTimeout: bounds.connectionIdleTimeoutMs,
    requestTimeout: bounds.connectionIdleTimeoutMs,
    keepAliveTimeout: bounds.connectionIdleTimeoutMs,
    connectionsCheckingInterval: bounds.connectionCheckIntervalMs,
    // Requests without a Host header are rejected by the request context instead of Node.js, so that the reply has the documented body.
    requireHostHeader: false,
  };
  const server =
    options.tls === undefined
      ? createServer(http)
      : createSecureServer({
          ...http,
          ...tlsContextOptions(options.tls.certificate, options.tls.minVersion),
          handshakeTimeout: bounds.connectionIdleTimeoutMs,
        });
  // `findMalformedPart` must check every header, so only the total size of the headers is limited (`maxHeaderSize`), not their number.
  server.maxHeadersCount = 0;
  // Closes the connections of clients that do not read their responses.
  server.timeout = bounds.connectionIdleTimeoutMs;
  const listener = new NodeListener(options, server, reason);
  await listener.listen();
  return listener;
}

function tlsContextOptions({ certificatePem, keyPem }: Certificate, minVersion: TlsVersion) {
  return { cert: certificatePem, key: keyPem, minVersion: `TLSv${minVersion}` } as const;
}

/** A connection, with the work that its client caused in one turn of the event loop. */
interface NodeConnection {
  /** Requests whose reply is not completely sent. */
  readonly contexts: Set<NodeRequestContext>;
  turn: number;
  requestsThisTurn: number;
  /** Number of received chunks of refused bodies. */
  refusedChunksThisTurn: number;
}

/**
 * Makes the parser of a connection discard the current request, and fail with `HPE_CB_HEADERS_COMPLETE` at the head of the next request.
 * Without this call, Node.js would handle the rest of the bytes that it has read from the socket, even after `socket.destroy()`. These 64
 * KB may be thousands of requests. Node.js documents neither `socket.parser` nor another way to stop a parser.
 */
function stopParser(socket: Socket & { readonly parser?: { incoming: unknown; onIncoming: unknown } | null }): void {
  const { parser } = socket;
  if (parser === undefined || parser === null) return;
  parser.incoming = null;
  parser.onIncoming = () => -1;
}

function closeAtOnce(socket: Socket): void {
  stopParser(socket);
  socket.destroy();
}

class NodeListener extends BaseListener {
  readonly engine = 'node';
  /** Connections that close as soon as the client has sent the rest of a refused request body. */
  readonly closingSockets = new WeakSet<Socket>();
  private readonly server: Server | SecureServer;
  private readonly connections = new Map<Socket, NodeConnection>();
  /** TCP sockets of the TLS connections, including sockets during a TLS handshake; empty without TLS. */
  private readonly tlsTransports = new Set<Socket>();
  private closed: Promise<unknown> | undefined;
  /** Replies that wait until the operating system has accepted earlier replies, oldest first. */
  private heldReplies: { readonly context: NodeRequestContext; readonly reply: Reply; readonly bodyBytes: number }[] =
    [];
  private turn = 0;
  private isTurnEndScheduled = false;

  constructor(options: ListenerOptions, server: Server | SecureServer, engineReason: string) {
    super(options, engineReason);
    this.server = server;
    if (server instanceof SecureServer) {
      server.on('connection', (transport: Socket) => {
        this.tlsTransports.add(transport);
        transport.once('close', () => this.tlsTransports.delete(transport));
      });
      server.on('secureConnection', (socket) => this.onConnection(socket));
    } else {
      server.on('connection', (socket) => this.onConnection(socket));
    }
    // Prevents `server.close` from closing a connection whose client still reads a reply. The drain ends with `closeConnections`.
    server.closeIdleConnections = () => {};
    server.on('request', (request, response) => this.onRequest(request, response));
    // Ignores unknown values of the `Expect` header (RFC 9110, 10.1.1), to which Node.js would otherwise reply 417.
    server.on('checkExpectation', (request, response) => this.onRequest(request, response));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.onClientError(error, socket as Socket));
  }

  async listen(): Promise<void> {
    const { host, port, socketPath, sharesPort = false } = this.options;
    if (socketPath === undefined) this.server.listen({ host, port, exclusive: true, reusePort: sharesPort });
    else this.server.listen({ path: socketPath });
    await once(this.server, 'listening');
    const address = this.server.address() as AddressInfo | string;
    this.onListening(typeof address === 'string' ? 0 : address.port);
  }

  protected override applyCertificate(certificate: Certificate, minVersion: TlsVersion): void {
    (this.server as SecureServer).setSecureContext(tlsContextOptions(certificate, minVersion));
  }

  protected override stopAccepting(): void {
    this.closed = once(this.server, 'close');
    this.server.close();
  }

  protected override async closeConnections(): Promise<void> {
    this.server.closeAllConnections();
    for (const transport of this.tlsTransports) transport.destroy();
    await this.closed;
  }

  /** Number of the current turn of the event loop. Turns in which nothing calls `currentTurn` are not counted. */
  get currentTurn(): number {
    if (!this.isTurnEndScheduled) {
      this.isTurnEndScheduled = true;
      setImmediate(() => this.endTurn());
    }
    return this.turn;
  }

  /**
   * Sends a reply, or holds it until the unsent replies have room for it. Over TLS, Node.js reports only in a later turn that the operating
   * system has accepted a reply, so the replies of one turn may exceed the limit although all clients read.
   */
  sendOrHold(context: NodeRequestContext, reply: Reply, bodyBytes: number): void {
    if (this.heldReplies.length === 0 && this.unsentReplies.makeRoom(bodyBytes)) {
      context.send(reply, bodyBytes);
      return;
    }
    this.heldReplies.push({ context, reply, bodyBytes });
    void this.currentTurn;
  }

  /** Counts a received chunk of a refused body. Closes the connection if there are too many in one turn. */
  countRefusedChunk(socket: Socket): void {
    const connection = this.connectionInThisTurn(socket);
    if (connection === undefined) return;
    connection.refusedChunksThisTurn += 1;
    if (connection.refusedChunksThisTurn > bounds.refusedBodyChunksPerTurnMax) closeAtOnce(socket);
  }

  private endTurn(): void {
    this.isTurnEndScheduled = false;
    this.turn += 1;
    const held = this.heldReplies;
    let sent = 0;
    for (const { context, reply, bodyBytes } of held) {
      if (!this.unsentReplies.makeRoom(bodyBytes)) break;
      context.send(reply, bodyBytes);
      sent += 1;
    }
    if (sent > 0) this.heldReplies = held.slice(sent);
    // Schedules the next attempt.
    if (this.heldReplies.length > 0) void this.currentTurn;
  }

  private connectionInThisTurn(socket: Socket): NodeConnection | undefined {
    const connection = this.connections.get(socket);
    const turn = this.currentTurn;
    if (connection !== undefined && connection.turn !== turn) {
      connection.turn = turn;
      connection.requestsThisTurn = 0;
      connection.refusedChunksThisTurn = 0;
    }
    return connection;
  }

  private onConnection(socket: Socket): void {
    const contexts = new Set<NodeRequestContext>();
    this.connections.set(socket, { contexts, turn: 0, requestsThisTurn: 0, refusedChunksThisTurn: 0 });
    socket.once('close', () => {
      this.connections.delete(socket);
      for (const context of contexts) context.releaseResources();
    });
  }

  private onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (this.closingSockets.has(socket)) {
      // Ignores a request after a refused body, because the reply to the refused request contained `Connection: close`.
      stopParser(socket);
      return;
    }
    const connection = this.connectionInThisTurn(socket);
    if (connection === undefined) {
      closeAtOnce(socket);
      return;
    }
    const { contexts } = connection;
    connection.requestsThisTurn += 1;
    if (Math.max(contexts.size + 1, connection.requestsThisTurn) > bounds.pipelinedRequestsMax) {
      closeAtOnce(socket);
      return;
    }
    const context = new NodeRequestContext(this, request, response);
    contexts.add(context);
    response.once('finish', () => {
      contexts.delete(context);
      context.releaseResources();
      const [next] = contexts;
      // Skips the next pipelined request if the connection closed after the previous reply.
      if (next !== undefined && socket.writable && !this.closingSockets.has(socket)) next.run();
    });
    // A pipelined request starts only after the previous reply is sent.
    if (contexts.size === 1) context.run();
  }

  /** Handles a request that the HTTP parser refused, and a request whose head or body did not arrive in time. */
  private onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    // `stopParser` has stopped the parser. The connection is closed, or closes after the reply that is being sent.
    if (error.code === 'HPE_CB_HEADERS_COMPLETE') return;
    const connection = this.connections.get(socket);
    if (connection === undefined) {
      // The TLS handshake failed, so the client cannot receive a reply.
      socket.destroy();
      return;
    }
    const contexts = [...connection.contexts];
    if (contexts.length > 0 && contexts.every(({ ended }) => ended)) {
      // Because all requests of the connection are answered, the parser must have failed in the rest of a refused request body.
      for (const context of contexts) context.endResponse();
      return;
    }
    const silent = error.code === 'ECONNRESET' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const malformed = !silent && error.code !== 'HPE_INVALID_EOF_STATE';
    if (malformed && contexts.length === 1 && contexts[0]?.rejectUnreadableBody()) return;
    // Sends no error reply while a request is pending, because the client would take this reply as the response to the pending request.
    if (contexts.length > 0 || silent || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = nextRequestId();
    const reply = this.replyToParserError(error.code, requestId);
    this.options.onErrorReply?.({ requestId, method: '', routeIndex: 0, caller: null, elapsedMs: 0 }, reply);
    const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
    const headEnd = `Connection: close\r\nDate: ${new Date().toUTCString()}\r\nContent-Length: ${body.byteLength}\r\n\r\n`;
    socket.write(`HTTP/1.1 ${responseHead(reply, requestId)}\r\n${headEnd}`);
    socket.end(body);
    // Closing the connection immediately could reset the connection before the client reads the reply.
    const lingering = { ...emptyDeadlineLinks, onDeadline: () => socket.destroy() };
    this.deadlines.add(lingering, performance.now());
    socket.once('close', () => this.deadlines.remove(lingering));
    socket.resume();
  }

  private replyToParserError(code: string | undefined, requestId: string): Reply {
    if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, headers: '', body: '' };
    const param = code === undefined ? undefined : parserErrorParams[code];
    const error: ApiError = param === undefined ? { code: 'INVALID_REQUEST' } : invalidRequest(param).error;
    return this.options.errorReply(error, requestId, '');
  }
}

const parserErrorParams: { readonly [code: string]: RequestParamName } = {
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Content-Length',
  HPE_INVALID_TRANSFER_ENCODING: 'Transfer-Encoding',
};

/**
 * Splits a request target into path and query. Removes scheme and host from a target such as `http://host/path` (RFC 9112, 3.2.2). If the
 * target is invalid, for example because the authority contains a user name, the returned path does not start with a slash.
 */
function parseRequestTarget(target: string): { path: string; query: string; authority?: string } {
  const [, authority, absolutePath = ''] = target.startsWith('/')
    ? []
    : (/^https?:\/\/([^/?#@]+)([/?].*)?$/i.exec(target) ?? []);
  if (authority !== undefined) {
    return { ...parseRequestTarget(absolutePath.startsWith('/') ? absolutePath : `/${absolutePath}`), authority };
  }
  const question = target.indexOf('?');
  if (question === -1) return { path: target, query: '' };
  return { path: target.slice(0, question), query: target.slice(question + 1) };
}

class NodeRequestContext extends BaseRequestContext<NodeListener> {
  protected override isHandling = false;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  /** Host in a request target such as `http://host/path`, which replaces the Host header; undefined if the target is only a path. */
  private readonly authority: string | undefined;
  /** Turn of the event loop in which the reply was sent. */
  private sentTurn = 0;

  constructor(listener: NodeListener, request: IncomingMessage, response: ServerResponse) {
    const { path, query, authority } = parseRequestTarget(request.url ?? '');
    super(listener, request.method ?? '', path, query);
    this.authority = authority;
    this.request = request;
    this.response = response;
    this.isBodyTooLarge = Number(request.headers['content-length'] ?? 0) > listener.options.bodyBytesMax;
    this.mustDiscardBody = this.isBodyTooLarge || request.headers['transfer-encoding'] !== undefined;
  }

  run(): void {
    this.isHandling = true;
    this.listener.deadlines.add(this, this.receivedMs);
    this.runHandler();
    this.isHandling = false;
  }

  override getRequestHeader(lowerCaseName: string): string {
    if (!this.isHandling) throw new Error(headersUnavailableMessage);
    if (this.authority !== undefined && lowerCaseName === 'host') return this.authority;
    return this.request.headersDistinct[lowerCaseName]?.[0] ?? '';
  }

  override getPeerAddress(): string {
    if (!this.isHandling) throw new Error(headersUnavailableMessage);
    if (this.listener.options.socketPath !== undefined) return this.getRequestHeader(peerAddressHeader);
    return this.request.socket.remoteAddress ?? '';
  }

  override get hasIdempotencyKey(): boolean {
    return this.request.headersDistinct['idempotency-key'] !== undefined;
  }

  /** Replies 400 because of a malformed body. Returns false, and sends nothing, if the body is complete or the request was answered. */
  rejectUnreadableBody(): boolean {
    if (this.ended || this.request.complete) return false;
    this.sendError(invalidRequest('body', 'must have well-formed chunks').error);
    this.endResponse();
    return true;
  }

  /** Ends the response. If the request body was refused, the connection closes after the response. */
  endResponse(): void {
    this.response.end();
  }

  protected override findMalformedPart(): RequestParamName | undefined {
    const { headersDistinct, httpVersion } = this.request;
    const codings = headersDistinct['transfer-encoding']?.length ?? 0;
    const lengths = headersDistinct['content-length']?.length ?? 0;
    if (codings > 0 && (httpVersion !== '1.1' || !this.hasUnambiguousChunkedCoding(codings, lengths)))
      return 'Transfer-Encoding';
    if (lengths > 1) return 'Content-Length';
    const hosts = headersDistinct.host?.length ?? 0;
    if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return 'Host';
    return this.path.startsWith('/') ? undefined : 'request-target';
  }

  protected override collectBody(onBody: (body: Buffer) => void | Promise<void>): void {
    const body = new BodyBuffer(this.listener.options.bodyBytesMax);
    this.request.on('data', (chunk: Buffer) => {
      if (!this.ended && !body.append(chunk)) this.rejectLargeBody();
    });
    this.request.once('end', () => {
      this.mustDiscardBody = false;
      if (!this.ended) this.passBodyToHandler(onBody, body.receivedBody);
    });
  }

  protected override writeReply(reply: Reply): void {
    const { response, listener } = this;
    const bodyBytes = bodyByteLength(reply);
    const headers = splitHeaderLines(responseHeaders(reply, this.requestId));
    if (!isBodylessStatus(reply.status)) headers.push('Content-Length', String(bodyBytes));
    if (this.mustDiscardBody || listener.isDraining) headers.push('Connection', 'close');
    // `writeHead` throws for a header with an invalid character, before anything is sent.
    response.writeHead(reply.status, headers);
    this.markRequestEnded();
    listener.deadlines.remove(this);
    // A reply to a refused body is small, and is sent before the client has sent the rest of the body.
    if (this.mustDiscardBody) this.send(reply, bodyBytes);
    else listener.sendOrHold(this, reply, bodyBytes);
  }

  /** Sends a reply whose head was passed to `writeHead`. */
  send(reply: Reply, bodyBytes: number): void {
    const { listener, response } = this;
    if (this.request.socket.destroyed) return;
    this.sentTurn = listener.currentTurn;
    listener.unsentReplies.add(this, bodyBytes);
    if (this.mustDiscardBody) this.sendWithLingeringClose(reply);
    else response.end(reply.body);
  }

  override get isStalled(): boolean {
    return this.listener.currentTurn - this.sentTurn >= bounds.turnsUntilStalled;
  }

  override releaseResources(): void {
    this.listener.unsentReplies.remove(this);
    super.releaseResources();
  }

  override closeConnection(): void {
    this.request.socket.destroy();
  }

  /**
   * Sends the reply, discards the rest of the request body until the body ends or the deadline passes, and then closes the connection.
   * Closing the connection immediately would reset the connection, often before the client reads the reply.
   */
  private sendWithLingeringClose(reply: Reply): void {
    const { request, response, listener } = this;
    listener.closingSockets.add(request.socket);
    if (this.method === 'HEAD' || reply.body.length === 0) response.flushHeaders();
    else response.write(reply.body);
    this.removeFromInFlight();
    listener.deadlines.add(this, performance.now());
    request.once('end', () => this.endResponse());
    request.on('data', () => listener.countRefusedChunk(request.socket));
  }
}

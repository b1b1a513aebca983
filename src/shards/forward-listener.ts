import { createServer, type Server, type Socket } from 'node:net';
import { bounds } from '../bounds.ts';
import { serviceUnavailable } from '../domain/outcome.ts';
import { DeadlineQueue, InFlightRequests } from '../http/engines/base-listener.ts';
import {
  BaseRequestContext,
  headersUnavailableMessage,
  type RequestReceiver,
} from '../http/engines/base-request-context.ts';
import type { HandlingOptions } from '../http/engines/listener.ts';
import type { Reply } from '../http/engines/response-head.ts';
import { type ForwardedRoute, forwardedHeaders, isForwardedRoute } from './forwarded-headers.ts';
import { FrameError, FrameWriter, frameKind, frameVersion, readFrames } from './frames.ts';
import { parseRelayedClick, type RelayedClick } from './relayed-clicks.ts';

export interface ForwardListenerOptions extends HandlingOptions {
  /** Path of the Unix socket. A socket that an earlier process left there must have been deleted. */
  readonly path: string;
  readonly shard: number;
  /** Whether this shard decides the requests of a tenant now. */
  readonly isOwner: (account: number, verticalAndMode: number) => boolean;
  /**
   * Decides and records a click that another shard has redirected. Resolves with true when the record is durable or not needed. Stops when
   * `isConnected` returns false.
   */
  readonly recordRelayedClick: (click: RelayedClick, isConnected: () => boolean) => Promise<boolean>;
  /** Called if `recordRelayedClick` rejects, which is always a bug. */
  readonly onRelayError: (error: unknown) => void;
}

const misplacedProblem = {
  text: 'another shard forwarded a request of an account that this shard does not have; the placement was changed',
} as const;

/** Head of a forwarded request. */
interface ForwardedHead {
  readonly id: number;
  readonly route: ForwardedRoute;
  readonly account: number;
  readonly verticalAndMode: number;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly elapsedMs: number;
  readonly hasIdempotencyKey: boolean;
  readonly bodyFollows: boolean;
  readonly peerAddress: string;
  readonly headers: readonly string[];
}

/** Number of items in a request frame before the headers. */
const headItems = 13;

function parseHead(frame: readonly unknown[]): ForwardedHead {
  const [, id, route, account, verticalAndMode, requestId, method, path, query, elapsedMs, hasIdempotencyKey] = frame;
  const [bodyFollows, peerAddress, ...headers] = frame.slice(headItems - 2);
  if (
    typeof id !== 'number' ||
    !isForwardedRoute(route) ||
    typeof account !== 'number' ||
    typeof verticalAndMode !== 'number' ||
    typeof requestId !== 'string' ||
    typeof method !== 'string' ||
    typeof path !== 'string' ||
    typeof query !== 'string' ||
    !(typeof elapsedMs === 'number' && elapsedMs >= 0) ||
    typeof hasIdempotencyKey !== 'boolean' ||
    typeof bodyFollows !== 'boolean' ||
    typeof peerAddress !== 'string' ||
    headers.length !== forwardedHeaders[route].length ||
    !headers.every((value) => typeof value === 'string')
  ) {
    throw new FrameError('a request frame has wrong items');
  }
  return {
    ...{ id, route, account, verticalAndMode, requestId, method, path, query, elapsedMs, hasIdempotencyKey },
    ...{ bodyFollows, peerAddress, headers },
  };
}

/** Receives the requests that other shards forward, and passes them to a handler as if clients had sent them to this shard. */
export class ForwardListener implements RequestReceiver {
  readonly options: ForwardListenerOptions;
  readonly inFlightRequests = new InFlightRequests();
  readonly deadlines: DeadlineQueue;
  readonly #server: Server;
  readonly #connections = new Set<ForwardConnection>();
  readonly #deadlineTimer: NodeJS.Timeout;
  #onLastConnectionClosed: () => void = () => {};
  #latestStartMs = 0;

  /** Listens on the socket. Rejects with the system error if the path cannot be used. */
  static async listen(options: ForwardListenerOptions): Promise<ForwardListener> {
    const listener = new ForwardListener(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    listener.#server.once('error', reject);
    listener.#server.listen({ path: options.path }, resolve);
    try {
      await promise;
    } catch (error) {
      clearInterval(listener.#deadlineTimer);
      throw error;
    }
    return listener;
  }

  private constructor(options: ForwardListenerOptions) {
    this.options = options;
    this.deadlines = new DeadlineQueue(options.deadlineMs);
    this.#server = createServer((socket) => this.#connections.add(new ForwardConnection(this, socket)));
    this.#deadlineTimer = setInterval(
      () => this.deadlines.removeExpiredEntries(performance.now()),
      bounds.deadlineCheckIntervalMs,
    );
  }

  /** Adds a request to the deadlines. The times of the request heads may arrive in another order. */
  addDeadline(context: ForwardedRequestContext, receivedMs: number): void {
    this.#latestStartMs = Math.max(this.#latestStartMs, receivedMs);
    this.deadlines.add(context, this.#latestStartMs);
  }

  removeConnection(connection: ForwardConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#onLastConnectionClosed();
  }

  /**
   * Waits until the other shards have closed their connections, but at most `graceMs` milliseconds, and closes the socket. A shard closes its
   * connections when its own clients are answered, so shards that stop together answer all requests.
   */
  async close(graceMs: number): Promise<void> {
    if (this.#connections.size > 0) {
      const empty = Promise.withResolvers<void>();
      this.#onLastConnectionClosed = empty.resolve;
      const timer = setTimeout(empty.resolve, graceMs);
      await empty.promise;
      clearTimeout(timer);
    }
    for (const connection of this.#connections) connection.close();
    await new Promise((resolve) => this.#server.close(resolve));
    clearInterval(this.#deadlineTimer);
  }
}

/** Connection from another shard. Closes when it receives an invalid frame. */
class ForwardConnection {
  readonly #listener: ForwardListener;
  readonly #socket: Socket;
  readonly #writer: FrameWriter;
  readonly #contexts = new Map<number, ForwardedRequestContext>();
  #isGreeted = false;

  constructor(listener: ForwardListener, socket: Socket) {
    this.#listener = listener;
    this.#socket = socket;
    this.#writer = new FrameWriter(socket);
    readFrames(socket, bounds.requestFrameBytesMax, (frame) => this.#onFrame(frame));
    socket.on('close', () => {
      for (const context of [...this.#contexts.values()]) context.releaseResources();
      listener.removeConnection(this);
    });
  }

  /** Sends the reply to a request. Throws if the reply is too large for a frame. */
  sendReply(id: number, { status, headers, body }: Reply): void {
    const bytes = typeof body === 'string' && body.length > bounds.frameTextCharactersMax ? Buffer.from(body) : body;
    this.#writer.write([frameKind.reply, id, status, headers, bytes], bounds.replyFrameBytesMax);
    if (this.#writer.unsentBytes > bounds.unsentReplyBytesMax) this.close();
  }

  removeContext(id: number): void {
    this.#contexts.delete(id);
  }

  close(): void {
    this.#socket.destroy();
  }

  #onFrame(frame: readonly unknown[]): void {
    const [kind, id, body] = frame;
    if (!this.#isGreeted) {
      const isForThisShard = kind === frameKind.hello && frame[1] === frameVersion;
      if (!isForThisShard || frame[3] !== this.#listener.options.shard) throw new FrameError('wrong first frame');
      this.#isGreeted = true;
    } else if (kind === frameKind.request) {
      this.#handleRequest(parseHead(frame));
    } else if (kind === frameKind.body && body instanceof Buffer) {
      if (body.length > this.#listener.options.bodyBytesMax) throw new FrameError('a body is too large');
      this.#contexts.get(id as number)?.receiveBody(body);
    } else if (kind === frameKind.bodyTooLarge) {
      this.#contexts.get(id as number)?.receiveLargeBody();
    } else if (kind === frameKind.cancel) {
      this.#contexts.get(id as number)?.releaseResources();
    } else if (kind === frameKind.relayedClick) {
      this.#takeClick(id as number, parseRelayedClick(frame.slice(2)));
    } else {
      throw new FrameError('unknown kind of frame');
    }
  }

  #takeClick(id: number, click: RelayedClick | null): void {
    if (click === null) throw new FrameError('a frame is no click');
    const { recordRelayedClick, onRelayError } = this.#listener.options;
    recordRelayedClick(click, () => !this.#socket.destroyed).then((isRecorded) => {
      if (isRecorded) this.#writer.write([frameKind.clickTaken, id], bounds.replyFrameBytesMax);
    }, onRelayError);
  }

  #handleRequest(head: ForwardedHead): void {
    if (this.#contexts.has(head.id) || this.#contexts.size >= bounds.forwardedRequestsMax) {
      throw new FrameError('too many requests, or two with the same id');
    }
    const context = new ForwardedRequestContext(this.#listener, this, head);
    this.#contexts.set(head.id, context);
    context.run();
  }
}

const emptyBody = Buffer.alloc(0);

/** Context of a request that another shard has received from a client. */
class ForwardedRequestContext extends BaseRequestContext<ForwardListener> {
  readonly isStalled = false;
  protected override isHandling = false;
  readonly #connection: ForwardConnection;
  readonly #head: ForwardedHead;
  #onBody: ((body: Buffer) => void | Promise<void>) | undefined;

  constructor(listener: ForwardListener, connection: ForwardConnection, head: ForwardedHead) {
    super(listener, head.method, head.path, head.query, head.requestId, head.elapsedMs);
    this.#connection = connection;
    this.#head = head;
  }

  run(): void {
    const { account, verticalAndMode } = this.#head;
    this.isHandling = true;
    this.listener.addDeadline(this, this.receivedMs);
    if (this.listener.options.isOwner(account, verticalAndMode)) this.runHandler();
    else this.sendError(serviceUnavailable(bounds.retryAfterSeconds, misplacedProblem).error);
    this.isHandling = false;
  }

  override getRequestHeader(lowerCaseName: string): string {
    if (!this.isHandling) throw new Error(headersUnavailableMessage);
    const { route, headers } = this.#head;
    const value = headers[(forwardedHeaders[route] as readonly string[]).indexOf(lowerCaseName)];
    if (value === undefined) throw new Error(`the header ${lowerCaseName} is not forwarded`);
    return value;
  }

  override getPeerAddress(): string {
    if (!this.isHandling) throw new Error(headersUnavailableMessage);
    return this.#head.peerAddress;
  }

  override get hasIdempotencyKey(): boolean {
    return this.#head.hasIdempotencyKey;
  }

  receiveBody(body: Buffer): void {
    const onBody = this.#onBody;
    this.#onBody = undefined;
    if (onBody !== undefined && !this.ended) this.passBodyToHandler(onBody, body);
  }

  receiveLargeBody(): void {
    if (this.#onBody !== undefined) this.rejectLargeBody();
  }

  override releaseResources(): void {
    this.#connection.removeContext(this.#head.id);
    super.releaseResources();
  }

  override closeConnection(): void {
    this.#connection.removeContext(this.#head.id);
  }

  protected override findMalformedPart(): undefined {}

  protected override collectBody(onBody: (body: Buffer) => void | Promise<void>): void {
    if (this.#head.bodyFollows) this.#onBody = onBody;
    else this.passBodyToHandler(onBody, emptyBody);
  }

  protected override writeReply(reply: Reply): void {
    this.#connection.sendReply(this.#head.id, reply);
    this.releaseResources();
  }
}

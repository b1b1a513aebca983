import { connect, type Socket } from 'node:net';
import { bounds } from '../bounds.ts';
import type { RequestContext } from '../http/engines/listener.ts';
import type { Reply } from '../http/engines/response-head.ts';
import type { TenantNumbers } from '../ids/tenant-code.ts';
import { type ForwardedRoute, forwardedHeaders } from './forwarded-headers.ts';
import { FrameError, FrameWriter, frameKind, frameVersion, readFrames } from './frames.ts';
import { type RelayedClick, RelayedClicks } from './relayed-clicks.ts';

/**
 * Why a request was not forwarded or not answered: the other shard cannot be reached, has too many unanswered requests, or closed the
 * connection before its answer.
 */
export type ForwardFailure = 'unreachable' | 'full' | 'lost';

/** Tenant of a request, and the group of routes of the request. */
export interface OwnedRequest extends TenantNumbers {
  readonly route: ForwardedRoute;
}

interface ForwardClientOptions {
  /** Path of the Unix socket of the other shard. */
  readonly path: string;
  readonly ownShard: number;
  readonly shard: number;
  /** Replies to a request that the other shard will not answer. */
  readonly onFailure: (context: RequestContext, reason: ForwardFailure) => void;
  /** Maximum number of relayed clicks that the other shard has not recorded yet. */
  readonly relayedClicksMax: number;
  /** Called when this shard redirects a click of the other shard itself. */
  readonly onClickRelayed: () => void;
  /** Called when a connection is established, and when an established connection is lost. */
  readonly onConnectionChange: (connected: boolean) => void;
}

/** A click of another shard that this shard can redirect instead. */
export interface RelayableClick {
  /**
   * Returns the redirect; null if this shard cannot redirect the click, for example because it has no copy of the catalog. Never rejects.
   *
   * @param addClick called before the promise resolves if the click can count. Returns false if the click is not kept
   */
  redirect(addClick: (click: RelayedClick) => boolean): Promise<Reply | null>;
  /** Reply for a click that no shard can redirect now. */
  readonly retryReply: Reply;
}

/** A forwarded request that is not answered yet. */
interface PendingRequest {
  readonly context: RequestContext;
  /** Null for a request that is no click. */
  readonly click: RelayableClick | null;
  /** Time at which this shard tries to redirect the click, in monotonic milliseconds; infinity if it has tried, or there is no click. */
  relayMs: number;
}

interface Connection {
  readonly socket: Socket;
  readonly writer: FrameWriter;
}

/** Whether the handlers of a method read a body. */
function hasBody({ method }: RequestContext): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

function hasRoom({ unsentBytes }: FrameWriter, bytes: number): boolean {
  return unsentBytes + bytes < bounds.forwardedBytesUnsentMax;
}

/** Returns the headers of a request that the handlers of its route read. */
export function readForwardedHeaders(context: RequestContext, route: ForwardedRoute): string[] {
  return forwardedHeaders[route].map((name) => context.getRequestHeader(name));
}

/**
 * Connection to another shard, over which requests are forwarded. Reconnects after a lost connection. Requests are never sent twice: a
 * request whose connection is lost gets an error. A click is redirected by this shard instead, also if the other shard does not answer in
 * time. If this shard cannot redirect a click, the click waits for the other shard.
 */
export class ForwardClient {
  readonly #options: ForwardClientOptions;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #relayedClicks: RelayedClicks;
  readonly #cancelTimer: NodeJS.Timeout;
  #reconnectTimer: NodeJS.Timeout | undefined;
  /** Null while there is no established connection. */
  #connection: Connection | null = null;
  #socket: Socket;
  #lastId = 0;
  #isClosed = false;

  constructor(options: ForwardClientOptions) {
    this.#options = options;
    this.#relayedClicks = new RelayedClicks(options.relayedClicksMax, (id, click) =>
      this.#send([frameKind.relayedClick, id, ...click]),
    );
    this.#socket = this.#connect();
    this.#cancelTimer = setInterval(() => this.#checkPending(), bounds.deadlineCheckIntervalMs);
  }

  /** Forwards a request whose body is not read yet. Must be called before the handler returns or awaits. */
  forward(context: RequestContext, owned: OwnedRequest): void {
    const bodyFollows = hasBody(context);
    const peerAddress = owned.route === 'console' ? context.getPeerAddress() : '';
    const id = this.#sendHead(context, owned, readForwardedHeaders(context, owned.route), peerAddress, bodyFollows);
    if (id === null || !bodyFollows) return;
    context.readBody(
      (body) => this.#sendBody(id, context, body),
      undefined,
      () => this.#send([frameKind.bodyTooLarge, id]),
    );
  }

  /** Forwards a click, which this shard redirects if the other shard does not answer in time. */
  forwardClick(context: RequestContext, owned: OwnedRequest, click: RelayableClick): void {
    this.#sendHead(context, owned, readForwardedHeaders(context, owned.route), '', false, click);
  }

  /** Forwards a request whose headers, peer address and body were already read. */
  forwardWithBody(
    context: RequestContext,
    owned: OwnedRequest,
    headers: readonly string[],
    peerAddress: string,
    body: Uint8Array,
  ): void {
    const id = this.#sendHead(context, owned, headers, peerAddress, true);
    if (id !== null) this.#sendBody(id, context, body);
  }

  /**
   * Waits until the other shard has recorded all relayed clicks, but at most `graceMs` milliseconds, and closes the connection. Pending
   * requests get an error. Returns the number of relayed clicks that are lost.
   */
  async close(graceMs: number): Promise<number> {
    await this.#relayedClicks.waitUntilTaken(graceMs);
    this.#isClosed = true;
    clearInterval(this.#cancelTimer);
    clearTimeout(this.#reconnectTimer);
    this.#socket.destroy();
    this.#connection = null;
    this.#failPending();
    return this.#relayedClicks.size;
  }

  /** Sends the head of a request, and returns its id. If the request cannot be sent, answers it and returns null. */
  #sendHead(
    context: RequestContext,
    { route, account, verticalAndMode }: OwnedRequest,
    headers: readonly string[],
    peerAddress: string,
    bodyFollows: boolean,
    click: RelayableClick | null = null,
  ): number | null {
    const writer = this.#connection?.writer;
    if (writer === undefined) {
      this.#fail(context, 'unreachable', click);
      return null;
    }
    if (this.#pending.size >= bounds.forwardedRequestsMax || !hasRoom(writer, 0)) {
      this.#fail(context, 'full', click);
      return null;
    }
    this.#lastId = (this.#lastId + 1) >>> 0;
    const id = this.#lastId;
    const relayMs = click === null ? Number.POSITIVE_INFINITY : performance.now() + bounds.clickRelayDelayMs;
    this.#pending.set(id, { context, click, relayMs });
    const { requestId, method, path, query, hasIdempotencyKey } = context;
    this.#send([
      frameKind.request,
      id,
      route,
      account,
      verticalAndMode,
      requestId,
      method,
      path,
      query,
      Math.ceil(context.elapsedMs),
      hasIdempotencyKey,
      bodyFollows,
      peerAddress,
      ...headers,
    ]);
    return id;
  }

  #sendBody(id: number, context: RequestContext, body: Uint8Array): void {
    if (this.#connection === null || this.#pending.get(id)?.context !== context) return;
    if (hasRoom(this.#connection.writer, body.length)) {
      this.#send([frameKind.body, id, body]);
    } else {
      this.#cancel(id);
      this.#fail(context, 'full', null);
    }
  }

  #send(frame: readonly unknown[]): void {
    this.#connection?.writer.write(frame, bounds.requestFrameBytesMax);
  }

  /** Answers a request that the other shard will not answer. */
  #fail(context: RequestContext, reason: ForwardFailure, click: RelayableClick | null): void {
    if (click === null) this.#options.onFailure(context, reason);
    else void this.#redirectFailedClick(context, click);
  }

  async #redirectFailedClick(context: RequestContext, click: RelayableClick): Promise<void> {
    const redirect = await click.redirect((relayed) => this.#relayedClicks.add(relayed));
    if (redirect !== null) this.#options.onClickRelayed();
    context.reply(redirect ?? click.retryReply);
  }

  /** Redirects a click that the other shard has not answered in time, unless this shard cannot redirect it or the answer arrives first. */
  async #redirectLateClick(id: number, click: RelayableClick): Promise<void> {
    const isPending = () => this.#pending.get(id)?.click === click;
    const redirect = await click.redirect((relayed) => !isPending() || this.#relayedClicks.add(relayed));
    const context = this.#pending.get(id)?.context;
    if (redirect === null || context === undefined || !isPending()) return;
    this.#cancel(id);
    this.#options.onClickRelayed();
    context.reply(redirect);
  }

  /** Cancels forwarded requests whose client has disconnected, or whose deadline has passed. Redirects late clicks. */
  #checkPending(): void {
    const nowMs = performance.now();
    for (const [id, pending] of this.#pending) {
      const { context, click, relayMs } = pending;
      if (context.ended) this.#cancel(id);
      else if (click !== null && relayMs <= nowMs) {
        pending.relayMs = Number.POSITIVE_INFINITY;
        void this.#redirectLateClick(id, click);
      }
    }
  }

  #cancel(id: number): void {
    this.#pending.delete(id);
    this.#send([frameKind.cancel, id]);
  }

  #connect(): Socket {
    const { path, ownShard, shard, onConnectionChange } = this.#options;
    const socket = connect({ path });
    readFrames(socket, bounds.replyFrameBytesMax, (frame) => this.#onFrame(frame));
    socket.on('connect', () => {
      this.#connection = { socket, writer: new FrameWriter(socket) };
      this.#send([frameKind.hello, frameVersion, ownShard, shard]);
      this.#relayedClicks.setConnected(true);
      onConnectionChange(true);
    });
    socket.on('close', () => {
      if (this.#isClosed) return;
      this.#reconnectTimer = setTimeout(() => {
        this.#socket = this.#connect();
      }, bounds.shardReconnectDelayMs);
      if (this.#connection?.socket !== socket) return;
      this.#connection = null;
      this.#relayedClicks.setConnected(false);
      onConnectionChange(false);
      this.#failPending();
    });
    return socket;
  }

  #onFrame([kind, id, status, headers, body]: readonly unknown[]): void {
    if (kind === frameKind.clickTaken && typeof id === 'number') {
      this.#relayedClicks.remove(id);
      return;
    }
    if (
      kind !== frameKind.reply ||
      typeof id !== 'number' ||
      !(typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) ||
      typeof headers !== 'string' ||
      !(typeof body === 'string' || body instanceof Uint8Array)
    ) {
      throw new FrameError('a frame is no reply');
    }
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.context.reply({ status, headers, body });
  }

  #failPending(): void {
    const failed = [...this.#pending.values()];
    this.#pending.clear();
    for (const { context, click } of failed) this.#fail(context, 'lost', click);
  }
}

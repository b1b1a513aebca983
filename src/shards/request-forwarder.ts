import type { RequestContext, RequestHandler } from '../http/engines/listener.ts';
import type { Reply } from '../http/engines/response-head.ts';
import {
  type ForwardClient,
  type ForwardFailure,
  type OwnedRequest,
  type RelayableClick,
  readForwardedHeaders,
} from './forward-client.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

/** Finds the tenant of a request of the public listener. */
export interface RequestOwnerFinder {
  /** Whether a request is a login, whose tenant is in the body. */
  isLogin(context: RequestContext): boolean;
  /** Returns the tenant of a request; null if every shard gives the same answer. */
  findOwner(context: RequestContext): OwnedRequest | null;
  /** Returns the tenant in the body of a login request; null if every shard gives the same answer. */
  findOwnerOfNewLogin(body: Buffer): OwnedRequest | null;
}

export interface RequestForwarderOptions {
  readonly owners: RequestOwnerFinder;
  readonly ownShard: number;
  readonly findShard: (account: number, verticalAndMode: number) => number;
  /** Connections to the other shards, by shard. */
  readonly clients: ReadonlyMap<number, ForwardClient>;
  /** Route index of forwarded requests, for metrics and logs. */
  readonly routeIndex: number;
  /** Replies to a request that is not forwarded. */
  readonly onFailure: (context: RequestContext, reason: ForwardFailure) => void;
  /** Reads a click; null for another request. */
  readonly readClick: (context: RequestContext) => RelayableClick | null;
  /** Handles the requests that this shard answers itself. */
  readonly handler: RequestHandler;
}

/** Returns a handler that forwards the requests of other shards, and passes all other requests to the handler of this shard. */
export function forwardRequests(options: RequestForwarderOptions): RequestHandler {
  const { owners, handler } = options;
  return (context) => {
    if (owners.isLogin(context)) {
      handleLogin(options, context);
      return;
    }
    const owned = owners.findOwner(context);
    const client = owned && findClient(options, owned);
    // A cookie can name an account that does not exist. Every shard refuses such a cookie.
    const isLocal = owned === null || client === null || (client === undefined && owned.route === 'console');
    if (isLocal) return handler(context);
    context.routeIndex = options.routeIndex;
    if (client === undefined) {
      options.onFailure(context, 'unreachable');
      return;
    }
    const click = owned.route === 'click' ? options.readClick(context) : null;
    if (click === null) client.forward(context, owned);
    else client.forwardClick(context, owned, click);
  };
}

/** Returns the connection to the shard of a tenant; null if it is this shard, and undefined if there is no such shard. */
function findClient(
  { findShard, ownShard, clients }: RequestForwarderOptions,
  { account, verticalAndMode }: OwnedRequest,
): ForwardClient | null | undefined {
  const shard = findShard(account, verticalAndMode);
  return shard === ownShard ? null : clients.get(shard);
}

/** Reads the body of a login request, whose API key determines the shard that stores the login. */
function handleLogin(options: RequestForwarderOptions, context: RequestContext): void {
  const headers = readForwardedHeaders(context, 'console');
  const peerAddress = context.getPeerAddress();
  const earlier = options.owners.findOwner(context);
  context.readBody((body) => {
    const owned = options.owners.findOwnerOfNewLogin(body);
    const client = owned && findClient(options, owned);
    const earlierClient = earlier && findClient(options, earlier);
    const read = { context, headers, peerAddress };
    const logOut = (): void => {
      if (earlier === null || earlierClient === client) return;
      const request = new ReadLoginRequest({ ...read, method: 'DELETE', body: noBody, onReply: () => {} });
      if (earlierClient === null) void options.handler(request);
      else earlierClient?.forwardWithBody(request, earlier, headers, peerAddress, noBody);
    };
    const onReply = (reply: Reply): void => {
      context.reply(reply);
      // The shard of the new login ends an earlier login only if it has it.
      if (reply.status === 200) logOut();
    };
    const request = new ReadLoginRequest({ ...read, method: context.method, body, onReply });
    if (owned === null || client === null) return options.handler(request);
    context.routeIndex = options.routeIndex;
    if (client === undefined) options.onFailure(context, 'unreachable');
    else client.forwardWithBody(request, owned, headers, peerAddress, body);
  });
}

const noBody = Buffer.alloc(0);

interface ReadLogin {
  readonly context: RequestContext;
  readonly method: string;
  readonly headers: readonly string[];
  readonly peerAddress: string;
  readonly body: Buffer;
  readonly onReply: (reply: Reply) => void;
}

/** A request to log in or out whose headers and body were already read. */
class ReadLoginRequest implements RequestContext {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly requestId: string;
  readonly hasIdempotencyKey: boolean;
  readonly #context: RequestContext;
  readonly #headers: readonly string[];
  readonly #peerAddress: string;
  readonly #body: Buffer;
  readonly #onReply: (reply: Reply) => void;

  constructor({ context, method, headers, peerAddress, body, onReply }: ReadLogin) {
    this.method = method;
    this.path = context.path;
    this.query = context.query;
    this.requestId = context.requestId;
    this.hasIdempotencyKey = context.hasIdempotencyKey;
    this.#context = context;
    this.#headers = headers;
    this.#peerAddress = peerAddress;
    this.#body = body;
    this.#onReply = onReply;
  }

  getRequestHeader(lowerCaseName: string): string {
    return this.#headers[(forwardedHeaders.console as readonly string[]).indexOf(lowerCaseName)] ?? '';
  }

  getPeerAddress(): string {
    return this.#peerAddress;
  }

  readBody(onBody: (body: Buffer) => void | Promise<void>): void {
    void onBody(this.#body);
  }

  get errorHeaders(): string {
    return this.#context.errorHeaders;
  }

  set errorHeaders(headers) {
    this.#context.errorHeaders = headers;
  }

  get routeIndex(): number {
    return this.#context.routeIndex;
  }

  set routeIndex(index) {
    this.#context.routeIndex = index;
  }

  get caller(): RequestContext['caller'] {
    return this.#context.caller;
  }

  set caller(caller) {
    this.#context.caller = caller;
  }

  reply(reply: Reply): void {
    this.#onReply(reply);
  }

  logIncompleteAnswer(...problem: Parameters<RequestContext['logIncompleteAnswer']>): void {
    this.#context.logIncompleteAnswer(...problem);
  }

  get ended(): boolean {
    return this.#context.ended;
  }

  get elapsedMs(): number {
    return this.#context.elapsedMs;
  }
}

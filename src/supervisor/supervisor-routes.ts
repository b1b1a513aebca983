import { bounds } from '../bounds.ts';
import { serviceUnavailable } from '../domain/outcome.ts';
import { peerAddressHeader, type RequestContext, type RequestHandler } from '../http/engines/listener.ts';
import { formatHeader, formatHeaders } from '../http/engines/response-head.ts';
import { createHostHeaderCheck } from '../http/routes/admin-routes.ts';
import { sendJson } from '../http/routes/operator/operator-route.ts';
import { errorReply, jsonHeaders } from '../http/routes/replies.ts';
import { allowOnlyGet, withRoute } from '../http/routes/routing.ts';
import type { MetricRegistry } from '../metrics/metric-registry.ts';
import { mergeConfirmations, mergeKeys, mergeOffers, mergeStatus, type ShardValue } from './merge-answers.ts';
import { mergeMetrics } from './merge-metrics.ts';
import { askShard, type ShardAnswer, type ShardRequest } from './shard-client.ts';

/** A shard, as its supervisor sees it. */
export interface SupervisedShard {
  readonly number: number;
  readonly state: string;
  /** Unix socket of the operations listener of the shard. */
  readonly socketPath: string;
}

export interface SupervisorRoutesDeps {
  readonly shards: readonly SupervisedShard[];
  /** Host names that the operations listener accepts besides `localhost` and IP addresses. */
  readonly hostNames: readonly string[];
  /** Returns the operator token. */
  readonly readOperatorToken: () => string;
  /** Metrics of the supervisor. */
  readonly metrics: MetricRegistry;
}

/** Request headers that the routes of the operations listener read. */
const forwardedHeaders = [
  'accept',
  'accept-encoding',
  'authorization',
  'content-type',
  'cookie',
  'host',
  'if-none-match',
  'origin',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
] as const;

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/** Requests, as method and path, whose answers combine the answers of all shards. */
const mergedAnswers: readonly (readonly [
  request: RegExp,
  merge: (answers: readonly ShardValue<never>[]) => unknown,
])[] = [
  [/^GET \/status$/, mergeStatus],
  [/^GET \/keys(?:\/[^/]+)?$/, mergeKeys],
  [/^GET \/catalogs\/[^/]+\/[^/]+\/offers$/, mergeOffers],
  [/^POST \/confirmations$/, mergeConfirmations],
];

/**
 * Creates the handler of the operations listener of a supervisor. `/healthz`, `/readyz` and `/metrics` ask every shard. Other requests go
 * to shard 0, which has the files that the shards share; `mergedAnswers` are completed by the answers of the other shards.
 */
export function supervisorRoutes(deps: SupervisorRoutesDeps): RequestHandler {
  const isKnownHost = createHostHeaderCheck(deps.hostNames);
  const handlers = new Map<string, RequestHandler>([
    [
      '/healthz',
      withRoute(
        'healthz',
        allowOnlyGet((context) => replyHealth(deps, context)),
      ),
    ],
    [
      '/readyz',
      withRoute(
        'readyz',
        allowOnlyGet((context) => replyReadiness(deps, context)),
      ),
    ],
    [
      '/metrics',
      withRoute(
        'metrics',
        allowOnlyGet((context) => replyMetrics(deps, context)),
      ),
    ],
  ]);
  return (context) => {
    if (!isKnownHost(context.getRequestHeader('host'))) {
      return context.reply(errorReply({ code: 'MISDIRECTED_REQUEST' }, context.requestId));
    }
    const handler = handlers.get(context.path);
    return handler === undefined ? forwardToShards(deps, context) : handler(context);
  };
}

/** Sends the same request to every shard. The value of a shard that does not answer in time is null. */
function askShards(
  shards: readonly SupervisedShard[],
  request: ShardRequest,
  timeoutMs: number = bounds.shardAnswerTimeoutMs,
) {
  const signal = AbortSignal.timeout(timeoutMs);
  return Promise.all(
    shards.map(async ({ number, socketPath }): Promise<ShardValue<ShardAnswer>> => {
      const value = await askShard(socketPath, request, signal).catch(() => null);
      return { shard: number, value };
    }),
  );
}

function getRequest(target: string): ShardRequest {
  return { method: 'GET', target, headers: {} };
}

async function replyHealth({ shards }: SupervisorRoutesDeps, context: RequestContext): Promise<void> {
  const answers = await askShards(shards, getRequest('/healthz'));
  const described = answers.map(({ shard, value }, index) => ({
    shard,
    status: value?.status === 200 ? 'ok' : shards[index]!.state,
  }));
  sendJson(context, { status: 'ok', shards: described });
}

async function replyReadiness({ shards }: SupervisorRoutesDeps, context: RequestContext): Promise<void> {
  const answers = await askShards(shards, getRequest('/readyz'));
  const described = answers.map(({ shard, value }, index) => {
    if (value !== null) return { shard, ...JSON.parse(value.body.toString()) };
    return { shard, status: 'not ready', reasons: [`the shard does not answer (${shards[index]!.state})`] };
  });
  const isReady = answers.every(({ value }) => value?.status === 200);
  sendJson(context, { status: isReady ? 'ready' : 'not ready', shards: described }, isReady ? 200 : 503);
}

async function replyMetrics({ shards, metrics }: SupervisorRoutesDeps, context: RequestContext): Promise<void> {
  const [own, answers] = await Promise.all([metrics.renderPrometheusText(), askShards(shards, getRequest('/metrics'))]);
  const texts = answers.flatMap(({ shard, value }) =>
    value?.status === 200 ? { shard, text: value.body.toString() } : [],
  );
  if (texts.length < shards.length) {
    context.logIncompleteAnswer({ text: 'metrics of a shard are missing; see marketplace_shard_up' });
  }
  const headers = formatHeader('Content-Type', metrics.contentType) + noStore;
  context.reply({ status: 200, headers, body: `${own}\n${mergeMetrics(texts)}` });
}

/** Sends a request to shard 0, and its answer, completed by the other shards if necessary, to the client. */
function forwardToShards(deps: SupervisorRoutesDeps, context: RequestContext): Promise<void> | void {
  const { method, path, query } = context;
  const apiPath = path.replace(/^\/console\/api(?=\/)/, '');
  const headers: Record<string, string> = { [peerAddressHeader]: context.getPeerAddress() };
  for (const name of forwardedHeaders) {
    const value = context.getRequestHeader(name);
    if (value !== '') headers[name] = value;
  }
  const suffix = query === '' ? '' : `?${query}`;
  const send = async (body?: Uint8Array): Promise<void> => {
    // The listener of this process omits the body of the answer to HEAD.
    const request = { method: method === 'HEAD' ? 'GET' : method, target: path + suffix, headers, body };
    const answer = await askFirstShard(deps, request, context);
    if (answer === null) return;
    const merge = answer.status === 200 ? findMerge(request.method, apiPath) : undefined;
    if (merge === undefined) return context.reply(answer);
    const authorization = `Bearer ${deps.readOperatorToken()}`;
    const others = await askShards(
      deps.shards.slice(1),
      { ...request, target: apiPath + suffix, headers: { authorization, 'content-type': 'application/json' } },
      // A shard that is asked to confirm revenue may have to wait for its analytics.
      body === undefined ? bounds.shardAnswerTimeoutMs : computeRemainingMs(context),
    );
    const values = [{ shard: 0, value: answer }, ...others].map(({ shard, value }) => ({
      shard,
      value: (value?.status === 200 ? JSON.parse(value.body.toString()) : null) as never,
    }));
    if (values.some(({ value }) => value === null)) {
      context.logIncompleteAnswer({ text: 'figures of a shard are missing; see marketplace_shard_up' });
    }
    context.reply({ status: 200, headers: jsonHeaders, body: `${JSON.stringify(merge(values))}\n` });
  };
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return send();
  // The buffer of the body is valid only during the call.
  context.readBody((bytes) => send(Buffer.from(bytes)));
}

/** Returns the time until the deadline of a request, less a margin in which its answer is created. */
function computeRemainingMs({ elapsedMs }: RequestContext): number {
  return Math.max(1, bounds.requestDeadlineMs - bounds.shardAnswerMarginMs - Math.ceil(elapsedMs));
}

function findMerge(method: string, path: string) {
  return mergedAnswers.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
}

/** Sends a request to shard 0. Replies 503 and returns null if it does not answer. */
async function askFirstShard(
  { shards }: SupervisorRoutesDeps,
  request: ShardRequest,
  context: RequestContext,
): Promise<ShardAnswer | null> {
  try {
    return await askShard(shards[0]!.socketPath, request, AbortSignal.timeout(bounds.requestDeadlineMs));
  } catch (cause) {
    replyUnavailable(context, 'shard 0 does not answer', cause);
    return null;
  }
}

function replyUnavailable(context: RequestContext, text: string, cause?: unknown): void {
  const { error } = serviceUnavailable(bounds.retryAfterSeconds, { text, ...(cause !== undefined && { cause }) });
  context.reply(errorReply(error, context.requestId));
}

import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { bounds } from '../bounds.ts';
import { type ServiceProblem, serviceUnavailable } from '../domain/outcome.ts';
import { forwardSocketPath } from '../files/data-paths.ts';
import { createPrivateFolder, restrictFolderToOwner } from '../files/durable-files.ts';
import type { HandlingOptions, RequestContext, RequestHandler } from '../http/engines/listener.ts';
import { forwardedRouteIndex } from '../http/routes/routing.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ForwardClient, type ForwardFailure } from '../shards/forward-client.ts';
import { ForwardListener, type ForwardListenerOptions } from '../shards/forward-listener.ts';
import { forwardRequests, type RequestForwarderOptions } from '../shards/request-forwarder.ts';
import type { CleanupStack, ServiceLifecycle } from './lifecycle.ts';
import type { ServiceOptions, ShardOptions } from './service.ts';

interface ForwardingDeps {
  readonly cleanup: CleanupStack;
  readonly metrics: Metrics;
  readonly lifecycle: Pick<ServiceLifecycle, 'remainingDrainMs'>;
  readonly findShard: (account: number, verticalAndMode: number) => number;
  /** How this shard handles the requests that other shards forward. */
  readonly handling: HandlingOptions;
}

/** Forwarding of public requests to the shards of their accounts. */
export interface Forwarding {
  /** Returns a handler that forwards the requests of other shards, and passes all other requests to the handler of this shard. */
  readonly forwardRequests: (routes: ForwardedRoutes) => RequestHandler;
}

type ForwardedRoutes = Pick<RequestForwarderOptions, 'owners' | 'handler' | 'readClick'> &
  Pick<ForwardListenerOptions, 'recordRelayedClick'>;

const problems: Readonly<Record<ForwardFailure, ServiceProblem>> = {
  unreachable: { text: 'the shard of the account cannot be reached; check whether its process runs' },
  full: {
    text: 'the shard of the account has too many unanswered requests; check the load of its process and of its disk',
  },
  lost: {
    text: 'the shard of the account closed the connection before it answered; check whether its process has stopped',
  },
};

/**
 * Opens the socket on which this shard receives requests from other shards, and the connections to the other shards. The connections close
 * before the socket, so that shards that stop together answer all requests.
 */
export async function openForwarding(
  { logger }: ServiceOptions,
  { number: ownShard, count, rootDir }: ShardOptions,
  { cleanup, metrics, lifecycle, findShard, handling }: ForwardingDeps,
): Promise<Forwarding> {
  // Clicks that arrive during the start wait until the service can record them.
  const recorder = Promise.withResolvers<ForwardedRoutes['recordRelayedClick']>();
  const path = prepareSocket(forwardSocketPath(rootDir, ownShard));
  const listener = await ForwardListener.listen({
    ...handling,
    path,
    shard: ownShard,
    isOwner: (account, verticalAndMode) => findShard(account, verticalAndMode) === ownShard,
    recordRelayedClick: async (...click) => (await recorder.promise)(...click),
    onRelayError: (error) => logger.error({ err: describeError(error) }, 'click of another shard not recorded'),
  });
  cleanup.addCleanupCallback(() => listener.close(lifecycle.remainingDrainMs));

  const onFailure = (context: RequestContext, reason: ForwardFailure): void => {
    if (!context.ended) metrics.countForwardFailure(reason);
    const { error } = serviceUnavailable(bounds.retryAfterSeconds, problems[reason]);
    const outcomeUnknown = reason === 'lost';
    context.reply(handling.errorReply({ ...error, outcomeUnknown }, context.requestId, ''));
  };
  const clients = new Map<number, ForwardClient>();
  for (let shard = 0; shard < count; shard++) {
    if (shard === ownShard) continue;
    const onConnectionChange = (connected: boolean): void => {
      if (connected) logger.info({ otherShard: shard }, 'connected to another shard');
      else logger.warn({ otherShard: shard }, 'connection to another shard lost');
    };
    const client = new ForwardClient({
      path: forwardSocketPath(rootDir, shard),
      ownShard,
      shard,
      relayedClicksMax: Math.floor(bounds.relayedClicksMax / (count - 1)),
      onFailure,
      onClickRelayed: metrics.countRelayedClick,
      onConnectionChange,
    });
    cleanup.addCleanupCallback(async () => {
      const lostClicks = await client.close(lifecycle.remainingDrainMs);
      if (lostClicks > 0)
        logger.warn({ otherShard: shard, lostClicks }, 'clicks lost that another shard has not recorded');
    });
    clients.set(shard, client);
  }
  return {
    forwardRequests: ({ recordRelayedClick, ...routes }) => {
      recorder.resolve(recordRelayedClick);
      return forwardRequests({ ...routes, ownShard, findShard, clients, routeIndex: forwardedRouteIndex, onFailure });
    },
  };
}

/**
 * Creates the folder of the sockets of all shards, which only the owner can enter, and deletes the socket of an earlier process: the lock of
 * the data folder makes sure that no other process uses it. Returns the path of the socket.
 */
export function prepareSocket(path: string): string {
  createPrivateFolder(dirname(path));
  restrictFolderToOwner(dirname(path));
  rmSync(path, { force: true });
  return path;
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { operatorTokenPath, readOperatorToken } from '../auth/operator-token.ts';
import { bounds } from '../bounds.ts';
import type { HttpEngineSetting, ListenAddress } from '../config/service-settings.ts';
import type { Clock } from '../domain/clock.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { assertShardCount, shardDataDir, shardOperationsSocketPath, shardsFolder } from '../files/data-paths.ts';
import { createPrivateFolder } from '../files/durable-files.ts';
import { FolderInUseError, lockFolder } from '../files/folder-lock.ts';
import type { Listener } from '../http/engines/listener.ts';
import { startListener } from '../http/engines/start-listener.ts';
import { errorReply } from '../http/routes/replies.ts';
import { allRouteNames } from '../http/routes/routing.ts';
import { RequestLogger } from '../logging/request-logger.ts';
import { MetricRegistry } from '../metrics/metric-registry.ts';
import { ShardProcess, type StartFailure } from './shard-process.ts';
import { supervisorRoutes } from './supervisor-routes.ts';

export interface SupervisorOptions {
  /** Folder of shard 0, and of the files that all shards share. */
  readonly rootDir: string;
  readonly count: number;
  /** Address of the public listeners of all shards. Port 0 selects a free port. */
  readonly public: ListenAddress;
  /** Address of the operations listener. */
  readonly operations: ListenAddress;
  readonly operationsAllowedHosts: readonly string[];
  readonly engine: HttpEngineSetting;
  /** Starts the process of a shard, with a channel for messages. */
  readonly spawn: (shard: number, publicPort: number) => ChildProcess;
  /** Aborted if the start must end. */
  readonly stopSignal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Error for a shard that ended before its first service. */
export class ShardStartError extends OperatorError {
  override readonly name = 'ShardStartError';
  readonly exitCode: number;

  constructor(shard: number, { message, exitCode }: StartFailure) {
    super(message ?? `shard ${shard} ended during its start with code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/**
 * Processes of all shards of a data folder, and the operations listener for all of them. A supervisor starts a shard again that has ended,
 * and has no other state.
 */
export class Supervisor {
  readonly shards: readonly ShardProcess[];
  readonly publicPort: number;
  readonly #listener: Listener;
  readonly #release: () => void;

  private constructor(shards: readonly ShardProcess[], publicPort: number, listener: Listener, release: () => void) {
    this.shards = shards;
    this.publicPort = publicPort;
    this.#listener = listener;
    this.#release = release;
  }

  /**
   * Starts all shards. Returns null if `stopSignal` ended the start. Throws `FolderInUseError` if another supervisor or service uses the data
   * folder, `ShardCountError`, `ShardStartError`, or the system error of an address.
   */
  static async start(options: SupervisorOptions): Promise<Supervisor | null> {
    const { rootDir, count } = options;
    const socketPaths = Array.from({ length: count }, (_, shard) => shardOperationsSocketPath(rootDir, shard));
    createPrivateFolder(shardsFolder(rootDir));
    const lock = lockFolder(shardsFolder(rootDir));
    let supervisor: Supervisor | null = null;
    let releasePort = () => {};
    try {
      assertShardCount(rootDir, count);
      await waitForEarlierShards(options);
      const { port: publicPort, release } = await reservePort(options.public);
      releasePort = release;
      const shards = socketPaths.map(
        (_, number) => new ShardProcess({ ...options, number, spawn: (shard) => options.spawn(shard, publicPort) }),
      );
      const { listener, close } = await openOperationsListener(options, shards, socketPaths);
      supervisor = new Supervisor(shards, publicPort, listener, () => {
        close();
        lock.release();
      });
      await supervisor.#startShards(options);
      if (!options.stopSignal.aborted) return supervisor;
      await supervisor.stop();
      return null;
    } catch (error) {
      if (supervisor === null) lock.release();
      else await supervisor.stop();
      throw error;
    } finally {
      releasePort();
    }
  }

  get operationsPort(): number {
    return this.#listener.port;
  }

  /** Drains all shards, and then closes the operations listener. Resolves to the highest exit code of a shard. */
  async stop(): Promise<number> {
    const exitCodes = await Promise.all(this.shards.map((shard) => shard.stop()));
    await this.#listener.close(0);
    this.#release();
    return Math.max(...exitCodes);
  }

  /** Ends all shards without a drain. Resolves when all have ended. */
  async stopImmediately(): Promise<void> {
    for (const shard of this.shards) shard.send({ kind: 'exit' });
    const ended = Promise.all(this.shards.map((shard) => shard.stop()));
    const timer = setTimeout(() => {
      for (const shard of this.shards) shard.kill();
    }, bounds.crashCloseTimeoutMs);
    await ended;
    clearTimeout(timer);
  }

  /** Starts the shards: shard 0 first if a shard is new, because shard 0 creates the files that the others share. */
  async #startShards({ rootDir, stopSignal }: SupervisorOptions): Promise<void> {
    const stop = () => void this.shards.map((shard) => shard.stop());
    stopSignal.addEventListener('abort', stop, { once: true });
    try {
      const isNew = this.shards.some(({ number }) => !existsSync(shardDataDir(rootDir, number)));
      if (isNew) await startShard(this.shards[0]!, stopSignal);
      await Promise.all(this.shards.slice(isNew ? 1 : 0).map((shard) => startShard(shard, stopSignal)));
    } finally {
      stopSignal.removeEventListener('abort', stop);
    }
  }
}

async function startShard(shard: ShardProcess, stopSignal: AbortSignal): Promise<void> {
  if (stopSignal.aborted) return;
  const failure = await shard.start();
  if (failure !== null && !stopSignal.aborted) throw new ShardStartError(shard.number, failure);
}

/**
 * Finds out whether an address is free, also if its port can be shared. Rejects with the system error. A selected port (0) stays reserved
 * until the call of `release`, so that no other program selects it before the shards listen. Clients do not know this port yet.
 */
async function reservePort({ host, port }: ListenAddress): Promise<{ readonly port: number; release(): void }> {
  const server = createServer();
  server.listen({ host, port, exclusive: true, reusePort: port === 0 });
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  if (port === 0) return { port: free, release: () => server.close() };
  server.close();
  await once(server, 'close');
  return { port, release: () => {} };
}

/** Waits until no process uses the folders of the shards. Throws `FolderInUseError` if one does after the shards have had time to drain. */
async function waitForEarlierShards({ rootDir, count, stopSignal, clock, logger }: SupervisorOptions): Promise<void> {
  const startedMs = clock.monotonicMs();
  let isLogged = false;
  for (let shard = 0; shard < count; shard++) {
    const folder = shardDataDir(rootDir, shard);
    while (existsSync(folder)) {
      try {
        lockFolder(folder).release();
        break;
      } catch (error) {
        if (!(error instanceof FolderInUseError)) throw error;
        if (clock.monotonicMs() - startedMs > bounds.earlierShardsWaitMs || stopSignal.aborted) throw error;
        if (!isLogged) logger.warn({ folder }, 'data folder in use; waiting for an earlier process to end');
        isLogged = true;
        await pause(bounds.earlierShardsPollMs);
      }
    }
  }
}

async function openOperationsListener(
  { operations, operationsAllowedHosts, engine, rootDir, clock, logger }: SupervisorOptions,
  shards: readonly ShardProcess[],
  socketPaths: readonly string[],
) {
  const metrics = new MetricRegistry();
  const sampleShards = (read: (shard: ShardProcess) => number) => () =>
    shards.map((shard) => ({ labels: { shard: shard.number }, value: read(shard) }));
  metrics.registerGauge(
    'marketplace_shard_up',
    '1 while the process of the shard runs.',
    sampleShards(({ state }) => Number(state === 'serving')),
    ['shard'],
  );
  metrics.registerCounter(
    'marketplace_shard_restarts_total',
    'Starts of the shard after its process has ended.',
    sampleShards(({ restarts }) => restarts),
    ['shard'],
  );
  const requestLog = new RequestLogger({ logger, clock, routeNames: allRouteNames, callerNames: () => ({}) });
  const listener = await startListener(engine, {
    ...operations,
    handler: supervisorRoutes({
      shards: shards.map((shard, index) => ({
        number: shard.number,
        socketPath: socketPaths[index]!,
        get state() {
          return shard.state;
        },
      })),
      hostNames: [operations.host, ...operationsAllowedHosts],
      readOperatorToken: () => readOperatorToken(operatorTokenPath(rootDir)),
      metrics,
    }),
    bodyBytesMax: bounds.confirmationBodyBytesMax,
    deadlineMs: bounds.requestDeadlineMs,
    errorReply,
    onHandlerError: (error, request) => requestLog.logError(error, request),
    onErrorReply: requestLog.logErrorReply,
    onSuccessReply: requestLog.logSuccess,
    onIncompleteAnswer: requestLog.logIncompleteAnswer,
  });
  return { listener, close: () => requestLog.close() };
}

import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { bounds } from '../../bounds.ts';
import { type Config, detectMachineResources } from '../../config/config.ts';
import { environmentWith } from '../../config/env.ts';
import { systemClock } from '../../domain/clock.ts';
import type { ProcessLog } from '../../logging/standard-error-log.ts';
import { packageVersion } from '../../server/version.ts';
import { ShardStartError, Supervisor } from '../../supervisor/supervisor.ts';
import { CommandLineError, type ExitCode, exitCodes } from '../command.ts';
import { installSignalHandlers } from '../signals.ts';
import { exitOnUncaughtException } from '../uncaught-exceptions.ts';
import { toStartupError } from './start-error.ts';

/**
 * Runs the service as several processes. Signals act on all of them, as on a service of one process: SIGINT or SIGTERM drains them, a second
 * signal ends them, and SIGHUP reloads catalogs and certificate. If this process is killed, its children drain and exit.
 */
export async function serveShards(config: Config, { logger, flush }: ProcessLog): Promise<void> {
  exitOnUncaughtException(logger, async () => void (await flush()));
  const signals = installSignalHandlers();
  let running: Supervisor | null = null;
  signals.onSecondStopSignal((signal) => {
    process.exitCode = exitCodes.failure;
    logger.warn({ signal }, 'second signal received; ending all shards without draining');
    const ended = running?.stopImmediately() ?? Promise.resolve();
    void ended.then(flush).finally(() => process.exit());
  });
  const supervisor = await startSupervisor(config, signals.stopSignal, logger);
  if (supervisor === null) {
    logger.info('start canceled by a signal');
    if (!(await flush())) process.exit();
    return;
  }
  running = supervisor;
  signals.onReloadSignal(() => {
    for (const shard of supervisor.shards) shard.send({ kind: 'reload' });
  });
  const { publicPort, operationsPort } = supervisor;
  supervisor.shards[0]!.send({ kind: 'announce', operationsPort });
  const { host, operationsHost } = config.listen;
  logger.info(
    {
      version: packageVersion,
      shards: config.shards,
      public: { host, port: publicPort },
      operations: { host: operationsHost, port: operationsPort },
      dataDir: config.dataDir,
    },
    'shards started',
  );
  const signal = await signals.stopRequested;
  logger.info({ signal }, 'shards draining');
  const exitCode = await supervisor.stop();
  logger.info({ exitCode }, 'shards stopped');
  if (exitCode !== exitCodes.success) process.exitCode = exitCode;
  if (!(await flush())) process.exit();
}

async function startSupervisor(
  config: Config,
  stopSignal: AbortSignal,
  logger: Parameters<typeof Supervisor.start>[0]['logger'],
): Promise<Supervisor | null> {
  const { listen, dataDir, shards } = config;
  const { host, port, operationsHost, operationsPort, operationsAllowedHosts, engine } = listen;
  try {
    return await Supervisor.start({
      rootDir: dataDir,
      count: shards,
      public: { host, port },
      operations: { host: operationsHost, port: operationsPort },
      operationsAllowedHosts,
      engine,
      spawn: (shard, publicPort) => spawnShard(config, shard, publicPort),
      stopSignal,
      clock: systemClock,
      logger,
    });
  } catch (error) {
    if (!(error instanceof ShardStartError)) throw toStartupError(error, config);
    throw new CommandLineError(error.message, { exitCode: error.exitCode as ExitCode });
  }
}

/** Starts the process of a shard, which gets its part of heap, sessions and matching threads. Only shard 0 prints on standard output. */
function spawnShard({ shards, maxSessions, matcherThreads }: Config, shard: number, publicPort: number): ChildProcess {
  const { heapMegabytes, heapBytes } = detectMachineResources();
  const ownHeapMegabytes = Math.floor((heapMegabytes ?? heapBytes / 2 ** 20) / shards);
  const threads = matcherThreads === 0 ? 0 : Math.max(1, Math.floor(matcherThreads / shards));
  return spawn(
    process.execPath,
    [
      ...process.execArgv.filter((argument) => !argument.startsWith('--max-old-space-size=')),
      `--max-old-space-size=${Math.max(bounds.shardHeapMegabytesMin, ownHeapMegabytes)}`,
      process.argv[1]!,
      'serve',
      '--shard',
      String(shard),
    ],
    {
      env: environmentWith({
        SVC_SHARDS: String(shards),
        SVC_PORT: String(publicPort),
        SVC_MAX_SESSIONS: String(Math.max(1, Math.floor(maxSessions / shards))),
        SVC_MATCHER_THREADS: String(threads),
      }),
      stdio: ['ignore', shard === 0 ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    },
  );
}

import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { Logger } from 'pino';
import { AuditLogUnavailableError, serviceActor } from '../../audit/audit-log.ts';
import { defaultLimitOverrides } from '../../auth/rate-limits.ts';
import { bounds } from '../../bounds.ts';
import { findCatalogFiles } from '../../catalogs/find-catalog-files.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { type Config, loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { resolveUrls } from '../../config/resolve-urls.ts';
import { SerialQueue } from '../../domain/async.ts';
import { systemClock } from '../../domain/clock.ts';
import type { ApiKeyMode } from '../../domain/mode.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { shardDataDir } from '../../files/data-paths.ts';
import { diskFullMessage, isDiskFullError, writeFileDurably } from '../../files/durable-files.ts';
import { isSqliteFileBusy } from '../../files/shared-database.ts';
import { createStandardErrorLog, type ProcessLog } from '../../logging/standard-error-log.ts';
import type { Service } from '../../server/service.ts';
import { startService } from '../../server/start-service.ts';
import { packageVersion } from '../../server/version.ts';
import { connectToSupervisor, type SupervisorChannel } from '../../supervisor/shard-messages.ts';
import { CommandLineError, createIntegerParser, defineCommand, exitCodes } from '../command.ts';
import { findExitCode, formatErrorMessage } from '../command-errors.ts';
import { printResult } from '../output.ts';
import { createRecoveryProgress } from '../progress-bar.ts';
import { installSignalHandlers } from '../signals.ts';
import { exitOnUncaughtException } from '../uncaught-exceptions.ts';
import { serveShards } from './serve-shards.ts';
import { toStartupError } from './start-error.ts';

export function createCommand(registry: VerticalRegistry): Command {
  return defineCommand('serve', {
    description:
      'Runs the service in the foreground. SIGINT and SIGTERM drain the server, which then exits with 0; a second signal ends the server at once with 1. SIGHUP reloads the catalog and the certificate. ' +
      'The settings are environment variables; marketplace check-config prints them. The addresses go to standard output, the log to standard error as one JSON object per line.',
    examples: ['marketplace serve', 'SVC_PORT=9000 SVC_DATA_DIR=/var/lib/marketplace marketplace serve'],
    exitCodes: { 0: 'stopped by a signal', 1: 'the start failed, or a second signal ended the drain' },
  })
    .option(
      '--shards <count>',
      `divide the accounts among several processes on one port, 1 to ${bounds.shardsMax} (see SVC_SHARDS)`,
      createIntegerParser(bounds.shardsMax),
    )
    .addOption(new Option('--shard <number>', 'run one shard of a supervisor').argParser(Number).hideHelp())
    .action((options: ServeOptions) => serve(registry, options));
}

interface ServeOptions {
  readonly shards?: number;
  /** Number of the shard that a supervisor runs in this process; absent otherwise. */
  readonly shard?: number;
}

/** Runs the service in this process, or, with several shards, in child processes. */
async function serve(registry: VerticalRegistry, { shards, shard }: ServeOptions): Promise<void> {
  const env = readEnv();
  const values = { ...env.values, ...(shards !== undefined && { SVC_SHARDS: String(shards) }) };
  const { config, warnings } = loadConfig({ ...env, values });
  const log = createStandardErrorLog(config.logLevel, shard);
  if (shard !== undefined) return runShard(registry, config, log, shard);
  // The supervisor logs the warnings for all shards.
  for (const warning of warnings) log.logger.warn(warning);
  if (config.shards > 1) await serveShards(config, log);
  else await runServer(registry, config, log);
}

/** Shard that this process runs. */
interface RunningShard {
  readonly number: number;
  readonly channel: SupervisorChannel;
  /** Resolves to the port of the operations listener, if this shard must print the lines of a start. */
  readonly announced: Promise<number>;
}

/** Runs one shard. A supervisor has started this process, and reports an error of the start. */
async function runShard(registry: VerticalRegistry, config: Config, log: ProcessLog, number: number): Promise<void> {
  const signals = installSignalHandlers();
  // The supervisor decides about the end of the process. A second signal may come from the process group or the service manager.
  const ignoreSignal = () => signals.onSecondStopSignal(ignoreSignal);
  ignoreSignal();
  const announced = Promise.withResolvers<number>();
  const channel = connectToSupervisor((message) => {
    if (message.kind === 'stop') process.emit('SIGTERM', 'SIGTERM');
    else if (message.kind === 'reload') process.emit('SIGHUP', 'SIGHUP');
    else if (message.kind === 'exit') process.exit(exitCodes.failure);
    else if (message.kind === 'announce') announced.resolve(message.operationsPort);
  });
  if (channel === null) throw new CommandLineError('--shard is an internal option; use --shards');
  try {
    await runServer(registry, config, log, { number, channel, announced: announced.promise });
  } catch (error) {
    // The supervisor prints the error.
    process.exitCode = findExitCode(error);
    const { exitCode } = process;
    await channel.send({ kind: 'failed', message: formatErrorMessage(error), exitCode: Number(exitCode) });
  } finally {
    channel.close();
  }
}

/**
 * Polls files every `intervalMs`. After a change, calls `onChange` as soon as no file has changed for `debounceMs`. Without `debounceMs`,
 * `onChange` could run when a new certificate is already written but its key is not. Returns a function that stops polling.
 */
function watchFiles(
  files: readonly string[],
  { intervalMs, debounceMs }: { readonly intervalMs: number; readonly debounceMs: number },
  onChange: () => void,
): () => void {
  let debounce: NodeJS.Timeout | undefined;
  const scheduleChange = (): void => {
    clearTimeout(debounce);
    debounce = setTimeout(onChange, debounceMs);
  };
  for (const file of files) watchFile(file, { interval: intervalMs }, scheduleChange);
  return () => {
    for (const file of files) unwatchFile(file, scheduleChange);
    clearTimeout(debounce);
  };
}

/**
 * Runs the service until a signal stops the process. After SIGINT or SIGTERM, finishes the requests in progress and exits with code 0;
 * a second SIGINT or SIGTERM exits immediately with code 1. SIGHUP reloads the catalogs and the certificate (docs/operating.md).
 */
async function runServer(
  registry: VerticalRegistry,
  config: Config,
  { logger, flush }: ProcessLog,
  shard: RunningShard | null = null,
): Promise<void> {
  const signals = installSignalHandlers();
  let running: Service | null = null;
  exitOnUncaughtException(logger, async () => {
    await running?.closeImmediately();
    await flush();
  });
  const endAtOnce = (signal: NodeJS.Signals) => {
    // The exit code is set before the flush, because the process may end before `process.exit` is called.
    process.exitCode = 1;
    logger.warn(
      { signal, requestsInFlight: running?.requestsInFlight() ?? 0 },
      'second signal received; exiting without draining',
    );
    void flush().finally(() => process.exit());
  };
  if (shard === null) signals.onSecondStopSignal(endAtOnce);

  const service = await startServer(config, registry, logger, signals.stopSignal, shard?.number ?? null);
  if (service === null) {
    logger.info('start canceled by a signal');
    if (!(await flush())) process.exit();
    return;
  }
  running = service;
  // One catalog reload can wait for the running reload. Others are dropped, because the waiting reload reads the newest files.
  const reloads = new SerialQueue(1);
  const requestCatalogReload = (): void => void reloads.run(() => reloadCatalogs(service, logger, signals.stopSignal));
  const stopWatching = watchReloadableFiles(config, service, logger, requestCatalogReload);
  const hasReloaded = signals.onReloadSignal(() => {
    if (signals.stopSignal.aborted) return;
    reloadCertificate(service, logger);
    requestCatalogReload();
  });
  // Applies a certificate that changed during the start, because the file watcher does not report this change.
  if (!hasReloaded) reloadCertificate(service, logger);
  const print = async (operationsPort: number) => {
    try {
      printStartMessages(config, service, operationsPort);
    } catch (error) {
      for (const stop of stopWatching) stop();
      await service.closeImmediately();
      throw error;
    }
  };
  const { engine, ports } = service;
  if (shard === null) await print(ports!.operations);
  logger.info(
    {
      version: packageVersion,
      node: process.version,
      httpEngine: engine?.name,
      httpEngineReason: engine?.reason,
      url: service.urls.public,
      public: { host: config.listen.host, port: ports?.public },
      operations: shard === null ? { host: config.listen.operationsHost, port: ports?.operations } : undefined,
      dataDir: config.dataDir,
      verticals: service.verticals.map(({ segment }) => segment),
      matcherThreads: config.matcherThreads,
      durability: config.durability,
      maxSessions: config.maxSessions,
      testClock: service.testClock?.readTime().now,
    },
    'service started',
  );
  if (shard !== null) {
    await shard.channel.send({ kind: 'started' });
    const operationsPort = await Promise.race([shard.announced, signals.stopRequested]);
    if (typeof operationsPort === 'number') await print(operationsPort);
  }

  const signal = await signals.stopRequested;
  logger.info({ signal }, 'service draining');
  for (const stop of stopWatching) stop();
  await service.close();
  logger.info('service stopped');
  // Exits if the log cannot be flushed, because unwritten log lines would keep the process alive.
  if (!(await flush())) process.exit();
}

/**
 * Starts the service. Returns null if `startAbortSignal` cancelled the start.
 *
 * @param shard number of the shard that this process runs; null without other shards
 */
export async function startServer(
  config: Config,
  registry: VerticalRegistry,
  logger: Logger,
  startAbortSignal: AbortSignal,
  shard: number | null = null,
): Promise<Service | null> {
  // Waits one turn of the event loop, so that a signal that arrived while modules were loaded is handled first. If a stop signal arrived,
  // the service writes no files.
  await nextTurn();
  if (startAbortSignal.aborted) return null;
  const progress = createRecoveryProgress(shard === null ? process.stderr : { write() {} }, logger);
  const { dataDir: rootDir, shards: count } = config;
  try {
    const service = await startService({
      ...config,
      ...(shard !== null && { dataDir: shardDataDir(rootDir, shard) }),
      shard: shard === null ? null : { number: shard, count, rootDir },
      registry,
      catalogs:
        config.catalogPath === null
          ? registry.listExampleCatalogs()
          : findCatalogFiles(config.catalogPath, registry).flatMap(({ vertical, file }) =>
              registry.createCatalogSources(vertical, file),
            ),
      startAbortSignal,
      onRestoreProgress: progress.onProgress,
      clock: systemClock,
      logger,
    });
    const { warnings } = resolveUrls(config, service.ports!.public);
    if (shard === null || shard === 0) for (const warning of warnings) logger.warn(warning);
    return service;
  } catch (error) {
    if (startAbortSignal.aborted && error === startAbortSignal.reason) return null;
    throw toStartupError(error, config);
  } finally {
    progress.clear();
  }
}

/** Polls the catalog file and the certificate files for changes. Returns the functions that stop the polling. */
function watchReloadableFiles(
  { catalogPath, listen: { tls } }: Config,
  service: Service,
  logger: Logger,
  requestCatalogReload: () => void,
): readonly (() => void)[] {
  const watches: (() => void)[] = [];
  if (catalogPath !== null) {
    const times = { intervalMs: bounds.catalogPollIntervalMs, debounceMs: 0 };
    watches.push(watchFiles(service.catalogFiles, times, requestCatalogReload));
  }
  if (tls !== null) {
    const times = { intervalMs: bounds.certificatePollIntervalMs, debounceMs: bounds.certificateReloadDelayMs };
    watches.push(watchFiles([tls.certificateFile, tls.keyFile], times, () => reloadCertificate(service, logger)));
  }
  return watches;
}

function printStartMessages({ listen, dataDir }: Config, service: Service, operationsPort: number): void {
  printResult(`serving ${listBaseUrls(service).join(', ')}, operations on ${listen.operationsHost}:${operationsPort}`);
  printResult(`API documentation: ${service.urls.public}/docs`);
  const { operatorToken, testClock } = service;
  if (testClock !== null) {
    printResult(
      `TEST CLOCK, not for real traffic: the time is ${testClock.readTime().now} (docs/operations-api.md#test-clock)`,
    );
  }
  if (operatorToken?.created) {
    printResult(`The token for the operations API (docs/operations-api.md) is in ${operatorToken.path}`);
  }
  if (service.keys.listKeys().length === 0) createFirstKeys(service, dataDir);
}

/** Returns the full base URL of the first vertical, and the paths of the other verticals, to keep the printed line short. */
function listBaseUrls({ urls, verticals }: Service): string[] {
  return verticals.map(({ segment }, at) => `${at === 0 ? urls.public : ''}/v1/${segment}`);
}

function reloadCertificate(service: Service, logger: Logger): void {
  const change = service.reloadCertificate();
  if (change === null) return;
  if (!change.ok) logger.error({ err: change.error }, 'certificate reload failed; keeping the current certificate');
  else {
    const expiresAt = new Date(change.expiresAtMs).toISOString();
    if (change.recovered) logger.info({ expiresAt }, 'certificate is valid again');
    if (change.changed) logger.info({ expiresAt }, 'certificate reloaded');
  }
}

async function reloadCatalogs(service: Service, logger: Logger, stopSignal: AbortSignal): Promise<void> {
  if (stopSignal.aborted) return;
  for (const change of await service.reloadCatalogs()) {
    const { vertical, mode, file } = change;
    if (change.ok) {
      if (change.changed) logger.info({ vertical, mode, file, version: change.version }, 'catalog reloaded');
    } else if (!stopSignal.aborted) {
      // A reload that the stop signal cancelled is not logged as an error.
      logger.error(
        { vertical, mode, file, errors: change.errors },
        'catalog reload failed; keeping the current catalog',
      );
    }
  }
}

/**
 * Creates a live and a test key of each vertical when the server starts for the first time. On a terminal, prints the keys and an example.
 * If the output is not a terminal, it may be stored (such as a container log), so the keys are written to a file that only the owner of the
 * file can read.
 */
function createFirstKeys(service: Service, dataDir: string): void {
  const create = (vertical: Vertical, mode: ApiKeyMode): string =>
    service.keys.create(
      { accountName: 'demo', vertical, mode, scope: 'full', expiresAtMs: null, limits: defaultLimitOverrides },
      service.clock.wallMs(),
      service.audit.recorderOf(serviceActor),
    ).key;
  let created: { readonly vertical: Vertical; readonly live: string; readonly test: string }[];
  try {
    created = service.verticals.map((vertical) => ({
      vertical,
      live: create(vertical, 'live'),
      test: create(vertical, 'test'),
    }));
  } catch (error) {
    if (!isSqliteFileBusy(error) && !(error instanceof AuditLogUnavailableError)) throw error;
    printResult(
      'There is no API key yet, and the key file or the audit log is busy; create one with: marketplace keys create',
    );
    return;
  }
  const [{ vertical, test }] = created as [(typeof created)[0]];
  const keys = `${created.map((keys) => `${keys.vertical.segment}\n  live  ${keys.live}\n  test  ${keys.test}\n`).join('')}
Try one, in another terminal:

  curl -sS ${service.urls.public}/v1/${vertical.segment}/session -H 'Authorization: Bearer ${test}' -H 'Content-Type: application/json' -d '{"referrer_tag":"first-try"}'
`;
  const notice = 'There was no API key yet, so keys of the account demo were created.';
  if (process.stdout.isTTY) {
    printResult(`\n${notice} The keys are shown only now:\n\n${keys}`);
    return;
  }
  const path = join(dataDir, 'first-keys.txt');
  try {
    writeFileDurably(
      path,
      `API keys of the account demo, created at the first start. Copy the keys, then delete this file.\n\n${keys}`,
    );
  } catch (error) {
    if (!isDiskFullError(error)) throw error;
    printResult(`${notice} The keys are lost: ${diskFullMessage(dataDir)} with: marketplace keys create`);
    return;
  }
  printResult(`${notice} The keys are in ${path}, which only its owner can read. Copy the keys, then delete the file.`);
}

import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isKeyFileBusy } from '../../auth/key-file.ts';
import { noLimitOverrides } from '../../auth/rate-limits.ts';
import { bounds } from '../../bounds.ts';
import { type Config, loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { resolveUrls } from '../../config/resolve-urls.ts';
import { SerialQueue } from '../../domain/async.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Mode } from '../../domain/mode.ts';
import { diskFullMessage, isDiskFull, writeFileDurably } from '../../files/durable-files.ts';
import { describeError } from '../../logging/describe-error.ts';
import { createStandardErrorLog } from '../../logging/standard-error-log.ts';
import type { Service } from '../../server/service.ts';
import { startService } from '../../server/start-service.ts';
import { version } from '../../server/version.ts';
import { catalogsWithSandbox, exampleCatalogs } from '../../verticals/example-catalogs.ts';
import { personalLoans } from '../../verticals/personal-loans/personal-loans.ts';
import { printResult } from '../output.ts';
import { createRecoveryProgress } from '../progress-bar.ts';
import { installServeSignals } from '../signals.ts';
import { toStartError } from './start-error.ts';

/**
 * Looks at files every `intervalMs`, and calls `changed` once none of them has changed for `settleMs`: what belongs together is
 * seldom written in one moment. Returns what ends it.
 */
function watchFiles(
  files: readonly string[],
  { intervalMs, settleMs }: { readonly intervalMs: number; readonly settleMs: number },
  changed: () => void,
): () => void {
  let settling: NodeJS.Timeout | undefined;
  const noticed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(changed, settleMs);
  };
  for (const file of files) watchFile(file, { interval: intervalMs }, noticed);
  return () => {
    for (const file of files) unwatchFile(file, noticed);
    clearTimeout(settling);
  };
}

/**
 * What nobody caught leaves the process in a state that nobody knows, so it ends, with 1: a line in the log, then `close`,
 * which gets a moment. It is not needed for what was acknowledged, which is on disk already, but for what follows
 * without anybody waiting, such as views.
 */
function exitOnUncaughtException(logger: Logger, close: () => Promise<void>): void {
  let ending = false;
  const end = (): never => process.exit(1);
  process.on('uncaughtException', (fault: unknown, origin) => {
    // Also when the log itself is what fails, such as a pipe that nobody reads any more.
    if (ending) end();
    ending = true;
    setTimeout(end, bounds.crashCloseTimeoutMs);
    logger.fatal({ origin, fault: describeError(fault) }, 'uncaught exception; the service ends');
    close().then(end, end);
  });
}

/**
 * Runs the service until a signal says stop. Results for people go to standard output, the log as JSON lines to standard
 * error. SIGINT and SIGTERM drain and end with 0, a second one ends at once with 1; SIGHUP reads the catalog and the certificate
 * again. docs/operating-lifecycle.md tells it to operators.
 */
export async function runServer(): Promise<void> {
  const { config, warnings } = loadConfig(readEnv());
  const { logger, flush } = createStandardErrorLog(config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  const signals = installServeSignals();
  let running: Service | null = null;
  exitOnUncaughtException(logger, async () => {
    await running?.closeNow();
    await flush();
  });
  signals.onSecondStop((signal) => {
    // Should the drain be over before the log is written, that does not make it an orderly end.
    process.exitCode = 1;
    logger.warn({ signal, unanswered: running?.requestsInFlight() ?? 0 }, 'service ended by a second signal');
    void flush().finally(() => process.exit());
  });

  const service = await startServer(config, logger, signals.stopSignal);
  if (service === null) {
    logger.info('service stopped during its start');
    if (!(await flush())) process.exit();
    return;
  }
  running = service;
  // One reading, and one more for all who ask meanwhile: that finds whatever they ask for.
  const readings = new SerialQueue(1);
  const rereadCatalogs = (): void => void readings.run(() => reloadCatalogs(service, logger, signals.stopSignal));
  const watches = watchReloadableFiles(config, service, logger, rereadCatalogs);
  const reloaded = signals.onReload(() => {
    if (signals.stopSignal.aborted) return;
    reloadCertificate(service, logger);
    rereadCatalogs();
  });
  // The pair may have been renewed since it was read, which a long start does first.
  if (!reloaded) reloadCertificate(service, logger);
  try {
    printStartMessages(config, service);
  } catch (fault) {
    for (const end of watches) end();
    await service.closeNow();
    throw fault;
  }
  const { engine, ports } = service;
  logger.info(
    {
      version,
      node: process.version,
      engine: engine?.name,
      engineReason: engine?.reason,
      url: service.urls.public,
      public: { ...config.publicEndpoint, port: ports?.public },
      operations: { ...config.operationsEndpoint, port: ports?.operations },
      dataDir: config.dataDir,
      verticals: [personalLoans.segment],
      matcherThreads: config.matcher.kind === 'workers' ? config.matcher.threads : 0,
      durability: config.durability,
      maxSessions: config.sessions.max,
    },
    'service started',
  );

  const signal = await signals.stopRequested;
  logger.info({ signal }, 'service draining');
  for (const end of watches) end();
  await service.close();
  logger.info('service stopped');
  // What its reader has not taken by then would keep the process from ending.
  if (!(await flush())) process.exit();
}

/** Null when it was given up since a signal said stop. */
async function startServer(config: Config, logger: Logger, startAbortSignal: AbortSignal): Promise<Service | null> {
  // A signal that came while files were loaded is heard of in the next turn of the event loop, and nothing is to be written after it.
  await nextTurn();
  if (startAbortSignal.aborted) return null;
  const progress = createRecoveryProgress(process.stderr, logger);
  try {
    return await startService({
      dataDir: config.dataDir,
      secretFile: config.secretFile,
      catalogs:
        config.catalog.kind === 'file' ? catalogsWithSandbox(personalLoans, config.catalog.path) : exampleCatalogs(),
      durability: config.durability,
      retentionDays: config.retentionDays,
      matcher: config.matcher,
      sessions: config.sessions,
      limits: config.limits,
      corsOrigins: config.cors.kind === 'origins' ? config.cors.origins : [],
      listen: {
        public: config.publicEndpoint,
        operations: config.operationsEndpoint,
        operationsAllowedHosts: config.operationsAllowedHosts,
        engine: config.engine,
        tls: config.tls,
      },
      drain: config.drain,
      startAbortSignal,
      resolveUrls: (boundPort) => {
        const { urls, warnings: ofUrls } = resolveUrls(config, boundPort);
        for (const warning of ofUrls) logger.warn(warning);
        return urls;
      },
      onRestoreProgress: progress.onProgress,
      clock: systemClock,
      logger,
    });
  } catch (fault) {
    if (startAbortSignal.aborted && fault === startAbortSignal.reason) return null;
    throw toStartError(fault, config);
  } finally {
    progress.clear();
  }
}

/** Watches the files that may change while it runs. Returns what ends each watch. */
function watchReloadableFiles(
  { catalog, tls }: Config,
  service: Service,
  logger: Logger,
  rereadCatalogs: () => void,
): readonly (() => void)[] {
  const watches: (() => void)[] = [];
  if (catalog.kind === 'file') {
    const times = { intervalMs: bounds.catalogPollIntervalMs, settleMs: 0 };
    watches.push(watchFiles([catalog.path], times, rereadCatalogs));
  }
  if (tls !== null) {
    const times = { intervalMs: bounds.certificatePollIntervalMs, settleMs: bounds.certificateReloadDelayMs };
    watches.push(watchFiles([tls.certificateFile, tls.keyFile], times, () => reloadCertificate(service, logger)));
  }
  return watches;
}

function printStartMessages({ operationsEndpoint, dataDir }: Config, service: Service): void {
  printResult(
    `serving ${service.urls.public}/v1/personal-loans, operations on ${operationsEndpoint.host}:${service.ports?.operations}`,
  );
  const { operatorToken } = service;
  if (operatorToken?.created) {
    printResult(
      `The operator's token, which keys and confirmations over HTTP want (docs/operations-api.md), is in ${operatorToken.path}`,
    );
  }
  if (service.keys.list().length === 0) createFirstKeys(service, dataDir);
}

function reloadCertificate(service: Service, logger: Logger): void {
  const change = service.reloadCertificate();
  if (change === null) return;
  if (!change.ok) logger.error({ fault: change.fault }, 'certificate is faulty; the current one stays in use');
  else {
    const expiresAt = new Date(change.expiresAtMs).toISOString();
    if (change.recovered) logger.info({ expiresAt }, 'certificate is valid again');
    if (change.changed) logger.info({ expiresAt }, 'new certificate in use');
  }
}

async function reloadCatalogs(service: Service, logger: Logger, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return;
  for (const change of await service.reloadCatalogs()) {
    if (change.ok) {
      if (change.changed) logger.info({ version: change.version }, 'new catalog in use');
    } else if (!stopping.aborted) {
      // A stop gives up what is being read, which says nothing of the file.
      logger.error({ errors: change.errors }, 'catalog file is faulty; the current catalog stays in use');
    }
  }
}

/**
 * On a start without any key, creates one of each mode and shows them, with a line to try them. They are printed on a terminal only:
 * anything else keeps what it reads, such as a container's log, so there they go into a file that only its owner can read.
 */
function createFirstKeys(service: Service, dataDir: string): void {
  const create = (mode: Mode): string =>
    service.keys.create(
      { accountName: 'demo', vertical: personalLoans, mode, expiresAtMs: null, limits: noLimitOverrides },
      systemClock.wallMs(),
    ).key;
  let live: string;
  let test: string;
  try {
    live = create('live');
    test = create('test');
  } catch (fault) {
    if (!isKeyFileBusy(fault)) throw fault;
    printResult('There is no API key yet, and the key file is busy; issue one with: marketplace keys create');
    return;
  }
  const keys = `  live  ${live}
  test  ${test}

Try one, in another terminal:

  curl -sS ${service.urls.public}/v1/personal-loans/session -H 'Authorization: Bearer ${test}' -H 'Content-Type: application/json' -d '{"referrer_tag":"first-try"}'
`;
  const made = 'There was no API key yet, so the account demo has got two.';
  if (process.stdout.isTTY) {
    printResult(`\n${made} They are shown only now:\n\n${keys}`);
    return;
  }
  const path = join(dataDir, 'first-keys.txt');
  try {
    writeFileDurably(
      path,
      `API keys of the account demo, made by the first start. Copy them, then delete this file.\n\n${keys}`,
    );
  } catch (fault) {
    if (!isDiskFull(fault)) throw fault;
    printResult(`${made} They are lost: ${diskFullMessage(dataDir)} with: marketplace keys create`);
    return;
  }
  printResult(`${made} They are in ${path}, which only its owner can read. Copy them, then delete the file.`);
}

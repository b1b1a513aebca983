import { unwatchFile, watchFile } from 'node:fs';
import process from 'node:process';
import { type DestinationStream, type Logger, pino } from 'pino';
import { noOwnLimits } from '../access/key-limits.ts';
import { bounds } from '../bounds.ts';
import { personalLoanCatalogs } from '../catalogs/example-catalogs.ts';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { resolveUrls } from '../config/resolve-urls.ts';
import { systemClock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import type { Service } from '../service/service.ts';
import { startService } from '../service/start-service.ts';
import { personalLoans } from '../verticals/personal-loans.ts';
import { printResult, say } from './output.ts';
import { readBackProgress } from './read-back-progress.ts';
import { startFailure } from './start-failure.ts';

/**
 * Runs the service until a signal says stop. Results for people go to standard output, the log as JSON lines to standard
 * error. SIGINT and SIGTERM drain and end with 0, a second one ends at once with 1; SIGHUP reads the catalog again.
 */
export async function serve(): Promise<void> {
  const { config, warnings } = loadConfig(readEnv());
  for (const warning of warnings) say(`marketplace: warning: ${warning}`);
  const logger = pino({ level: config.logLevel, base: null }, logDestination());
  const progress = readBackProgress(process.stderr, logger);
  let starting = true;
  const stopped = stopSignal((signal) => {
    if (!starting) return;
    progress.done();
    logger.info({ signal }, 'will stop as soon as it has started; a second signal ends it at once');
  });
  const service = await startService({
    dataDir: config.dataDir,
    secretFile: config.secretFile,
    catalogs: personalLoanCatalogs(config.catalog.kind === 'file' ? config.catalog.path : undefined),
    durability: config.durability,
    retentionDays: config.retentionDays,
    matcher: config.matcher,
    sessions: config.sessions,
    limits: config.limits,
    corsOrigins: config.cors.kind === 'origins' ? config.cors.origins : [],
    listen: { public: config.listen, operations: config.operations, engine: config.listener },
    urlsFor: (boundPort) => {
      const { urls, warning } = resolveUrls(config, boundPort);
      if (warning !== null) logger.warn(warning);
      return urls;
    },
    onReadBack: progress.onReadBack,
    clock: systemClock,
    logger,
  })
    .catch((fault: unknown) => {
      throw startFailure(fault, config);
    })
    .finally(progress.done);
  starting = false;
  const reload = (): void => void reloadCatalogs(service, logger);
  process.on('SIGHUP', reload);
  const watched = config.catalog.kind === 'file' ? config.catalog.path : null;
  if (watched !== null) watchFile(watched, { interval: bounds.catalogWatchMs }, reload);

  const { operations } = config;
  printResult(
    `serving ${service.urls.public}/v1/personal-loans, operations on ${operations.host}:${service.ports?.operations}`,
  );
  const { operatorToken } = service;
  if (operatorToken?.created) {
    printResult(`The token that lets an operator confirm revenue (marketplace confirm) is in ${operatorToken.path}`);
  }
  if (service.keys.list().length === 0) introduce(service);
  logger.info({ dataDir: config.dataDir, ports: service.ports, maxSessions: config.sessions.max }, 'serving');

  const signal = await stopped;
  logger.info({ signal }, 'draining');
  process.off('SIGHUP', reload);
  if (watched !== null) unwatchFile(watched, reload);
  await service.close();
  logger.info('stopped');
}

/** Standard error. A log that cannot be written for a while loses what does not fit meanwhile, and stops nothing. */
function logDestination(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: bounds.unwrittenLogCharactersMax });
  destination.on('error', () => {});
  return destination;
}

/** Resolves with the first signal to stop, and tells of it; the second ends the process without waiting any longer. */
function stopSignal(onSignal: (signal: NodeJS.Signals) => void): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(1);
      stopping = true;
      onSignal(signal);
      resolve(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

async function reloadCatalogs(service: Service, logger: Logger): Promise<void> {
  for (const change of await service.reloadCatalogs()) {
    if (!change.ok) logger.error({ faults: change.faults }, 'the catalog file is faulty; the offers in use stay');
    else if (change.changed) logger.info({ version: change.version }, 'a new catalog is in use');
  }
}

/** On a start without any key: one of each mode to begin with, and a line to try them. They are shown only here. */
function introduce(service: Service): void {
  const create = (mode: Mode): string =>
    service.keys.create(
      { accountName: 'demo', vertical: personalLoans, mode, expiresAtMs: null, limits: noOwnLimits },
      systemClock.wallMs(),
    ).key;
  const live = create('live');
  const test = create('test');
  printResult(`
There was no API key yet, so the account demo has got two. They are shown only now:

  live  ${live}
  test  ${test}

Try one, in another terminal:

  curl -sS ${service.urls.public}/v1/personal-loans/session -H 'Authorization: Bearer ${test}' -H 'Content-Type: application/json' -d '{"referrer_tag":"first-try"}'
`);
}

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceActor } from '../../src/audit/audit-log.ts';
import { defaultLimitOverrides } from '../../src/auth/rate-limits.ts';
import { startServer } from '../../src/cli/commands/serve.ts';
import { toStartupError } from '../../src/cli/commands/start-error.ts';
import { formatTable } from '../../src/cli/output.ts';
import { installSignalHandlers } from '../../src/cli/signals.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { readEnv } from '../../src/config/env.ts';
import { daysSinceEpoch, formatIsoDate, msPerDay } from '../../src/domain/calendar.ts';
import { createStandardErrorLog } from '../../src/logging/standard-error-log.ts';
import type { Service } from '../../src/server/service.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { demoCatalogFolder } from '../demo-history/demo-catalog.ts';
import { type DemoFile, type DemoKey, readDemoFile, writeDemoFile } from '../demo-history/demo-file.ts';

/** Returns the settings of a server on a data folder of the demo. Other settings come from the environment variables. */
export function loadDemoConfig(dataDir: string): Config {
  const demoSettings = { SVC_DATA_DIR: dataDir, SVC_TEST_CLOCK: 'on', SVC_CATALOG: demoCatalogFolder(dataDir) };
  const logLevel = process.env.SVC_LOG_LEVEL ?? 'warn';
  return loadConfig(readEnv({ ...process.env, SVC_LOG_LEVEL: logLevel, ...demoSettings })).config;
}

/** Throws an error that names the setting if a port of a server is in use. */
export async function assertPortsFree(config: Config): Promise<void> {
  const { host, port, operationsHost, operationsPort } = config.listen;
  for (const address of [
    { host, port },
    { host: operationsHost, port: operationsPort },
  ]) {
    const server = createServer();
    try {
      server.listen(address);
      await once(server, 'listening');
    } catch (error) {
      throw toStartupError(error, config);
    }
    server.close();
    await once(server, 'close');
  }
}

/** Serves a data folder of the demo until a signal stops the process. Prints the addresses and logins of the consoles. */
export async function serveDemo(dataDir: string, config: Config): Promise<void> {
  const { logger, flush } = createStandardErrorLog(config.logLevel);
  const demo = readDemoFile(dataDir);
  const { stopSignal, stopRequested, onSecondStopSignal } = installSignalHandlers();
  const service = await startServer(config, builtInVerticals, logger, stopSignal);
  if (service === null) return;
  onSecondStopSignal(() => process.exit(1));
  const keys = replaceRevokedKeys(service, demo.keys);
  if (keys !== demo.keys) writeDemoFile(dataDir, { ...demo, keys });
  await awaitAnalytics(service, keys[0]!, stopSignal);
  process.stdout.write(describeConsoles(service, config, { ...demo, keys }, dataDir));
  await stopRequested;
  await service.close();
  await flush();
}

const analyticsPollMs = 500;

/** Waits until the analytics answer. After an upgrade, the service first computes them again from the ledger. */
async function awaitAnalytics({ ports }: Service, { vertical, key }: DemoKey, stopSignal: AbortSignal): Promise<void> {
  const url = `http://127.0.0.1:${ports!.public}/v1/${vertical}/tags?limit=1`;
  for (let isFirst = true; !stopSignal.aborted; isFirst = false) {
    const { status } = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
    if (status !== 503) return;
    if (isFirst) process.stderr.write('demo-console: waiting for the analytics, which are computed from the ledger\n');
    await sleep(analyticsPollMs);
  }
}

/** Returns active keys for all logins. Creates keys for those that were revoked, for example in the operator console. */
function replaceRevokedKeys({ keys: registry, clock, audit }: Service, keys: DemoFile['keys']): DemoFile['keys'] {
  const issued = registry.listKeys();
  const isActive = ({ id }: DemoKey) => issued.some((each) => each.id === id && each.revokedAtMs === null);
  if (keys.every(isActive)) return keys;
  const { accountName } = issued.find(({ id }) => id === keys[0]!.id)!;
  return keys.map((login) => {
    if (isActive(login)) return login;
    const { mode, scope } = login;
    const vertical = builtInVerticals.verticals.find(({ segment }) => segment === login.vertical)!;
    const wanted = { accountName, vertical, mode, scope, expiresAtMs: null, limits: defaultLimitOverrides };
    const { key, issued: created } = registry.create(wanted, clock.wallMs(), audit.recorderOf(serviceActor));
    return { ...login, key, id: created.id };
  });
}

function describeConsoles(
  { urls, ports, operatorToken, clock }: Service,
  config: Config,
  demo: DemoFile,
  dataDir: string,
) {
  const host = config.listen.operationsHost;
  const operations = `http://${host.includes(':') ? `[${host}]` : host}:${ports!.operations}`;
  const rows = demo.keys.map(({ vertical, mode, scope, key }) => [
    `  ${vertical}`,
    scope === 'analytics' ? 'read-only key' : `${mode} key`,
    key,
  ]);
  return `
Partner console: ${urls.public}/console/
Log in with one of these API keys:
${formatTable(['  VERTICAL', 'KIND', 'API KEY'], rows)}

Operator console: ${operations}/console/
Log in with the operator token:
  ${readFileSync(operatorToken!.path, 'utf8').trim()}

${describeAge(demo.endMs, clock.wallMs(), dataDir)}Ctrl-C stops the server.
`;
}

/** Tells that the data is invented, and that pages about the last days have less data if the history is old. */
function describeAge(endMs: number, nowMs: number, dataDir: string): string {
  const days = Math.floor(nowMs / msPerDay) - daysSinceEpoch(endMs);
  const end = formatIsoDate(daysSinceEpoch(endMs));
  if (days <= 0) return `All data is invented. It ends today, ${end} (UTC).\n`;
  return `All data is invented. It ends on ${end} (UTC), ${days === 1 ? 'yesterday' : `${days} days ago`}, so pages about later days are empty.
For data up to today, stop the server, delete the folder ${dataDir}, and run make demo-console again.
`;
}

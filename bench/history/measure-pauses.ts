import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { CatalogView } from '../../src/http/routes/operator/catalog-routes.ts';
import { sessionPieceFolder } from '../../src/journal/session-pieces.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { withDailyCap } from '../../test/support/changeable-catalogs.ts';
import type { BenchContext } from '../bench-part.ts';
import { generateCatalog } from '../catalogs/generate-catalog.ts';
import { steadyLoadRequests } from '../curves/curve-requests.ts';
import { prepareLoadPoint } from '../curves/load-point.ts';
import { basePath } from '../scenarios/requests.ts';
import { stopChildProcess } from '../target/owned-resources.ts';
import { ProcessProbe } from '../target/process-probe.ts';
import { createApiKeys, serveDataDir } from '../target/service-target.ts';
import { writeLiveSessions } from '../target/write-live-sessions.ts';

const keyCount = 200;
const offers = 200;
const loadedSessions = 2_000;
const requestsPerSecond = 500;
const loadSeconds = 8;
export const pausesLoad = `${requestsPerSecond} requests per second`;
const waitMsMax = 180_000;
const pollMs = 20;
/** Less than the time for which the first snapshot of a million sessions is written. */
const snapshotSeconds = 3;
const dailyCap = 1_000;
/** Maximum time for a service to stop, which writes a snapshot of all sessions. */
export const stopTimeoutMs = 60_000;

/** Requests during a period, in milliseconds: the 99th percentile of the latency, and of the delay of the event loop. */
interface Pauses {
  readonly p99Ms: number;
  readonly loopDelayP99Ms: number;
}

interface MeasuredPauses {
  readonly idle: Pauses;
  /** While the first snapshot after a start is written, which contains all sessions. */
  readonly snapshot: Pauses;
  /** While a reload reads the ledger, because an offer got its first daily cap. */
  readonly reload: Pauses;
  readonly reloadSeconds: number;
}

/** Measures the latency of requests on a service with live sessions, while the service does work that takes longer with more sessions. */
export async function measurePauses(
  { sendOpenLoop }: Pick<BenchContext, 'sendOpenLoop'>,
  folder: string,
  count: number,
): Promise<MeasuredPauses> {
  const dataDir = join(folder, 'data');
  const keys = await createApiKeys(dataDir, keyCount);
  const written = await writeLiveSessions(dataDir, {
    count,
    keys: keyCount,
    fields: 'all',
    sampleSize: Math.min(count, loadedSessions),
  });
  const requests = steadyLoadRequests(written.map((each, at) => ({ ...each, key: keys[at % keys.length]! })));
  const catalogFile = join(folder, 'catalog.json');
  const catalog = generateCatalog({ seed: 1, offers, vertical: personalLoans });
  const withoutLimits = JSON.stringify(catalog, (name, value) =>
    name === 'daily_cap' || name === 'budget' ? undefined : value,
  );
  await writeFile(catalogFile, withoutLimits);
  const settings = { SVC_CATALOG: catalogFile, SVC_MAX_SESSIONS: String(count) };
  const service = await serveDataDir(dataDir, { settings });
  const { child, port } = service;
  try {
    const probe = new ProcessProbe(child);
    const measure = async (warmUpSeconds: number, seconds = loadSeconds): Promise<Pauses> => {
      const load = { requests, singleUse: false, warmUpSeconds, seconds };
      const plan = await prepareLoadPoint({ folder }, { port }, requestsPerSecond, load);
      await probe.start();
      const { latencyMs, failed } = await sendOpenLoop(plan);
      const usage = await probe.stop();
      if (failed > 0) throw new Error(`${failed} requests failed`);
      return { p99Ms: latencyMs.p99, loopDelayP99Ms: usage?.eventLoopDelayMs.p99 ?? Number.NaN };
    };
    await waitForAnalytics(port, keys[0]!);
    // The first requests compute rankings, which the later ones find.
    await measure(0);
    const idle = await measure(1);
    const { journalFolder, snapshotFolder } = dataPaths(dataDir);
    const pieces = sessionPieceFolder(journalFolder);
    await waitUntil(() => existsSync(pieces) && readdirSync(pieces).length > 0);
    const snapshot = await measure(0, snapshotSeconds);
    await waitUntil(() => existsSync(join(snapshotFolder, 'content.json')));
    const version = await readCatalogVersion(service.operationsPort, dataDir);
    await writeFile(catalogFile, JSON.stringify(withDailyCap(JSON.parse(withoutLimits), dailyCap)));
    const started = performance.now();
    child.kill('SIGHUP');
    const reload = await measure(1);
    await waitUntil(async () => (await readCatalogVersion(service.operationsPort, dataDir)) !== version);
    return { idle, snapshot, reload, reloadSeconds: (performance.now() - started) / 1_000 };
  } finally {
    await stopChildProcess(child, stopTimeoutMs);
  }
}

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await condition()); waited += pollMs) {
    if (waited > waitMsMax) throw new Error('the service did not finish in time');
    await wait(pollMs);
  }
}

/** Waits until the analytics have applied the whole ledger. */
export async function waitForAnalytics(port: number, key: string): Promise<void> {
  await waitUntil(async () => {
    const url = `http://127.0.0.1:${port}${basePath}/analytics?referrer_tag=a-tag`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    if (!response.ok && response.status !== 503)
      throw new Error(`the service answered ${response.status} to GET ${url}`);
    return response.ok;
  });
}

async function readCatalogVersion(port: number, dataDir: string): Promise<string> {
  const token = (await readFile(join(dataDir, 'operator-token'), 'utf8')).trim();
  const response = await fetch(`http://127.0.0.1:${port}/catalogs`, { headers: { authorization: `Bearer ${token}` } });
  const catalogs = (await response.json()) as readonly CatalogView[];
  return catalogs.find(({ vertical, mode }) => vertical === personalLoans.segment && mode === 'live')!.version;
}

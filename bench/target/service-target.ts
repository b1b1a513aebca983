import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { defaultHeapMegabytes } from '../../bin/heap-megabytes.ts';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogGenerators } from '../catalogs/catalog-generators.ts';
import { findFreePort } from './free-port.ts';
import type { LoadTarget } from './load-target.ts';
import { createTemporaryFolder, runChildProcess, spawnChildProcess, stopChildProcess } from './owned-resources.ts';
import { addProbeToEnv, ProcessProbe } from './process-probe.ts';

/** Folder of the checkout that contains this file. */
export const currentCheckout = fileURLToPath(new URL('../..', import.meta.url));
const keyCommandTimeoutMs = 60_000;

/**
 * Creates live keys of one account in a new data folder. The command line of the checkout creates the first key. The other keys are copies
 * of the first key with new ids and secrets. A single transaction inserts all copies of the key, because ten thousand transactions would
 * take half a minute.
 */
export async function createApiKeys(
  dataDir: string,
  count: number,
  vertical: Vertical = personalLoans,
  checkout = currentCheckout,
  settings: ServiceTargetOptions['settings'] = {},
): Promise<string[]> {
  const create = ['keys', 'create', '--account', 'bench', '--vertical', vertical.segment, '--mode', 'live', '--raw'];
  const env = { ...process.env, ...settings, SVC_DATA_DIR: dataDir };
  const key = (await runChildProcess(launcherOf(checkout), create, { env, timeoutMs: keyCommandTimeoutMs })).trim();

  const database = new Database(keyFilePath(dataDir), { fileMustExist: true });
  try {
    const own = new Set(['number', 'id', 'hash']);
    const copied = (database.pragma('table_info(keys)') as readonly { name: string }[])
      .map(({ name }) => name)
      .filter((name) => !own.has(name))
      .join(', ');
    const copy = database.prepare<[string, Buffer, Buffer]>(
      `INSERT INTO keys (id, hash, ${copied}) SELECT ?, ?, ${copied} FROM keys WHERE hash = ?`,
    );
    const keys = [key];
    const account = database.prepare<[], number>('SELECT account FROM keys').pluck().get()!;
    const storedHash = (text: string) => Buffer.from(hashApiKey(text), 'latin1');
    database.transaction(() => {
      while (keys.length < count) {
        const another = generateApiKey(vertical, 'live', account);
        copy.run(`key_${randomBytes(6).toString('hex')}`, storedHash(another), storedHash(key));
        keys.push(another);
      }
    })();
    return keys;
  } finally {
    database.close();
  }
}

function launcherOf(checkout: string): string {
  return join(checkout, 'bin/marketplace');
}

const catalogSeed = 200;
const readyTimeoutMs = 60_000;
const readyPollMs = 20;
const logTailCharactersMax = 4_096;

/** Service process that `bin/marketplace serve` started with default settings and a new data folder. */
export interface ServiceTarget extends LoadTarget {
  /** Live keys of one account. Every key can use every session. */
  readonly keys: readonly string[];
  /** Sends a POST to the operations API and returns the body of the response. Throws if the service rejects the request. */
  postToOperations(path: string, body: object): Promise<unknown>;
  /** Returns the last characters of the service's output, which includes log messages of level warn and above. */
  lastLogLines(): string;
}

export interface ServiceTargetOptions {
  /** Existing folder on the measured disk for a new data folder. The benchmark deletes the data folder when the service stops. */
  readonly folder: string;
  readonly keys: number;
  /** Folder of the checkout whose service starts. Default: the current checkout. */
  readonly checkout?: string;
  /** Vertical of the keys and of the generated catalog. Default: personal loans. */
  readonly vertical?: Vertical | undefined;
  /** Number of offers in a generated catalog. Without `catalogOffers`, the service uses the example catalog. */
  readonly catalogOffers?: number | undefined;
  /** Catalog to use in place of a generated catalog or the example catalog. */
  readonly catalog?: CatalogFile;
  /** Writes data into the data folder before the service starts. All keys belong to account 1. */
  readonly prepareDataDir?: (dataDir: string) => Promise<void>;
  /** Environment variables of the service that differ from the default settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startServiceTarget(options: ServiceTargetOptions): Promise<ServiceTarget> {
  const folder = await createTemporaryFolder(options.folder, 'data-');
  const dataDir = folder.path;
  const checkout = options.checkout ?? currentCheckout;
  const keys = await createApiKeys(dataDir, options.keys, options.vertical, checkout, options.settings);
  await options.prepareDataDir?.(dataDir);
  const catalogFile = join(options.folder, 'catalog.json');
  const catalog = options.catalog ?? generateCatalog(options);
  if (catalog !== null) await writeFile(catalogFile, JSON.stringify(catalog));
  const settings = { ...options.settings, ...(catalog === null ? {} : { SVC_CATALOG: catalogFile }) };
  try {
    const service = await serveDataDir(dataDir, { checkout, settings });
    const close = async () => {
      await stopChildProcess(service.child);
      await folder.remove();
    };
    const postToOperations = (path: string, body: object) =>
      postAsOperator(dataDir, service.operationsPort, path, body);
    const { child, port, lastLogLines } = service;
    return { port, pid: child.pid!, probe: new ProcessProbe(child), keys, postToOperations, lastLogLines, close };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

interface ServedDataDir {
  readonly child: ChildProcess;
  readonly port: number;
  readonly operationsPort: number;
  /** Time from the start of the process until `GET /readyz` succeeded. */
  readonly startSeconds: number;
  readonly lastLogLines: () => string;
}

/** Starts a service process with an existing data folder, and waits until it is ready. */
export async function serveDataDir(
  dataDir: string,
  { checkout = currentCheckout, settings = {} }: Pick<ServiceTargetOptions, 'checkout' | 'settings'> = {},
): Promise<ServedDataDir> {
  const port = await findFreePort();
  const operationsPort = await findFreePort();
  const started = performance.now();
  const child = spawnChildProcess(launcherOf(checkout), ['serve'], {
    env: addProbeToEnv({
      ...process.env,
      ...settings,
      SVC_PORT: String(port),
      SVC_OPS_PORT: String(operationsPort),
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'warn',
      // NODE_OPTIONS sets the heap size, because otherwise the launcher would restart Node.js and close the IPC channel of the probe.
      NODE_OPTIONS: `--max-old-space-size=${defaultHeapMegabytes()}`,
    }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-logTailCharactersMax);
    });
  }
  let ended = false;
  child.once('close', () => {
    ended = true;
  });
  try {
    for (let waited = 0; !(await isServiceReady(operationsPort)); waited += readyPollMs) {
      if (ended) throw new Error(`the service exited before it was ready: ${log.trim()}`);
      if (waited > readyTimeoutMs) throw new Error(`the service was not ready after ${readyTimeoutMs / 1000} s`);
      await sleep(readyPollMs);
    }
  } catch (error) {
    await stopChildProcess(child);
    throw error;
  }
  const startSeconds = (performance.now() - started) / 1_000;
  return { child, port, operationsPort, startSeconds, lastLogLines: () => log };
}

function generateCatalog({
  catalogOffers: offers,
  vertical = personalLoans,
}: ServiceTargetOptions): CatalogFile | null {
  return offers === undefined ? null : catalogGenerators[vertical.segment]!({ seed: catalogSeed, offers, vertical });
}

/** Starts the service, calls the function `use`, and stops the service. If `use` throws, the error contains the end of the service log. */
export async function withServiceTarget<Result>(
  options: ServiceTargetOptions,
  use: (service: ServiceTarget) => Promise<Result>,
): Promise<Result> {
  const service = await startServiceTarget(options);
  try {
    return await use(service);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${message}\nLog of the service: ${service.lastLogLines()}`, { cause: error });
  } finally {
    await service.close();
  }
}

async function postAsOperator(dataDir: string, port: number, path: string, body: object): Promise<unknown> {
  const token = (await readFile(join(dataDir, 'operator-token'), 'utf8')).trim();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the service answered ${response.status} to POST ${path}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

async function isServiceReady(operationsPort: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${operationsPort}/readyz`, { signal: AbortSignal.timeout(1_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

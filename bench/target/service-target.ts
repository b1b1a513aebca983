import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { defaultHeapMegabytes } from '../../bin/heap-megabytes.ts';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { type KeyLimitOverrides, noLimitOverrides } from '../../src/auth/rate-limits.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { findFreePort } from './free-port.ts';
import type { LoadTarget } from './load-target.ts';
import { createOwnedFolder, spawnChild, stopChild } from './owned-resources.ts';
import { environmentWithProbe, ProcessProbe } from './process-probe.ts';

/**
 * Live keys of one account, so that each may use the sessions of all, in the key file of a server that does not run yet. The
 * first is issued as any key is, one synced transaction; the others are its copies but for what tells keys apart, all in
 * one transaction, since ten thousand syncs would take half a minute.
 */
export function createApiKeys(dataDir: string, count: number, limits: KeyLimitOverrides = noLimitOverrides): string[] {
  const register = KeyRegistry.open(keyFilePath(dataDir));
  const { keyPrefix } = personalLoans;
  const wanted = { accountName: 'bench', vertical: personalLoans, mode: 'live', expiresAtMs: null, limits } as const;
  const { key, issued } = register.create(wanted, Date.now());
  register.close();

  const database = new Database(keyFilePath(dataDir), { fileMustExist: true });
  try {
    const own = new Set(['number', 'id', 'hash']);
    const copied = (database.pragma('table_info(keys)') as readonly { name: string }[])
      .map(({ name }) => name)
      .filter((name) => !own.has(name))
      .join(', ');
    const copy = database.prepare<[string, Buffer, number]>(
      `INSERT INTO keys (id, hash, ${copied}) SELECT ?, ?, ${copied} FROM keys WHERE number = ?`,
    );
    const keys = [key];
    database.transaction(() => {
      while (keys.length < count) {
        const another = generateApiKey(keyPrefix, 'live');
        copy.run(`key_${randomBytes(6).toString('hex')}`, Buffer.from(hashApiKey(another), 'latin1'), issued.number);
        keys.push(another);
      }
    })();
    return keys;
  } finally {
    database.close();
  }
}

const launcherPath = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

const readyTimeoutMs = 60_000;
const readyPollMs = 50;
const logTailCharactersMax = 4_096;

/** The service as `bin/marketplace serve` runs it: all defaults, a data folder of its own, fsync before every answer. */
export interface ServiceTarget extends LoadTarget {
  /** Live keys of one account, so that each may use the sessions of all. */
  readonly keys: readonly string[];
  /** The end of what it printed and logged, warnings and worse. */
  logTail(): string;
}

interface ServiceTargetOptions {
  /** An existing folder on the disk to be measured; the data folder is made inside and removed at the end. */
  readonly folder: string;
  readonly keys: number;
  /** For each of these one more key with such limits; they come last among the keys. */
  readonly ownLimits?: readonly KeyLimitOverrides[];
  /** Offers file; the example catalog when absent. */
  readonly catalogFile?: string;
  /** Settings that are not to have their default: `SVC_...` and its value. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Puts a history into the data folder before the service starts on it. Its account is number 1, its keys 1 and on. */
  readonly prepareDataDir?: (dataDir: string) => Promise<void>;
}

export async function startServiceTarget(options: ServiceTargetOptions): Promise<ServiceTarget> {
  const folder = await createOwnedFolder(options.folder, 'data-');
  const dataDir = folder.path;
  const keys = createApiKeys(dataDir, options.keys);
  for (const limits of options.ownLimits ?? []) keys.push(...createApiKeys(dataDir, 1, limits));
  await options.prepareDataDir?.(dataDir);
  const port = await findFreePort();
  const operationsPort = await findFreePort();
  const child = spawnChild(launcherPath, ['serve'], {
    env: environmentWithProbe({
      ...process.env,
      SVC_PORT: String(port),
      SVC_OPS_PORT: String(operationsPort),
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'warn',
      ...(options.catalogFile === undefined ? {} : { SVC_CATALOG: options.catalogFile }),
      ...options.settings,
      // As the launcher would set it; but it would start Node.js anew for that, and the probe's channel be lost.
      NODE_OPTIONS: `--max-old-space-size=${defaultHeapMegabytes()} ${options.settings?.NODE_OPTIONS ?? ''}`.trim(),
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
  const end = once(child, 'close').then(() => {
    ended = true;
  });
  const close = async () => {
    await stopChild(child);
    await end;
    await folder.remove();
  };
  try {
    for (let waited = 0; !(await isServiceReady(operationsPort)); waited += readyPollMs) {
      if (ended) throw new Error(`the service ended before it was ready: ${log.trim()}`);
      if (waited > readyTimeoutMs) throw new Error(`the service was not ready after ${readyTimeoutMs / 1000} s`);
      await sleep(readyPollMs);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { port, pid: child.pid!, probe: new ProcessProbe(child), keys, logTail: () => log, close };
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

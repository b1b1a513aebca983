import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keyFilePath } from '../../src/access/key-file.ts';
import { noOwnLimits, type OwnLimits } from '../../src/access/key-limits.ts';
import { KeyRegister } from '../../src/access/key-register.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { spawnOwned, stopOwned } from './child-process.ts';
import { freePort } from './free-port.ts';
import { makeOwnedFolder } from './owned-folder.ts';
import type { Target } from './target.ts';

const commandLine = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

const readyWaitMs = 60_000;
const readyCheckMs = 50;
const loggedCharactersMax = 4_096;

/** The service as `bin/marketplace serve` runs it: all defaults, a data folder of its own, fsync before every answer. */
export interface ServiceTarget extends Target {
  /** Live keys of one account, so that each may use the sessions of all. */
  readonly keys: readonly string[];
  /** The end of what it logged, warnings and worse. */
  logged(): string;
}

export interface ServiceOptions {
  /** An existing folder on the disk to be measured; the data folder is made inside and removed at the end. */
  readonly folder: string;
  readonly keys: number;
  /** For each of these one more key with such limits; they come last among the keys. */
  readonly ownLimits?: readonly OwnLimits[];
  /** Offers file; the example catalog when absent. */
  readonly catalogFile?: string;
}

export async function startServiceTarget(options: ServiceOptions): Promise<ServiceTarget> {
  const folder = await makeOwnedFolder(options.folder, 'data-');
  const dataDir = folder.path;
  const limitedKeys = (options.ownLimits ?? []).flatMap((limits) => createKeys(dataDir, 1, limits));
  const keys = [...createKeys(dataDir, options.keys), ...limitedKeys];
  const port = await freePort();
  const operationsPort = await freePort();
  const child = spawnOwned(commandLine, ['serve'], {
    env: {
      ...process.env,
      SVC_PORT: String(port),
      SVC_OPS_PORT: String(operationsPort),
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'warn',
      ...(options.catalogFile === undefined ? {} : { SVC_CATALOG: options.catalogFile }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-loggedCharactersMax);
  });
  let ended = false;
  const end = once(child, 'close').then(() => {
    ended = true;
  });
  const close = async () => {
    await stopOwned(child);
    await end;
    await folder.remove();
  };
  try {
    for (let waited = 0; !(await isReady(operationsPort)); waited += readyCheckMs) {
      if (ended) throw new Error('the service ended before it was ready');
      if (waited > readyWaitMs) throw new Error(`the service was not ready after ${readyWaitMs / 1000} s`);
      await sleep(readyCheckMs);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { port, pid: child.pid!, keys, logged: () => log, close };
}

/** Keys, written straight to the key file before the server opens it. */
function createKeys(dataDir: string, count: number, limits: OwnLimits = noOwnLimits): string[] {
  const register = KeyRegister.open(keyFilePath(dataDir));
  try {
    const wanted = {
      accountName: 'bench',
      vertical: personalLoans,
      mode: 'live',
      expiresAtMs: null,
      limits,
    } as const;
    return Array.from({ length: count }, () => register.create(wanted, Date.now()).key);
  } finally {
    register.close();
  }
}

async function isReady(operationsPort: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${operationsPort}/readyz`, { signal: AbortSignal.timeout(1_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

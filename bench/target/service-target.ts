import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defaultHeapMegabytes } from '../../bin/heap-megabytes.ts';
import type { OwnLimits } from '../../src/access/key-limits.ts';
import { spawnOwned, stopOwned } from './child-process.ts';
import { freePort } from './free-port.ts';
import { createKeys } from './many-keys.ts';
import { makeOwnedFolder } from './owned-folder.ts';
import { ProcessProbe, probedEnvironment } from './process-probe.ts';
import type { Target } from './target.ts';

const commandLine = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

const readyWaitMs = 60_000;
const readyCheckMs = 50;
const loggedCharactersMax = 4_096;

/** The service as `bin/marketplace serve` runs it: all defaults, a data folder of its own, fsync before every answer. */
export interface ServiceTarget extends Target {
  /** Live keys of one account, so that each may use the sessions of all. */
  readonly keys: readonly string[];
  /** The end of what it printed and logged, warnings and worse. */
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
  /** Settings that are not to have their default: `SVC_...` and its value. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Puts a history into the data folder before the service starts on it. Its account is number 1, its keys 1 and on. */
  readonly fill?: (dataDir: string) => Promise<void>;
}

export async function startServiceTarget(options: ServiceOptions): Promise<ServiceTarget> {
  const folder = await makeOwnedFolder(options.folder, 'data-');
  const dataDir = folder.path;
  const keys = createKeys(dataDir, options.keys);
  for (const limits of options.ownLimits ?? []) keys.push(...createKeys(dataDir, 1, limits));
  await options.fill?.(dataDir);
  const port = await freePort();
  const operationsPort = await freePort();
  const child = spawnOwned(commandLine, ['serve'], {
    env: probedEnvironment({
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
      log = (log + text).slice(-loggedCharactersMax);
    });
  }
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
      if (ended) throw new Error(`the service ended before it was ready: ${log.trim()}`);
      if (waited > readyWaitMs) throw new Error(`the service was not ready after ${readyWaitMs / 1000} s`);
      await sleep(readyCheckMs);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { port, pid: child.pid!, probe: new ProcessProbe(child), keys, logged: () => log, close };
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

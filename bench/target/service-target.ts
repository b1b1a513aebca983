import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defaultHeapMegabytes } from '../../bin/heap-megabytes.ts';
import type { KeyLimitOverrides } from '../../src/access/key-limits.ts';
import { spawnChild, stopChild } from './child-process.ts';
import { findFreePort } from './free-port.ts';
import { createApiKeys } from './many-keys.ts';
import { createOwnedFolder } from './owned-folder.ts';
import { ProcessProbe, environmentWithProbe } from './process-probe.ts';
import type { LoadTarget } from './target.ts';

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

export interface ServiceTargetOptions {
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

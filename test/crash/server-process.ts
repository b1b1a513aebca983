import { setTimeout as sleep } from 'node:timers/promises';
import { stopChildProcess } from '../../bench/target/owned-resources.ts';
import type { ApiKeyMode } from '../../src/index.ts';
import { createKey } from '../cli/sample-data-folder.ts';
import { type Ports, ServedProcess } from '../cli/served-process.ts';

const startTimeoutMs = 60_000;

/** `bin/marketplace serve` on a data folder and a catalog file, with free ports and otherwise default settings. */
export class ServerProcess extends ServedProcess {
  #isStopped = false;

  constructor(dataDir: string, catalog: string) {
    // An empty setting has its default value.
    const settings = { SVC_DATA_DIR: dataDir, SVC_CATALOG: catalog, SVC_MATCHER_THREADS: '', SVC_LOG_LEVEL: 'warn' };
    super(null, settings, null);
  }

  /** Waits until the server serves. Rejects if the process ends, or after a timeout. */
  ready(): Promise<Ports> {
    const timeout = sleep(startTimeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`the server is not ready after ${startTimeoutMs} ms`);
    });
    return Promise.race([this.ports(), timeout, this.endedByItself()]);
  }

  /** Rejects if the process ends without `kill` or `stop`. Otherwise never settles. */
  async endedByItself(): Promise<never> {
    const { code, signal } = await this.ended;
    if (this.#isStopped) return new Promise(() => {});
    throw new Error(`the server ended by itself with ${code ?? signal}`);
  }

  /** Sends SIGKILL. */
  kill(): void {
    this.#isStopped = true;
    this.signal('SIGKILL');
  }

  /** Sends SIGTERM and waits for the end of the process. Repeated calls have no effect. */
  override async stop(): Promise<number | null> {
    this.#isStopped = true;
    await stopChildProcess(this.child);
    return this.child.exitCode;
  }
}

/** An API key, created with the real command line. All keys belong to one account. */
export interface Partner {
  readonly key: string;
  readonly mode: ApiKeyMode;
  /** Limit of sessions per UTC day; null if it is never reached. */
  readonly sessionsPerDay: number | null;
}

const unlimited = 1_000_000;

/** Creates an API key. The server may be running. */
export async function createPartner(
  dataDir: string,
  mode: ApiKeyMode,
  sessionsPerDay: number | null = null,
  vertical = 'personal-loans',
): Promise<Partner> {
  const limits = {
    '--requests-per-minute': unlimited,
    '--analytics-per-minute': unlimited,
    '--sessions-per-day': sessionsPerDay ?? unlimited,
  };
  const { key } = await createKey(dataDir, vertical, mode, ...Object.entries(limits).flat().map(String));
  return { key, mode, sessionsPerDay };
}

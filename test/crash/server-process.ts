import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawnChildProcess, stopChildProcess } from '../../bench/target/owned-resources.ts';
import type { ApiKeyMode } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

const commandLine = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
const startTimeoutMs = 60_000;
const logLinesMax = 20;

export interface Ports {
  readonly public: number;
  readonly operations: number;
}

/** `bin/marketplace serve` on a data folder and a catalog file, with free ports and otherwise default settings. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #ports: Promise<Ports>;
  #isStopped = false;
  /** Last lines of the log, with level `warn` or higher. */
  readonly log: string[] = [];

  constructor(dataDir: string, catalog: string, onLog: (message: string) => void) {
    const settings = {
      SVC_DATA_DIR: dataDir,
      SVC_CATALOG: catalog,
      SVC_PORT: '0',
      SVC_OPS_PORT: '0',
      SVC_LOG_LEVEL: 'warn',
    };
    this.#child = spawnChildProcess(commandLine, ['serve'], {
      env: { ...plainEnvironment(), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exit = once(this.#child, 'close');
    createInterface({ input: this.#child.stderr! }).on('line', (line) => {
      this.log.push(line);
      if (this.log.length > logLinesMax) this.log.shift();
      onLog(messageOf(line));
    });
    this.#ports = new Promise((resolve) => {
      createInterface({ input: this.#child.stdout! }).on('line', (line) => {
        const ports = /^serving http:\/\/127\.0\.0\.1:(\d+)\/.* operations on 127\.0\.0\.1:(\d+)$/.exec(line);
        if (ports !== null) resolve({ public: Number(ports[1]), operations: Number(ports[2]) });
      });
    });
  }

  /** Waits until the server serves. Rejects if the process ends, or after a timeout. */
  ready(): Promise<Ports> {
    const timeout = sleep(startTimeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`the server is not ready after ${startTimeoutMs} ms`);
    });
    return Promise.race([this.#ports, timeout, this.endedByItself()]);
  }

  /** Rejects if the process ends without `kill` or `stop`. Otherwise never settles. */
  async endedByItself(): Promise<never> {
    await this.#exit;
    if (this.#isStopped) return new Promise(() => {});
    throw new Error(`the server ended by itself with ${this.#child.exitCode ?? this.#child.signalCode}`);
  }

  /** Sends SIGKILL. */
  kill(): void {
    this.#isStopped = true;
    this.#child.kill('SIGKILL');
  }

  /** Resolves when the process has ended and its output was read. */
  async waitForExit(): Promise<void> {
    await this.#exit;
  }

  /** Sends SIGTERM and waits for the end of the process. Repeated calls have no effect. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await stopChildProcess(this.#child);
  }
}

function messageOf(line: string): string {
  try {
    return (JSON.parse(line) as { msg?: string }).msg ?? line;
  } catch {
    return line;
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
  const options = {
    account: 'crash',
    vertical,
    mode,
    'requests-per-minute': unlimited,
    'analytics-per-minute': unlimited,
    'sessions-per-day': sessionsPerDay ?? unlimited,
  };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { code, stdout, stderr } = await runMarketplace(['keys', 'create', ...words, '--raw'], {
    SVC_DATA_DIR: dataDir,
  });
  if (code !== 0) throw new Error(`keys create ended with ${code}: ${stderr}`);
  return { key: stdout.trim(), mode, sessionsPerDay };
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnChild, stopChild } from '../../bench/target/owned-resources.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import type { Mode } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';

const commandLine = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

/** Beyond this a start is taken for one that never ends. */
const readyWaitMs = 60_000;
const logLinesKept = 20;

/** Where a server is reached: both listeners, on this machine. */
export interface Ports {
  readonly public: number;
  readonly operations: number;
}

/** `bin/marketplace serve` on a data folder, with free ports and all other settings as they come. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #ports: Promise<Ports>;
  #isExpectedToEnd = false;
  /** The last lines of its log, warnings and worse. */
  readonly log: string[] = [];

  constructor(dataDir: string, onLog: (message: string) => void) {
    this.#child = spawnChild(commandLine, ['serve'], {
      env: {
        ...plainEnvironment(),
        SVC_DATA_DIR: dataDir,
        SVC_PORT: '0',
        SVC_OPS_PORT: '0',
        SVC_LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#gone = once(this.#child, 'close');
    createInterface({ input: this.#child.stderr! }).on('line', (line) => {
      this.log.push(line);
      if (this.log.length > logLinesKept) this.log.shift();
      onLog(messageOf(line));
    });
    this.#ports = new Promise((resolve) => {
      createInterface({ input: this.#child.stdout! }).on('line', (line) => {
        const said = /^serving http:\/\/127\.0\.0\.1:(\d+)\/.* operations on 127\.0\.0\.1:(\d+)$/.exec(line);
        if (said !== null) resolve({ public: Number(said[1]), operations: Number(said[2]) });
      });
    });
  }

  /** The ports, once they are served. Rejects when the process ends instead, or takes forever. */
  async ready(): Promise<Ports> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the server is not ready after ${readyWaitMs} ms`)), readyWaitMs);
    });
    try {
      return await Promise.race([this.#ports, tooLate, this.endedByItself()]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Rejects when the process ends though nobody has killed or stopped it; otherwise never settles. */
  async endedByItself(): Promise<never> {
    await this.#gone;
    if (this.#isExpectedToEnd) return new Promise(() => {});
    throw new Error(`the server ended by itself with ${this.#child.exitCode ?? this.#child.signalCode}`);
  }

  /** SIGKILL, at once. */
  kill(): void {
    this.#isExpectedToEnd = true;
    this.#child.kill('SIGKILL');
  }

  /** Resolves when the process is gone and everything it printed has been read. */
  async waitForExit(): Promise<void> {
    await this.#gone;
  }

  /** SIGTERM, as an operator stops it. Idempotent, also after `kill`. */
  async stop(): Promise<void> {
    this.#isExpectedToEnd = true;
    await stopChild(this.#child);
  }
}

function messageOf(line: string): string {
  try {
    return (JSON.parse(line) as { msg?: string }).msg ?? line;
  } catch {
    return line;
  }
}

/** Who asks: an API key, made by the real command line. */
export interface Partner {
  readonly key: string;
  readonly mode: Mode;
  /** Sessions its key may create in a UTC day; null when so many that it does not matter. */
  readonly sessionsPerDay: number | null;
}

const plenty = 1_000_000;

/** Issues a key of one account, so that all partners of a mode see each other's sessions. Works on a running server's folder. */
export async function createPartner(
  dataDir: string,
  mode: Mode,
  sessionsPerDay: number | null = null,
): Promise<Partner> {
  const { code, stdout, stderr } = await runMarketplace(
    [
      'keys',
      'create',
      ...['--account', 'crash'],
      ...['--vertical', 'personal-loans'],
      ...['--mode', mode],
      ...['--requests-per-minute', String(plenty)],
      ...['--analytics-per-minute', String(plenty)],
      ...['--sessions-per-day', String(sessionsPerDay ?? plenty)],
      '--raw',
    ],
    { SVC_DATA_DIR: dataDir },
  );
  if (code !== 0) throw new Error(`keys create ended with ${code}: ${stderr}`);
  return { key: stdout.trim(), mode, sessionsPerDay };
}

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { spawnChildProcess } from '../../bench/target/owned-resources.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { HttpClient } from '../support/http-client.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { runAfterTest } from '../support/run-after-test.ts';

const checkout = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [member: string]: unknown;
}

export interface Ports {
  readonly public: number;
  readonly operations: number;
}

/** `bin/marketplace serve` on free ports, with its parsed log. Killed at the end of the test `t`, if there is one. */
export class ServedProcess {
  readonly child: ChildProcess;
  /** Resolves with the exit code or signal when all output has been read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly log: LogLine[] = [];
  /** Called for each line of the log. */
  onLog = (_line: LogLine): void => {};
  /** Lines on standard output. */
  readonly printed: string[] = [];
  readonly #firstKeysPrinted = Promise.withResolvers<void>();
  /** Lines on standard error that are not log lines. */
  readonly complaints: string[] = [];
  /** The line `serving ...`. Rejects if the process exits before. */
  readonly greeting: Promise<string>;
  #lineRead = Promise.withResolvers<void>();

  /** @param preload file to load before the command line; null for a server with its own deadlines */
  constructor(
    t: TestContext | null,
    settings: Readonly<Record<string, string>>,
    preload: string | null = '../support/patient-deadlines.ts',
    command = checkout,
  ) {
    const path = preload && fileURLToPath(new URL(preload, import.meta.url));
    this.child = spawnChildProcess(command, ['serve'], {
      env: {
        ...plainEnvironment(),
        ...(path && { NODE_OPTIONS: `--import=${path}` }),
        SVC_PORT: '0',
        SVC_OPS_PORT: '0',
        SVC_MATCHER_THREADS: '0',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (t !== null) runAfterTest(t, () => this.child.kill('SIGKILL'));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
    createInterface({ input: this.child.stderr! }).on('line', (line) => {
      // A killed process may write an incomplete line.
      if (line.startsWith('{') && line.endsWith('}')) {
        const logged: LogLine = JSON.parse(line);
        this.log.push(logged);
        this.onLog(logged);
      } else this.complaints.push(line);
      this.#lineRead.resolve();
      this.#lineRead = Promise.withResolvers();
    });
    const serving = new Promise<string>((resolve) => {
      createInterface({ input: this.child.stdout! }).on('line', (line) => {
        this.printed.push(line);
        if (line.startsWith('serving ')) resolve(line);
        if (line.includes('first-keys.txt')) this.#firstKeysPrinted.resolve();
      });
    });
    this.greeting = Promise.race([
      serving,
      this.ended.then(() => {
        throw new Error(`the process exited before it served: ${this.complaints.join('\n')}`);
      }),
    ]);
    this.greeting.catch(() => {});
  }

  async ports(): Promise<Ports> {
    const [, port, operations] = /:(\d+)\/.*:(\d+)$/.exec(await this.greeting) ?? [];
    return { public: Number(port), operations: Number(operations) };
  }

  /** Returns a client of a listener, which is closed at the end of the test. */
  async client(t: TestContext, listener: keyof Ports = 'public'): Promise<HttpClient> {
    const client = new HttpClient((await this.ports())[listener], listener === 'public');
    runAfterTest(t, () => client.close());
    return client;
  }

  /** Waits for the log line with this message; `index` counts lines with the same message. */
  async logged(msg: string, index = 0): Promise<LogLine> {
    let hasEnded = false;
    for (;;) {
      const line = this.log.filter((one) => one.msg === msg)[index];
      if (line !== undefined) return line;
      assert.ok(!hasEnded, `the process exited without logging: ${msg}`);
      const end = this.ended.then(() => {
        hasEnded = true;
      });
      await Promise.race([this.#lineRead.promise, end]);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits until the path of the keys of a first start is printed. */
  firstKeys(): Promise<void> {
    return Promise.race([
      this.#firstKeysPrinted.promise,
      this.ended.then(() => assert.fail(this.complaints.join('\n'))),
    ]);
  }

  /** Drains the server. Resolves with its exit code. */
  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return (await this.ended).code;
  }
}

export type ServedMarketplace = Awaited<ReturnType<typeof serveMarketplace>>;

/** Runs `marketplace serve` in its own process on free ports. Resolves when it serves and, at a first start, has printed its keys. */
export async function serveMarketplace(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  command?: string,
) {
  const isFirstStart = !existsSync(keyFilePath(dataDir));
  const allSettings = { SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'warn', ...settings };
  // An installed package has its own `bounds`.
  const served = new ServedProcess(null, allSettings, command === undefined ? undefined : null, command);
  const { public: port, operations: operationsPort } = await served.ports();
  if (isFirstStart) await served.firstKeys();
  return { port, operationsPort, printed: served.printed, stop: () => served.stop() };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { afterwards } from '../support/afterwards.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [member: string]: unknown;
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `bin/marketplace serve` on free ports, with its parsed log. Killed at the end of the test. */
export class ServedProcess {
  readonly child: ChildProcess;
  /** Resolves with the exit code or signal when all output has been read. */
  readonly ended: Promise<Ended>;
  readonly log: LogLine[] = [];
  /** Lines on standard error that are not log lines. */
  readonly complaints: string[] = [];
  /** The line `serving ...`. Rejects if the process exits before. */
  readonly greeting: Promise<string>;
  #lineRead = Promise.withResolvers<void>();

  /** @param preload file in `programs/` to load before the command line */
  constructor(t: TestContext, settings: Readonly<Record<string, string>>, preload?: string) {
    const path = preload && fileURLToPath(new URL(`programs/${preload}`, import.meta.url));
    this.child = spawn(fileURLToPath(new URL('../../bin/marketplace', import.meta.url)), ['serve'], {
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
    afterwards(t, () => this.child.kill('SIGKILL'));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
    createInterface({ input: this.child.stderr! }).on('line', (line) => {
      if (line.startsWith('{')) this.log.push(JSON.parse(line));
      else this.complaints.push(line);
      this.#lineRead.resolve();
      this.#lineRead = Promise.withResolvers();
    });
    const serving = new Promise<string>((resolve) => {
      createInterface({ input: this.child.stdout! }).on('line', (line) => line.startsWith('serving ') && resolve(line));
    });
    this.greeting = Promise.race([
      serving,
      this.ended.then(() => {
        throw new Error(`the process exited before it served: ${this.complaints.join('\n')}`);
      }),
    ]);
    this.greeting.catch(() => {});
  }

  async ports(): Promise<{ readonly public: number; readonly operations: number }> {
    const [, port, operations] = /:(\d+)\/.*:(\d+)$/.exec(await this.greeting) ?? [];
    return { public: Number(port), operations: Number(operations) };
  }

  /** Waits for the log line with this message; `index` counts lines with the same message. */
  async logged(msg: string, index = 0): Promise<LogLine> {
    const found = () => this.log.filter((one) => one.msg === msg)[index];
    for (;;) {
      const line = found();
      if (line !== undefined) return line;
      await Promise.race([
        this.#lineRead.promise,
        this.ended.then(() => {
          if (found() === undefined) throw new Error(`the process exited without logging: ${msg}`);
        }),
      ]);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

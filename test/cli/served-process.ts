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

/** `bin/marketplace serve` on free ports, with its log read line by line. It dies with the test, if not before. */
export class ServedProcess {
  readonly child: ChildProcess;
  /** With the code or signal, once everything it has printed is read. */
  readonly ended: Promise<Ended>;
  readonly log: LogLine[] = [];
  /** What was printed on standard error and is no line of the log. */
  readonly complaints: string[] = [];
  /** `serving ...`, unless it ends before it serves. */
  readonly greeting: Promise<string>;
  #noticed = Promise.withResolvers<void>();

  /** `preload` is a program of `programs/` that is loaded ahead of the command line. */
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
      this.#noticed.resolve();
      this.#noticed = Promise.withResolvers();
    });
    const serving = new Promise<string>((resolve) => {
      createInterface({ input: this.child.stdout! }).on('line', (line) => line.startsWith('serving ') && resolve(line));
    });
    this.greeting = Promise.race([
      serving,
      this.ended.then(() => {
        throw new Error(`it ended before it served: ${this.complaints.join('\n')}`);
      }),
    ]);
    this.greeting.catch(() => {});
  }

  async ports(): Promise<{ readonly public: number; readonly operations: number }> {
    const [, port, operations] = /:(\d+)\/.*:(\d+)$/.exec(await this.greeting) ?? [];
    return { public: Number(port), operations: Number(operations) };
  }

  /** The first line of the log with this message, or that many of them later, once it is there. */
  async logged(msg: string, later = 0): Promise<LogLine> {
    const found = () => this.log.filter((one) => one.msg === msg)[later];
    for (;;) {
      const line = found();
      if (line !== undefined) return line;
      await Promise.race([
        this.#noticed.promise,
        this.ended.then(() => {
          if (found() === undefined) throw new Error(`it ended without saying: ${msg}`);
        }),
      ]);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

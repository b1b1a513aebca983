import type { ChildProcess } from 'node:child_process';
import type { ProcessFigures } from '../result/bench-result.ts';
import { type ProbeRequest, type ProbeResponse, probeName } from './probe-protocol.ts';

const probeScript = new URL('./probe.ts', import.meta.url).href;

/** Maximum time to wait for a response of the probe. A later server is too busy or has no probe. */
const responseTimeoutMs = 10_000;

/** Environment variables that preload the probe. The process needs an IPC channel in `stdio`. */
export function environmentWithProbe(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${probeScript}`.trim() };
}

/** Client of the probe in a child process. It supports one measurement at a time. */
export class ProcessProbe {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, (figures: ProcessFigures | null) => void>();
  #nextId = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: ProbeResponse) => {
      if (answer?.probe === probeName) this.#settle(answer.id, answer.figures);
    });
    child.once('disconnect', () => {
      for (const number of [...this.#pending.keys()]) this.#settle(number, null);
    });
    // The channel must not keep this process alive.
    child.channel?.unref();
  }

  async start(): Promise<void> {
    await this.#request('start');
  }

  /** Ends the measurement and returns its figures; null if the process has no probe. */
  stop(): Promise<ProcessFigures | null> {
    return this.#request('stop');
  }

  /** Runs the garbage collector, which may block the process for seconds. */
  async collectGarbage(): Promise<void> {
    await this.#request('collect-garbage');
  }

  #request(command: ProbeRequest['command']): Promise<ProcessFigures | null> {
    const question: ProbeRequest = { probe: probeName, id: this.#nextId++, command };
    return new Promise((resolve) => {
      if (!this.#child.connected) return resolve(null);
      // The timer also keeps this process alive while it waits.
      const timer = setTimeout(() => this.#settle(question.id, null), responseTimeoutMs);
      this.#pending.set(question.id, (figures) => {
        clearTimeout(timer);
        resolve(figures);
      });
      this.#child.send(question, (error) => {
        if (error !== null) this.#settle(question.id, null);
      });
    });
  }

  #settle(number: number, figures: ProcessFigures | null): void {
    const settle = this.#pending.get(number);
    this.#pending.delete(number);
    settle?.(figures);
  }
}

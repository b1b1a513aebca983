import type { ChildProcess } from 'node:child_process';
import type { ProcessFigures } from '../result/measurement.ts';
import { type ProbeAnswer, type ProbeQuestion, probeName } from './probe-protocol.ts';

const script = new URL('./probe.ts', import.meta.url).href;

/** A server that does not answer within this time is too busy, or has no probe. */
const answerWaitMs = 10_000;

/**
 * The environment that has Node.js preload the probe, whatever launcher starts it. The process must be spawned with an IPC
 * channel among its `stdio`.
 */
export function probedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${script}`.trim() };
}

/** The harness's end of a probe in a child process. One measurement at a time. */
export class ProcessProbe {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (figures: ProcessFigures | null) => void>();
  #asked = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: ProbeAnswer) => {
      if (answer?.probe === probeName) this.#settle(answer.number, answer.figures);
    });
    child.once('disconnect', () => {
      for (const number of [...this.#waiting.keys()]) this.#settle(number, null);
    });
    // The channel alone must not keep the harness alive.
    child.channel?.unref();
  }

  async begin(): Promise<void> {
    await this.#ask('begin');
  }

  /** What the process saw since `begin`; null where it cannot tell. */
  end(): Promise<ProcessFigures | null> {
    return this.#ask('end');
  }

  /** Has the process collect its garbage, which may stop it for seconds. */
  async collect(): Promise<void> {
    await this.#ask('collect');
  }

  #ask(ask: ProbeQuestion['ask']): Promise<ProcessFigures | null> {
    const question: ProbeQuestion = { probe: probeName, number: this.#asked++, ask };
    return new Promise((resolve) => {
      if (!this.#child.connected) return resolve(null);
      // The timer also keeps this process alive while it waits.
      const timer = setTimeout(() => this.#settle(question.number, null), answerWaitMs);
      this.#waiting.set(question.number, (figures) => {
        clearTimeout(timer);
        resolve(figures);
      });
      this.#child.send(question, (error) => {
        if (error !== null) this.#settle(question.number, null);
      });
    });
  }

  #settle(number: number, figures: ProcessFigures | null): void {
    const settle = this.#waiting.get(number);
    this.#waiting.delete(number);
    settle?.(figures);
  }
}

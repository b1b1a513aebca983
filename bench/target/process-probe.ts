import type { ChildProcess } from 'node:child_process';
import type { ServerResourceUsage } from '../result/bench-result.ts';

/** Value that identifies messages between the benchmark and the probe. */
export const probeProcessTitle = 'svc-marketplace bench probe';

/** Message to the probe. `start` begins a measurement; `stop` ends the measurement and requests its figures. */
export interface ProbeRequest {
  readonly probe: typeof probeProcessTitle;
  readonly id: number;
  readonly command: 'start' | 'stop' | 'collect-garbage';
}

/** Response of the probe to a message. `figures` is null, except in the response to a `stop` message. */
export interface ProbeResponse {
  readonly probe: typeof probeProcessTitle;
  readonly id: number;
  readonly figures: ServerResourceUsage | null;
}

const probeScript = new URL('./probe.ts', import.meta.url).href;

/** Maximum time to wait for a response of the probe. Without a response, the measured process has no probe, or is too busy. */
const responseTimeoutMs = 10_000;

/** Returns environment variables that preload the probe. The measured process must be started with an IPC channel. */
export function addProbeToEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${probeScript}`.trim() };
}

/** Sends messages to the probe that runs in a child process. The probe supports one measurement at a time. */
export class ProcessProbe {
  readonly #child: ChildProcess;
  #nextId = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    // The IPC channel must not keep this process alive.
    child.channel?.unref();
  }

  async start(): Promise<void> {
    await this.#sendCommand('start');
  }

  /** Ends the measurement and returns the measured figures, or null if the process runs without the probe. */
  stop(): Promise<ServerResourceUsage | null> {
    return this.#sendCommand('stop');
  }

  /** Runs the garbage collector, which may block the process for seconds. */
  async collectGarbage(): Promise<void> {
    await this.#sendCommand('collect-garbage');
  }

  /** Resolves to null if the process ends or does not respond in time. */
  async #sendCommand(command: ProbeRequest['command']): Promise<ServerResourceUsage | null> {
    const child = this.#child;
    if (!child.connected) return null;
    const request: ProbeRequest = { probe: probeProcessTitle, id: this.#nextId++, command };
    const { promise, resolve } = Promise.withResolvers<ServerResourceUsage | null>();
    const handleResponse = (answer: ProbeResponse) => {
      if (answer?.probe === probeProcessTitle && answer.id === request.id) resolve(answer.figures);
    };
    const giveUp = () => resolve(null);
    child.on('message', handleResponse).once('disconnect', giveUp);
    // The timer keeps this process alive until the response or the timeout, because the IPC channel does not.
    const timer = setTimeout(giveUp, responseTimeoutMs);
    child.send(request, (error) => {
      if (error !== null) giveUp();
    });
    const figures = await promise;
    clearTimeout(timer);
    child.off('message', handleResponse).off('disconnect', giveUp);
    return figures;
  }
}

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What the two threads share. Times are those of `monotonicMs`, the one clock that is the same in both. */
export interface PacerData {
  readonly dueMs: Float64Array;
  /** By the places of `pacerSlots`. */
  readonly state: Int32Array;
}

export const pacerSlots = {
  /** How many of the times have been seen to. */
  handled: 0,
  /** 1 from a call until it has been answered. */
  wakeupPending: 1,
} as const;

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Calls back when the next of a list of times has come: from a thread of its own, since the timers of an event loop know
 * whole milliseconds only, which is longer than an answer takes.
 */
export class Pacer {
  readonly #data: PacerData;
  readonly #worker: Worker;

  /**
   * @param dueMs ascending
   * @param onDue sees to everything that is due, and tells how many of the times it has now seen to
   */
  static async start(dueMs: readonly number[], onDue: () => number): Promise<Pacer> {
    const pacer = new Pacer(dueMs, onDue);
    await once(pacer.#worker, 'online');
    return pacer;
  }

  private constructor(dueMs: readonly number[], onDue: () => number) {
    const shared = new Float64Array(new SharedArrayBuffer(dueMs.length * Float64Array.BYTES_PER_ELEMENT));
    shared.set(dueMs);
    const state = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    this.#data = { dueMs: shared, state };
    this.#worker = new Worker(new URL('./pacer-thread.ts', import.meta.url), { workerData: this.#data });
    this.#worker.on('message', () => {
      Atomics.store(state, pacerSlots.handled, onDue());
      Atomics.store(state, pacerSlots.wakeupPending, 0);
      Atomics.notify(state, pacerSlots.wakeupPending);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

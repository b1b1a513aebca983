import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Shared data of the two threads. Times are those of `monotonicMs`, the same clock in both. */
export interface PacerData {
  readonly dueMs: Float64Array;
  /** Slots: see `pacerSlots`. */
  readonly state: Int32Array;
}

export const pacerSlots = {
  /** Number of handled times. */
  handled: 0,
  /** 1 from a call until it is handled. */
  wakeupPending: 1,
} as const;

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Calls back at each of a list of times. It uses its own thread, because event-loop timers have a resolution of one millisecond,
 * longer than a reply takes.
 */
export class Pacer {
  readonly #data: PacerData;
  readonly #worker: Worker;

  /**
   * @param dueMs ascending times
   * @param onDue handles everything that is due and returns the number of handled times
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

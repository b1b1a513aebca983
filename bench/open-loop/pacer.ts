import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Memory that the client and the pacer thread share. Times are values of `monotonicMs`, which is the same clock in both threads. */
export interface PacerWorkerData {
  readonly dueMs: Float64Array;
  /** State that the client and the pacer thread read and write. `pacerStateFields` maps the name of each value to its index in `state`. */
  readonly state: Int32Array;
}

export const pacerStateFields = {
  /** Number of due requests that the client has sent, queued or dropped. */
  handled: 0,
  /** 1 while the client handles a wake-up message of the pacer thread; otherwise 0. */
  wakeupPending: 1,
} as const;

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Running pacer thread. */
export interface Pacer {
  stop(): Promise<unknown>;
}

/**
 * Calls a function at each of the given times. A separate thread measures the time, because event-loop timers have a
 * resolution of one millisecond, and most replies take less than a millisecond.
 * @param dueMs ascending times
 * @param onDue sends all requests that are due and returns the total number of handled times
 */
export async function startPacer(dueMs: readonly number[], onDue: () => number): Promise<Pacer> {
  const shared = new Float64Array(new SharedArrayBuffer(dueMs.length * Float64Array.BYTES_PER_ELEMENT));
  shared.set(dueMs);
  const state = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const workerData: PacerWorkerData = { dueMs: shared, state };
  const worker = new Worker(new URL('./pacer-thread.ts', import.meta.url), { workerData });
  worker.on('message', () => {
    Atomics.store(state, pacerStateFields.handled, onDue());
    Atomics.store(state, pacerStateFields.wakeupPending, 0);
    Atomics.notify(state, pacerStateFields.wakeupPending);
  });
  await once(worker, 'online');
  return { stop: () => worker.terminate() };
}

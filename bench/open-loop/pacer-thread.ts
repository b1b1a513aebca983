/** The thread of `Pacer`: sleeps until the next time, calls, and waits until the call has been seen to. */
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMs, type PacerData, pacerSlots } from './pacer.ts';

/** Calls come no closer: at high rates each brings several requests, and the client has time left to send them. */
const callSpacingMs = 0.25;

const { dueMs, state } = workerData as PacerData;
const sleeping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let calledMs = Number.NEGATIVE_INFINITY;

for (;;) {
  const next = Atomics.load(state, pacerSlots.handled);
  if (next >= dueMs.length) break;
  const waitMs = Math.max(dueMs[next]!, calledMs + callSpacingMs) - monotonicMs();
  if (waitMs > 0) Atomics.wait(sleeping, 0, 0, waitMs);
  if (monotonicMs() < dueMs[next]!) continue;
  calledMs = monotonicMs();
  Atomics.store(state, pacerSlots.wakeupPending, 1);
  parentPort!.postMessage(null);
  Atomics.wait(state, pacerSlots.wakeupPending, 1);
}

/** Thread of `startPacer`. Sleeps until the next scheduled time, wakes the client, and waits until the client has sent the requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMs, type PacerWorkerData, pacerStateFields } from './pacer.ts';

/** Minimum interval between two wake-ups of the client. At high request rates, the client sends several requests each time it wakes up. */
const callSpacingMs = 0.25;

const { dueMs, state } = workerData as PacerWorkerData;
const sleeping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let calledMs = Number.NEGATIVE_INFINITY;

for (;;) {
  const next = Atomics.load(state, pacerStateFields.handled);
  if (next >= dueMs.length) break;
  const waitMs = Math.max(dueMs[next]!, calledMs + callSpacingMs) - monotonicMs();
  if (waitMs > 0) Atomics.wait(sleeping, 0, 0, waitMs);
  if (monotonicMs() < dueMs[next]!) continue;
  calledMs = monotonicMs();
  Atomics.store(state, pacerStateFields.wakeupPending, 1);
  parentPort!.postMessage(null);
  Atomics.wait(state, pacerStateFields.wakeupPending, 1);
}

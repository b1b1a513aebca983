import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Asks until the answer is the one wanted, for a minute at most: what a browser sends on its own comes when it comes. */
export async function eventually<Answer>(ask: () => Promise<Answer>, wanted: Answer): Promise<void> {
  const giveUpMs = performance.now() + 60_000;
  for (;;) {
    const answer = await ask();
    try {
      return assert.deepEqual(answer, wanted);
    } catch (fault) {
      if (performance.now() > giveUpMs) throw fault;
    }
    await pause(50);
  }
}

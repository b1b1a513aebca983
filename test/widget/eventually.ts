import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Polls until `read` returns the expected value, for at most a minute. */
export async function eventually<Value>(read: () => Promise<Value>, expected: Value): Promise<void> {
  const endMs = performance.now() + 60_000;
  for (;;) {
    const value = await read();
    try {
      return assert.deepEqual(value, expected);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await pause(50);
  }
}

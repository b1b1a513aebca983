import type { TestContext } from 'node:test';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { liveTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';

export const sessionTtlMs = 4 * 60 * 60 * 1000;

/** Opens a session store, which is closed after the test. */
export function openSessionStore(t: TestContext, { sessionsMax = 1_000, shardCount = 16 } = {}) {
  const clock = new ManualClock();
  const fieldsMax = liveTenant.vertical.fields.length;
  const options = { clock, sessionsMax, sessionTtlMs, fieldsMax, shardCount, sweepIntervalMs: 60_000 };
  const sessions = new MemorySessionStore(options);
  t.after(() => sessions.close());
  return { clock, sessions };
}

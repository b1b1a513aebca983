import type { TestContext } from 'node:test';
import { SessionStore } from '../../src/sessions/session-store.ts';
import { liveTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';

export const sessionTtlMs = 4 * 60 * 60 * 1000;

/** Opens a session store, which is closed after the test. */
export function openSessionStore(t: TestContext, { sessionsMax = 1_000, verticals = [liveTenant.vertical] } = {}) {
  const clock = new ManualClock();
  const sessions = new SessionStore({ clock, sessionsMax, sessionTtlMs, verticals });
  t.after(() => sessions.close());
  return { clock, sessions };
}

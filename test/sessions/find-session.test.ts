import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Tenant } from '../../src/domain/tenant.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { findSession } from '../../src/sessions/find-session.ts';
import type { Session } from '../../src/sessions/session.ts';
import { liveTenant, secretSetOf, testTenant } from '../support/identities.ts';
import { openSessionStore, sessionTtlMs } from './open-session-store.ts';

function setUp(t: TestContext) {
  const { clock, sessions } = openSessionStore(t);
  const subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  const onSessionMissing = t.mock.fn();
  /** Issues an id without a session in the store. */
  const issue = () => {
    const { account, vertical, mode } = liveTenant;
    return subIds.createSubId(clock.wallMs(), account, vertical.number, mode);
  };
  /** Adds a session with unique fields. */
  const create = () => {
    const id = issue();
    sessions.add(id);
    const session = sessions.get(id)!;
    session.mergeFields([0, sessions.size]);
    return { id, session };
  };
  /** Returns the session, or the error code. */
  const find = (id: string, tenant: Tenant = liveTenant): Session | string => {
    const outcome = findSession({ clock, sessions, subIds, sessionTtlMs, onSessionMissing }, tenant, id);
    return outcome.ok ? outcome.value : outcome.error.code;
  };
  return { clock, sessions, issue, create, find, alerts: () => onSessionMissing.mock.callCount() };
}

/** Compares two handles of the same session. */
function assertFound(found: Session | string, session: Session): void {
  assert(typeof found !== 'string', String(found));
  assert.deepEqual(found.tenant, session.tenant);
  assert.equal(found.createdMs, session.createdMs);
  assert(found.pocketFields[0]! > 0);
  assert.deepEqual(found.pocketFields, session.pocketFields);
}

const otherTenants: readonly (readonly [whose: string, tenant: Tenant])[] = [
  ['another account', { ...liveTenant, account: 43 }],
  ['another mode', testTenant],
  ['another vertical', { ...liveTenant, vertical: { ...liveTenant.vertical, number: 2 } }],
];

describe('findSession', () => {
  it('finds a live session of the tenant', (t) => {
    const { create, find } = setUp(t);
    create();
    const { id, session } = create();
    create();
    assertFound(find(id, { ...liveTenant }), session);
  });

  for (const [whose, tenant] of otherTenants) {
    it(`does not find a session of ${whose}, whether the session is live, expired or missing`, (t) => {
      const { clock, issue, create, find, alerts } = setUp(t);
      const ids = [create().id, issue()];
      for (const id of ids) assert.equal(find(id, tenant), 'SUB_ID_NOT_FOUND');
      clock.advance(sessionTtlMs);
      for (const id of ids) assert.equal(find(id, tenant), 'SUB_ID_NOT_FOUND');
      assert.equal(alerts(), 0);
    });
  }

  it('does not find a session by a forged id', (t) => {
    const { create, find, alerts } = setUp(t);
    const { id } = create();
    const changed = id.slice(0, -1) + (id.at(-1) === '0' ? '1' : '0');
    for (const text of ['', 'sub_', `sub_${'0'.repeat(64)}`, changed, id.toUpperCase(), `${id} `, '__proto__']) {
      assert.equal(find(text), 'SUB_ID_NOT_FOUND');
    }
    assert.equal(alerts(), 0);
  });

  it('a session expires exactly at its expiry time, measured by the wall clock', (t) => {
    const { clock, create, find } = setUp(t);
    const { id, session } = create();
    const expiryMs = session.createdMs + sessionTtlMs;
    clock.setWall(expiryMs - 1);
    assertFound(find(id), session);
    clock.setWall(expiryMs);
    assert.equal(find(id), 'SUB_ID_EXPIRED');
    clock.setWall(session.createdMs);
    assertFound(find(id), session);
  });

  it('returns SUB_ID_EXPIRED without an alert for a session that was deleted after its expiry', (t) => {
    const { clock, sessions, create, find, alerts } = setUp(t);
    const { id } = create();
    clock.advance(100 * sessionTtlMs);
    sessions.deleteExpiredSessions();
    assert.equal(sessions.size, 0);
    assert.equal(find(id), 'SUB_ID_EXPIRED');
    assert.equal(alerts(), 0);
  });

  it('returns SUB_ID_EXPIRED and raises an alert if the store has lost a session before the session expired', (t) => {
    const { clock, issue, find, alerts } = setUp(t);
    const id = issue();
    for (let i = 0; i < 2; i++) {
      clock.advance(sessionTtlMs - 1 + i);
      assert.equal(find(id), 'SUB_ID_EXPIRED');
      assert.equal(alerts(), 1);
    }
  });
});

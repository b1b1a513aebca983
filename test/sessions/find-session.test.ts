import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SubIds } from '../../src/ids/sub-id.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { findSession } from '../../src/sessions/find-session.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import type { Session } from '../../src/sessions/session-store.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { liveTenant, secretRingOf, testTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';

const sessionTtlMs = 4 * 60 * 60 * 1000;

class Bench {
  readonly clock = new ManualClock();
  readonly sessions: MemorySessionStore;
  readonly subIds = new SubIds(secretRingOf('ours'), new RandomPool());
  missing = 0;
  created = 0;

  constructor(t: TestContext) {
    const { clock } = this;
    const fieldsMax = liveTenant.vertical.fields.length;
    this.sessions = new MemorySessionStore({
      clock,
      sessionsMax: 100,
      sessionTtlMs,
      fieldsMax,
      shardCount: 4,
      sweepIntervalMs: 60_000,
    });
    t.after(() => this.sessions.close());
  }

  /** Issues an id without a session in the store. */
  issue(tenant: Tenant = liveTenant): string {
    return this.subIds.issue(this.clock.wallMs(), tenant.account, tenant.vertical.number, tenant.mode);
  }

  /** Adds a session with unique fields. */
  create(): { id: string; session: Session } {
    const id = this.issue();
    this.sessions.add(id, liveTenant);
    const session = this.sessions.get(id)!;
    session.mergeFields([0, ++this.created]);
    return { id, session };
  }

  /** Returns the session, or the error code. */
  find(id: string, tenant: Tenant = liveTenant): Session | string {
    const { clock, sessions, subIds } = this;
    const onSessionMissing = () => {
      this.missing++;
    };
    const outcome = findSession({ clock, sessions, subIds, sessionTtlMs, onSessionMissing }, tenant, id);
    return outcome.ok ? outcome.value : outcome.error.code;
  }
}

/** Compares two handles of the same session. */
function assertFound(found: Session | string, session: Session): void {
  assert(typeof found !== 'string', String(found));
  assert.equal(found.tenant, session.tenant);
  assert.equal(found.createdMs, session.createdMs);
  assert(found.fields[0]! > 0);
  assert.deepEqual(found.fields, session.fields);
}

const otherTenants: readonly (readonly [whose: string, tenant: Tenant])[] = [
  ['another account', { ...liveTenant, account: 43 }],
  ['another mode', testTenant],
  ['another vertical', { ...liveTenant, vertical: { ...liveTenant.vertical, number: 2 } }],
];

describe('findSession', () => {
  it('finds a live session of the tenant', (t) => {
    const bench = new Bench(t);
    bench.create();
    const { id, session } = bench.create();
    bench.create();
    assertFound(bench.find(id, { ...liveTenant }), session);
  });

  for (const [whose, tenant] of otherTenants) {
    it(`does not find a session of ${whose}, whether the session is live, expired or missing`, (t) => {
      const bench = new Bench(t);
      const { id } = bench.create();
      const missing = bench.issue();
      assert.equal(bench.find(id, tenant), 'SUB_ID_NOT_FOUND');
      assert.equal(bench.find(missing, tenant), 'SUB_ID_NOT_FOUND');
      bench.clock.advance(sessionTtlMs);
      assert.equal(bench.find(id, tenant), 'SUB_ID_NOT_FOUND');
      assert.equal(bench.find(missing, tenant), 'SUB_ID_NOT_FOUND');
      assert.equal(bench.missing, 0);
    });
  }

  it('does not find a session by a forged id', (t) => {
    const bench = new Bench(t);
    const { id } = bench.create();
    const last = id.at(-1) === '0' ? '1' : '0';
    for (const text of [
      '',
      'sub_',
      `sub_${'0'.repeat(64)}`,
      id.slice(0, -1) + last,
      id.toUpperCase(),
      `${id} `,
      '__proto__',
    ]) {
      assert.equal(bench.find(text), 'SUB_ID_NOT_FOUND');
    }
    assert.equal(bench.missing, 0);
  });

  it('rejects a session from the millisecond of its expiry on', (t) => {
    const bench = new Bench(t);
    const { id, session } = bench.create();
    bench.clock.advance(sessionTtlMs - 1);
    assertFound(bench.find(id), session);
    bench.clock.advance(1);
    assert.equal(bench.find(id), 'SUB_ID_EXPIRED');
  });

  it('reports a deleted session as expired, without an alert', (t) => {
    const bench = new Bench(t);
    const { id } = bench.create();
    bench.clock.advance(100 * sessionTtlMs);
    for (let i = 0; i < 4; i++) bench.sessions.sweepNextShard();
    assert.equal(bench.sessions.size, 0);
    assert.equal(bench.find(id), 'SUB_ID_EXPIRED');
    assert.equal(bench.missing, 0);
  });

  it('reports a live session that is missing in the store as expired, with an alert', (t) => {
    const bench = new Bench(t);
    const id = bench.issue();
    bench.clock.advance(sessionTtlMs - 1);
    assert.equal(bench.find(id), 'SUB_ID_EXPIRED');
    assert.equal(bench.missing, 1);
    bench.clock.advance(1);
    assert.equal(bench.find(id), 'SUB_ID_EXPIRED');
    assert.equal(bench.missing, 1);
  });

  it('determines the expiry of a session by the wall clock', (t) => {
    const bench = new Bench(t);
    const { id, session } = bench.create();
    bench.clock.setWall(session.createdMs + sessionTtlMs);
    assert.equal(bench.find(id), 'SUB_ID_EXPIRED');
    bench.clock.setWall(session.createdMs);
    assertFound(bench.find(id), session);
  });
});

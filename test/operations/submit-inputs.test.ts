import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { emptyFieldVector, findFieldIndex } from '../../src/domain/field-vector.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { PendingFieldChanges, submitInputs } from '../../src/operations/submit-inputs.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import type { CachedRanking } from '../../src/sessions/ranking-arena.ts';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { mortgage } from '../../src/verticals/mortgage/mortgage.ts';
import { liveTenant, secretSetOf } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openTemporaryJournal, type TemporaryJournal } from '../support/temporary-logs.ts';
import { callOperation, openSessionStore, sessionTtlMs, verdictOf } from './bench.ts';

const { vertical } = liveTenant;

const required = {
  loan_amount: 15_000,
  loan_purpose: 'wedding',
  credit_score_range: '700-749',
  annual_income: 85_000,
  employment_status: 'employed',
  state: 'CA',
};

const valid = {
  loan_amount: fc.integer({ min: 1_000, max: 100_000 }),
  loan_purpose: fc.constantFrom('debt_consolidation', 'home_improvement', 'wedding', 'other'),
  credit_score_range: fc.constantFrom('300-579', '700-749', '800+'),
  annual_income: fc.integer({ min: 0, max: 10_000_000 }),
  employment_status: fc.constantFrom('employed', 'self_employed', 'retired', 'other'),
  state: fc.constantFrom('CA', 'NY', 'DC', 'PR'),
  birthdate: fc.constantFrom('1980-02-29', '2000-12-31'),
  housing_status: fc.constantFrom('own', 'rent', 'other'),
  monthly_debt_payments: fc.integer({ min: 0, max: 1_000_000 }),
  loan_term_months: fc.constantFrom(12, 24, 36, 48, 60, 84),
  co_borrower: fc.boolean(),
  address_zip: fc.constantFrom('00501', '90210'),
};

/** Random valid fields, some of which have the value null. */
const submission = fc
  .record(valid, { requiredKeys: [] })
  .chain((fields) =>
    fc
      .subarray(Object.keys(fields))
      .map((cleared) => ({ ...fields, ...Object.fromEntries(cleared.map((name) => [name, null])) })),
  );

class Bench {
  readonly clock = new ManualClock();
  readonly subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  readonly sessions: SessionStore;
  readonly pendingChanges = new PendingFieldChanges();
  missing = 0;

  readonly journal: TemporaryJournal;

  private constructor(t: TestContext, journal: TemporaryJournal) {
    this.journal = journal;
    this.sessions = openSessionStore(t, this.clock, { sessionsMax: 10_000 });
  }

  static async open(t: TestContext): Promise<Bench> {
    return new Bench(t, await openTemporaryJournal(t));
  }

  newSession(tenant: Tenant = liveTenant): string {
    const id = this.subIds.createSubId(this.clock.wallMs(), tenant.account, tenant.vertical.number, tenant.mode);
    this.sessions.add(id);
    return id;
  }

  submitBody(body: unknown, tenant: Tenant = liveTenant) {
    const { clock, subIds, sessions, pendingChanges } = this;
    const { journal } = this.journal;
    const onSessionMissing = () => {
      this.missing++;
    };
    const deps = {
      registry: builtInVerticals,
      clock,
      subIds,
      sessions,
      journal,
      pendingChanges,
      sessionTtlMs,
      onSessionMissing,
    };
    return callOperation(submitInputs, deps, tenant, { body });
  }

  /** Submits valid fields. Returns the response. */
  async submit(sub_id: string, fields: object) {
    const outcome = await this.submitBody({ sub_id, fields });
    assert(outcome.ok, JSON.stringify(outcome));
    return outcome.value;
  }

  async verdict(body: unknown, tenant: Tenant = liveTenant): Promise<string> {
    return verdictOf(await this.submitBody(body, tenant));
  }

  fieldsOf(sub_id: string): readonly number[] {
    return this.sessions.get(sub_id)!.pocketFields;
  }
}

describe('submitInputs', () => {
  it('returns accepted and unknown fields and match_readiness', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    assert.deepEqual(await bench.submit(sub_id, { shoe_size: 44, ...required, loan_purpose: 'debt_consolidation' }), {
      sub_id,
      fields_accepted: Object.keys(required),
      fields_unknown: ['shoe_size'],
      match_readiness: 'partial',
      missing_required: [],
      missing_conditional: ['monthly_debt_payments'],
    });
  });

  it('submitting fields in one or in several submissions stores the same values', async (t) => {
    const bench = await Bench.open(t);
    const cuts = fc.array(fc.nat(12), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(submission, { maxLength: 5 }), cuts, async (submissions, at) => {
        // One submission with the last value of each field.
        const batch = bench.newSession();
        await bench.submit(batch, Object.assign({}, ...submissions));
        const one = bench.newSession();
        for (const fields of submissions) await bench.submit(one, fields);
        // The same entries in the same order, split into other submissions.
        const entries = submissions.flatMap((fields) => Object.entries(fields));
        const other = bench.newSession();
        const bounds = [0, ...at.map((cut) => Math.min(cut, entries.length)).sort((a, b) => a - b), entries.length];
        for (let i = 1; i < bounds.length; i++) {
          await bench.submit(other, Object.fromEntries(entries.slice(bounds[i - 1], bounds[i])));
        }
        assert.deepEqual(bench.fieldsOf(one), bench.fieldsOf(batch));
        assert.deepEqual(bench.fieldsOf(other), bench.fieldsOf(batch));
      }),
    );
  });

  it('stores none of the submitted fields if one value is invalid', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    await bench.submit(sub_id, required);
    await fc.assert(
      fc.asyncProperty(submission, fc.boolean(), async (fields, first) => {
        const before = bench.fieldsOf(sub_id);
        const bad = { education_level: 'none' };
        const outcome = await bench.submitBody({
          sub_id,
          fields: first ? { ...bad, ...fields } : { ...fields, ...bad },
        });
        assert(!outcome.ok);
        assert.equal(outcome.error.code, 'INVALID_FIELD_VALUE');
        assert.deepEqual(
          outcome.error.fieldsInvalid!.map(({ field, code }) => [field, code]),
          [['education_level', 'enum']],
        );
        assert.deepEqual(bench.fieldsOf(sub_id), before);
      }),
    );
  });

  it('a submission deletes the cached ranking only if it sets or clears a field', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    const session = bench.sessions.get(sub_id)!;
    const ranked: CachedRanking = {
      ranking: { catalogVersion: 'catalog-1', total: 1, availableOnly: false, orders: '\0\0\0\0' },
      rankedOn: 20260520,
      unavailableSet: 0,
      creditBand: 3,
      clickToken: 'sealed',
    };
    session.cacheRanking(ranked, session.fieldsRevision);
    await bench.submit(sub_id, { shoe_size: 44 });
    await bench.verdict({ sub_id, fields: { state: 'nowhere' } });
    assert.deepEqual(session.cachedRanking, ranked);
    await bench.submit(sub_id, { state: 'CA' });
    assert.equal(session.cachedRanking, null);
  });

  it('rejects a body or fields that are not objects, and a sub_id that is not a string', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    for (const body of [null, undefined, 1, 'text', [], true])
      assert.equal(await bench.verdict(body), 'INVALID_REQUEST body');
    for (const wrong of [undefined, null, 1, [sub_id], {}]) {
      assert.equal(await bench.verdict({ sub_id: wrong, fields: {} }), 'INVALID_REQUEST sub_id');
    }
    for (const wrong of [undefined, null, 1, 'text', [], [{}], true]) {
      assert.equal(await bench.verdict({ sub_id, fields: wrong }), 'INVALID_REQUEST fields');
    }
  });

  it('accepts up to 64 field names of up to 64 characters', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, i]));
    assert.equal(await bench.verdict({ sub_id, fields: named(64) }), 'ok');
    assert.equal(await bench.verdict({ sub_id, fields: named(65) }), 'INVALID_REQUEST fields');
    for (const character of ['x', '💶']) {
      assert.equal(await bench.verdict({ sub_id, fields: { [character.repeat(63)]: 1 } }), 'ok');
      assert.equal(await bench.verdict({ sub_id, fields: { [character.repeat(64)]: 1 } }), 'ok');
      assert.equal(await bench.verdict({ sub_id, fields: { [character.repeat(65)]: 1 } }), 'INVALID_REQUEST fields');
    }
  });

  it('computes the age of the borrower on the UTC day of the request', async (t) => {
    const bench = await Bench.open(t);
    bench.clock.setWall(Date.UTC(2026, 4, 20, 23, 59, 59, 999));
    const sub_id = bench.newSession();
    const body = { sub_id, fields: { birthdate: '2008-05-21' } };
    assert.equal(await bench.verdict(body), 'INVALID_FIELD_VALUE');
    bench.clock.advance(1);
    assert.equal(await bench.verdict(body), 'ok');
  });

  it('applies field changes only after their journal record is durable', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    const submitting = bench.submit(sub_id, { state: 'CA', loan_amount: 5_000 });
    assert.deepEqual(bench.fieldsOf(sub_id), emptyFieldVector(vertical));
    await submitting;
    const [merge, ...others] = await bench.journal.merges();
    assert.deepEqual(others, []);
    assert.deepEqual(merge!.sub, bench.subIds.toBytes(sub_id));
    assert.deepEqual(merge!.changes, [
      findFieldIndex(vertical, 'state'),
      4,
      findFieldIndex(vertical, 'loan_amount'),
      5_000,
    ]);
  });

  it('writes no journal record for a submission without changes', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    await bench.submit(sub_id, { shoe_size: 44 });
    await bench.verdict({ sub_id, fields: { state: 'nowhere' } });
    assert.deepEqual(await bench.journal.merges(), []);
  });

  it('applies concurrent submissions in the order of the journal', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    const both = [bench.submit(sub_id, { state: 'CA' }), bench.submit(sub_id, { state: 'NY', loan_amount: 5_000 })];
    const [first, second] = await Promise.all(both);
    assert.equal(first!.missing_required.includes('loan_amount'), true);
    assert.equal(second!.missing_required.includes('loan_amount'), false);
    const last = (await bench.journal.merges()).at(-1)!;
    assert.equal(bench.fieldsOf(sub_id)[findFieldIndex(vertical, 'state')], last.changes[1]);
  });

  it('rejects values that are impossible together, also in concurrent submissions', async (t) => {
    const bench = await Bench.open(t);
    const tenant: Tenant = { ...liveTenant, vertical: mortgage };
    const sub_id = bench.newSession(tenant);
    const submit = (fields: object) => bench.verdict({ sub_id, fields }, tenant);
    const loan = { loan_purpose: 'purchase', property_value: 500_000, down_payment: 100_000 };
    assert.equal(await submit(loan), 'ok');
    for (const [first, second] of [
      [{ property_value: 300_000 }, { down_payment: 400_000 }],
      [{ down_payment: 200_000 }, { property_value: 150_000 }],
    ] as const) {
      assert.deepEqual(await Promise.all([submit(first), submit(second)]), ['ok', 'INVALID_FIELD_VALUE']);
    }
    // Changes that have taken effect are not pending any more.
    assert.deepEqual([...bench.pendingChanges.listPendingChanges(sub_id)], []);
  });

  it('rejects a down payment of the whole value or more, unless the loan is a refinance', async (t) => {
    const bench = await Bench.open(t);
    const tenant: Tenant = { ...liveTenant, vertical: mortgage };
    const purchase = { loan_purpose: 'purchase', property_value: 400_000 };
    for (const [earlier, fields, refused] of [
      [purchase, { down_payment: 400_000 }, 'down_payment'],
      [purchase, { down_payment: 500_000 }, 'down_payment'],
      [purchase, { down_payment: 399_000 }, undefined],
      [{ ...purchase, down_payment: 399_000 }, { property_value: 300_000 }, 'property_value'],
      [{ property_value: 400_000 }, { down_payment: 400_000 }, 'down_payment'],
      [{ loan_purpose: 'refinance', property_value: 400_000 }, { down_payment: 400_000 }, undefined],
      [{ ...purchase, loan_purpose: 'refinance', down_payment: 400_000 }, { loan_purpose: 'purchase' }, 'loan_purpose'],
    ] as const) {
      const sub_id = bench.newSession(tenant);
      assert.equal(await bench.verdict({ sub_id, fields: earlier }, tenant), 'ok');
      const outcome = await bench.submitBody({ sub_id, fields }, tenant);
      const invalid = outcome.ok ? [] : outcome.error.fieldsInvalid!.map(({ field, code }) => [field, code]);
      assert.deepEqual(invalid, refused === undefined ? [] : [[refused, 'range']]);
    }
  });

  it('returns SUB_ID_EXPIRED if the session expires before its field changes are durable', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    const submitting = bench.submitBody({ sub_id, fields: required });
    bench.clock.advance(sessionTtlMs);
    bench.sessions.deleteExpiredSessions();
    assert.equal(bench.sessions.size, 0);
    const other = bench.newSession();
    const outcome = await submitting;
    assert(!outcome.ok);
    assert.equal(outcome.error.code, 'SUB_ID_EXPIRED');
    assert.equal(bench.missing, 0);
    assert.deepEqual(bench.fieldsOf(other), emptyFieldVector(vertical));
  });

  it('returns status 503 while the journal cannot be written, and applies the queued changes in order after recovery', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.newSession();
    await bench.submit(sub_id, { co_borrower: true });
    const before = bench.fieldsOf(sub_id);
    bench.journal.breakFiles();
    const first = bench.submitBody({ sub_id, fields: required });
    // The second record waits until the group with the first record is written.
    await new Promise(setImmediate);
    const second = bench.submitBody({ sub_id, fields: { state: 'NY', loan_amount: 5_000 } });
    for (const unknown of await Promise.all([first, second])) {
      assert(!unknown.ok);
      assert.deepEqual(unknown.error, { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1, outcomeUnknown: true });
    }
    const refused = await bench.submitBody({ sub_id, fields: { state: 'PR' } });
    assert(!refused.ok);
    assert.equal(refused.error.outcomeUnknown, false);
    assert.deepEqual(bench.fieldsOf(sub_id), before);
    assert.equal((await bench.submit(sub_id, {})).match_readiness, 'insufficient');
    bench.journal.repairFiles();
    while (!bench.journal.journal.healthy) await new Promise((resolve) => setImmediate(resolve));
    // This record is in the group of the second record.
    assert.equal((await bench.submit(sub_id, { loan_amount: 6_000 })).match_readiness, 'high');
    const live = bench.fieldsOf(sub_id);
    assert.deepEqual(
      ['state', 'loan_amount'].map((name) => live[findFieldIndex(vertical, name)]),
      [32, 6_000],
    );
    const restored = bench.newSession();
    for (const { changes } of await bench.journal.merges()) bench.sessions.get(restored)!.mergeFields(changes);
    assert.deepEqual(bench.fieldsOf(restored), live);
  });
});

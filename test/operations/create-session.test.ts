import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { successOutcome } from '../../src/domain/outcome.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { decodeSubId, formatSubId, SubIds } from '../../src/ids/sub-id.ts';
import { UnitHasher } from '../../src/ids/unit-hasher.ts';
import { deviceClasses } from '../../src/ledger/ledger-record.ts';
import { type CreateSessionDeps, createSession } from '../../src/operations/create-session.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { HashAssignments } from '../../src/sessions/hash-assignments.ts';
import { IdempotencyKeys } from '../../src/sessions/idempotency-keys.ts';
import { ReferrerTags } from '../../src/sessions/referrer-tags.ts';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import { DeviceClassifier } from '../../src/user-agents/device-classifier.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { liveTenant, secretSetOf, testTenant } from '../support/identities.ts';
import { experimentDefinedRecord, subIdBytes } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openTemporaryLedger, type TemporaryLedger } from '../support/temporary-logs.ts';
import { callOperation, keyNumber, openSessionStore, repairUntilDurable, sessionTtlMs, verdictOf } from './bench.ts';

const unitHasher = new UnitHasher(Buffer.alloc(32, 7));

/** A character with two UTF-16 code units and four UTF-8 bytes. */
const astral = '💶';

class Bench {
  readonly clock = new ManualClock();
  readonly subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  readonly sessions: SessionStore;
  readonly ledger: TemporaryLedger;
  readonly deps: CreateSessionDeps;
  readonly hashAssignments = new HashAssignments();
  releasedCount = 0;

  private constructor(t: TestContext, ledger: TemporaryLedger, sessionsMax: number, tagsMax: number) {
    const { clock, subIds } = this;
    this.ledger = ledger;
    this.sessions = openSessionStore(t, clock, { sessionsMax });
    const referrerTags = new ReferrerTags(tagsMax);
    referrerTags.enableTagCountLimit();
    const secrets = secretSetOf('ours');
    this.deps = {
      clock,
      subIds,
      sessions: this.sessions,
      referrerTags,
      ledger: ledger.log,
      sessionTtlMs,
      devices: new DeviceClassifier(100),
      unitHasher,
      hashAssignments: this.hashAssignments,
      idempotencyKeys: new IdempotencyKeys({ clock, secrets, retentionMs: sessionTtlMs, keysMax: 3 }),
    };
  }

  static async open(t: TestContext, { sessionsMax = 1_000, tagsMax = 100 } = {}): Promise<Bench> {
    return new Bench(t, await openTemporaryLedger(t), sessionsMax, tagsMax);
  }

  /** Returns the session or the error. */
  async create(body: unknown, tenant = liveTenant) {
    const outcome = await this.createWithKey(body, null, tenant);
    return outcome.ok ? successOutcome(outcome.value.session) : outcome;
  }

  async createWithKey(body: unknown, idempotencyKey: string | null, tenant = liveTenant) {
    let released = 0;
    const release = () => {
      released++;
      this.releasedCount++;
    };
    const outcome = await callOperation(
      createSession,
      this.deps,
      tenant,
      { body },
      { idempotencyKey, quotaReservation: { release } },
    );
    // The reservation is released if and only if no session is created.
    if (outcome.ok) assert.equal(released, outcome.value.replayed ? 1 : 0);
    else if (outcome.error.outcomeUnknown !== true) assert.equal(released, 1);
    return outcome;
  }

  async verdict(body: unknown, tenant?: Tenant): Promise<string> {
    return verdictOf(await this.create(body, tenant));
  }
}

const referrer_tag = 'experiment-1';

function keys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i]));
}

describe('createSession', () => {
  it('createSession stores a session without field values, and returns the session', async (t) => {
    const bench = await Bench.open(t);
    const outcome = await bench.create({ referrer_tag });
    assert(outcome.ok);
    const { sub_id, ...rest } = outcome.value;
    assert.deepEqual(rest, {
      referrer_tag,
      created_at: '2026-05-20T12:00:00.000Z',
      expires_at: '2026-05-20T16:00:00.000Z',
      sandbox: false,
    });
    const { account, vertical, mode, createdMs } = decodeSubId(bench.subIds.verify(sub_id)!);
    assert.deepEqual({ account, vertical, mode }, { account: 42, vertical: 1, mode: 'live' });
    assert.equal(createdMs, bench.clock.wallMs());
    const session = bench.sessions.get(sub_id)!;
    assert.deepEqual(session.tenant, liveTenant);
    assert.equal(session.createdMs, createdMs);
    assert.deepEqual(
      session.pocketFields,
      liveTenant.vertical.fields.map(() => -1),
    );
    assert.equal(session.cachedRanking, null);
    const sandbox = await bench.create({ referrer_tag }, testTenant);
    assert(sandbox.ok && sandbox.value.sandbox);
    assert.equal(decodeSubId(bench.subIds.verify(sandbox.value.sub_id)!).mode, 'test');
  });

  it('createSession returns after the session record is durable in the ledger', async (t) => {
    const bench = await Bench.open(t);
    const metadata = { page: 'a', variant: 2, returning: false, coupon: null };
    const outcome = await bench.create({ referrer_tag, user_agent: 'Googlebot/2.1', metadata });
    assert(outcome.ok);
    assert.equal(bench.ledger.log.durablePosition, 1);
    await bench.create({ referrer_tag });
    const [record, plain] = await bench.ledger.records();
    const [kind, wallMs, sub, tag, key, device, json] = record!;
    assert.deepEqual([kind, wallMs, tag, key], [1, bench.clock.wallMs(), referrer_tag, keyNumber]);
    assert.deepEqual(Buffer.from(sub as Uint8Array), bench.subIds.toBytes(outcome.value.sub_id));
    assert.equal(deviceClasses[device as 0], 'bot');
    assert.deepEqual(JSON.parse(json as string), metadata);
    assert.deepEqual([deviceClasses[plain![5] as 0], plain![6]], ['unknown', null]);
  });

  it('stores only the hash of a unit_id, as the last item of the session record', async (t) => {
    const bench = await Bench.open(t);
    const unitIds = ['!', 'visitor-1', '~'.repeat(64)];
    for (const unit_id of unitIds) assert.equal(await bench.verdict({ referrer_tag, unit_id }), 'ok');
    assert.equal(await bench.verdict({ referrer_tag, unit_id: 'visitor-1' }, { ...testTenant, account: 43 }), 'ok');
    assert((await bench.createWithKey({ referrer_tag, unit_id: 'visitor-1' }, 'retry-1')).ok);
    const records = await bench.ledger.records();
    const hashes = unitIds.map((unitId) => unitHasher.hash(liveTenant.account, unitId));
    const expected = [...hashes, unitHasher.hash(43, 'visitor-1'), hashes[1]!];
    assert.deepEqual(
      records.map((record) => Buffer.from(record[9] as Uint8Array)),
      expected,
    );
    assert.deepEqual(
      records.map((record) => record.slice(7, 9).map((item) => (item === null ? null : (item as Uint8Array).length))),
      [...Array(4).fill([null, null]), [16, 16]],
    );
    assert.ok(records.every((record) => record.length === 10));
  });

  it('marks the session of a visitor that a hash assigns to another arm, and no other session', async (t) => {
    const bench = await Bench.open(t);
    const { account, vertical } = liveTenant;
    const sub = subIdBytes({ createdMs: bench.clock.wallMs(), serial: 1, account, vertical: vertical.number });
    const definition = { unit: 'visitor', assignment: 'hash' } as const;
    bench.hashAssignments.applyLedgerRecord(experimentDefinedRecord(sub, 'hero-test', definition));
    // In docs/contract.md#assignment-by-hash, `u2` is in the first arm.
    const [wrong, right] = [{ referrer_tag: 'tag-two' }, { referrer_tag: 'tag-one' }];
    const unit_id = 'u2';
    assert((await bench.createWithKey({ ...wrong, unit_id }, 'retry-1')).ok);
    assert((await bench.createWithKey({ ...right, unit_id }, 'retry-2')).ok);
    for (const body of [{ ...wrong, unit_id }, { ...right, unit_id }, wrong, right]) {
      assert.equal(await bench.verdict(body), 'ok');
    }
    assert.equal(await bench.verdict({ ...wrong, unit_id }, testTenant), 'ok');
    const records = await bench.ledger.records();
    assert.deepEqual(
      records.map((record) => [record.length, record[10]]),
      [
        ...[11, 10, 11, 10].map((length) => [length, length === 11 ? true : undefined]),
        ...[7, 7, 10].map((length) => [length, undefined]),
      ],
    );
    assert.deepEqual(
      records.slice(0, 4).map((record) => Buffer.from(record[9] as Uint8Array)),
      Array(4).fill(unitHasher.hash(account, unit_id)),
    );
  });

  it('createSession accepts valid requests, and ignores unknown properties', async (t) => {
    const bench = await Bench.open(t);
    for (const tag of ['abc', 'a'.repeat(64), '0_-', '___', '---', '123']) {
      assert.equal(await bench.verdict({ referrer_tag: tag }), 'ok');
    }
    assert.equal(await bench.verdict({ referrer_tag, sub_id: 1, constructor: {}, extra: [[[]]] }), 'ok');
    for (const count of [0, 1, 10]) assert.equal(await bench.verdict({ referrer_tag, metadata: keys(count) }), 'ok');
    for (const character of ['x', astral]) {
      for (const length of [0, 1, 1_023, 1_024]) {
        assert.equal(await bench.verdict({ referrer_tag, user_agent: character.repeat(length) }), 'ok');
      }
      const longest = character.repeat(256);
      assert.equal(await bench.verdict({ referrer_tag, metadata: { [longest]: longest } }), 'ok');
      assert.equal(await bench.verdict({ referrer_tag, metadata: { [longest.slice(character.length)]: '' } }), 'ok');
    }
  });

  it('records numbers in metadata without change', async (t) => {
    const bench = await Bench.open(t);
    const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least, MIN_VALUE: tiny } = Number;
    const metadata = { most, least, tiny, zero: 0, decimal: 0.1, long: 1234567.8901234567, below: -1.5e-10 };
    assert.equal(await bench.verdict({ referrer_tag, metadata }), 'ok');
    const [record] = await bench.ledger.records();
    assert.deepEqual(JSON.parse(record![6] as string), metadata);
  });

  it('rejects a missing or invalid referrer tag, and a body that is not a JSON object', async (t) => {
    const bench = await Bench.open(t);
    const texts = ['', 'ab', 'a'.repeat(65), 'Abc', 'a c', 'abc\n', '\nabc', 'äbc', 'a.c', `abc${astral}`];
    for (const tag of [...texts, 1, null, ['abc'], {}, undefined]) {
      assert.equal(await bench.verdict({ referrer_tag: tag }), 'INVALID_REFERRER_TAG');
    }
    assert.equal(await bench.verdict(JSON.parse('{"__proto__": {"referrer_tag": "abc"}}')), 'INVALID_REFERRER_TAG');
    for (const body of [null, undefined, 'text', 1, true, [], [{ referrer_tag }]]) {
      assert.equal(await bench.verdict(body), 'INVALID_REQUEST body');
    }
    assert.deepEqual([bench.sessions.size, bench.ledger.log.lastAppendedPosition], [0, 0]);
  });

  it('rejects a user agent or metadata above the limits or of the wrong type', async (t) => {
    const bench = await Bench.open(t);
    const longAgents = ['x', astral].flatMap((character) => [1_025, 2_049].map((length) => character.repeat(length)));
    for (const user_agent of [...longAgents, 1, null, true, ['x'], {}]) {
      assert.equal(await bench.verdict({ referrer_tag, user_agent }), 'INVALID_REQUEST user_agent');
    }
    const long = ['x', astral].map((character) => character.repeat(257));
    const tooLarge = [keys(11), ...long.flatMap((text) => [{ [text]: '' }, { a: text }])];
    const inexact = [2 ** 53, -(2 ** 53), JSON.parse('12345678901234567890'), 1e300, 1 / 0, 0 / 0].map((n) => ({ n }));
    const notScalars = [null, 1, 'text', true, [], ['a'], { a: [] }, { a: {} }, { a: 'fine', b: { c: 1 } }];
    for (const metadata of [...tooLarge, ...inexact, ...notScalars]) {
      assert.equal(await bench.verdict({ referrer_tag, metadata }), 'INVALID_REQUEST metadata');
    }
    assert.deepEqual([bench.sessions.size, bench.ledger.log.lastAppendedPosition], [0, 0]);
  });

  it('rejects a unit_id that is not 1 to 64 visible ASCII characters', async (t) => {
    const bench = await Bench.open(t);
    const texts = [
      '',
      'x'.repeat(65),
      'a b',
      ' a',
      'a\n',
      '\na',
      'a\tb',
      'a\u0000',
      'a\u007f',
      'ä',
      'a\u00a0',
      astral,
      '１',
    ];
    for (const unit_id of [...texts, 7, 0, null, true, ['a'], { a: 1 }]) {
      assert.equal(await bench.verdict({ referrer_tag, unit_id }), 'INVALID_REQUEST unit_id');
    }
    assert.deepEqual([bench.sessions.size, bench.ledger.log.lastAppendedPosition], [0, 0]);
  });

  it('validates the value of every metadata key, including keys such as __proto__', async (t) => {
    const bench = await Bench.open(t);
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('a\nb', '\n', '\r', '\u2028', '\u2029', '\ud800', '__proto__', 'constructor', 'toString', ''),
    );
    const scalar = fc.oneof(fc.string({ maxLength: 20 }), fc.integer(), fc.boolean(), fc.constant(null));
    await fc.assert(
      fc.asyncProperty(name, scalar, fc.constantFrom('[]', '{}', '{"a":1}', '["a"]'), async (key, good, bad) => {
        const metadataOf = (json: string) => JSON.parse(`{${JSON.stringify(key)}: ${json}}`);
        assert.equal(await bench.verdict({ referrer_tag, metadata: metadataOf(JSON.stringify(good)) }), 'ok');
        assert.equal(await bench.verdict({ referrer_tag, metadata: metadataOf(bad) }), 'INVALID_REQUEST metadata');
      }),
    );
  });

  it('createSession records metadata of the maximum length', async (t) => {
    const bench = await Bench.open(t);
    const worst = '\u0001'.repeat(255);
    const metadata = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [worst + i, `${worst}x`]));
    assert.equal(await bench.verdict({ referrer_tag, user_agent: astral.repeat(1_024), metadata }), 'ok');
    const [record] = await bench.ledger.records();
    assert.deepEqual(JSON.parse(record![6] as string), metadata);
  });

  it('returns status 503 and writes no record while the session store is full', async (t) => {
    const bench = await Bench.open(t, { sessionsMax: 2 });
    await bench.create({ referrer_tag });
    await bench.create({ referrer_tag });
    const outcome = await bench.create({ referrer_tag });
    assert.deepEqual(outcome, { ok: false, error: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } });
    assert.equal(bench.ledger.log.lastAppendedPosition, 2);
    assert.equal(bench.sessions.size, 2);
    bench.clock.advance(sessionTtlMs + 1);
    assert.equal(await bench.verdict({ referrer_tag }), 'ok');
  });

  it('while the ledger cannot be written, createSession returns 503 and stores only sessions whose records are queued', async (t) => {
    const bench = await Bench.open(t, { sessionsMax: 4 });
    bench.ledger.breakFiles();
    for (let attempt = 0; attempt < 5; attempt++) {
      const outcome = await bench.create({ referrer_tag });
      assert(!outcome.ok);
      const { code, retryAfterSeconds, outcomeUnknown } = outcome.error;
      // The log queues the first record and rejects the other records immediately.
      assert.deepEqual([code, retryAfterSeconds, outcomeUnknown === true], ['SERVICE_UNAVAILABLE', 1, attempt === 0]);
      assert.equal(bench.sessions.size, 1);
    }
    await repairUntilDurable(bench.ledger, 1);
    for (let i = 0; i < 3; i++) assert.equal(await bench.verdict({ referrer_tag }), 'ok');
    for (const [, , sub] of await bench.ledger.records()) {
      assert.ok(bench.sessions.get(formatSubId(sub as Uint8Array)) !== undefined);
    }
  });

  it('returns status 503 and creates no session if the ledger is closed', async (t) => {
    const bench = await Bench.open(t);
    await bench.ledger.log.close();
    assert.equal(await bench.verdict({ referrer_tag }), 'SERVICE_UNAVAILABLE');
    assert.equal(bench.sessions.size, 0);
  });
});

describe('createSession under a limit of referrer tags', () => {
  const create = (bench: Bench, tag: string, tenant?: Tenant) => bench.verdict({ referrer_tag: tag }, tenant);

  it('at the maximum number of referrer tags, rejects a new tag and accepts known tags', async (t) => {
    const bench = await Bench.open(t, { tagsMax: 2 });
    assert.deepEqual([await create(bench, 'tag-1'), await create(bench, 'tag-2')], ['ok', 'ok']);
    assert.equal(await create(bench, 'tag-3'), 'TAG_LIMIT_EXCEEDED');
    assert.deepEqual([bench.releasedCount, bench.sessions.size, bench.ledger.log.lastAppendedPosition], [1, 2, 2]);
    assert.deepEqual([await create(bench, 'tag-1'), await create(bench, 'tag-2')], ['ok', 'ok']);
  });

  it('counts a new referrer tag once if concurrent requests create sessions with the tag', async (t) => {
    const bench = await Bench.open(t, { tagsMax: 2 });
    const tags = ['tag-1', 'tag-1', 'tag-2', 'tag-3', 'tag-2'];
    const codes = await Promise.all(tags.map((tag) => create(bench, tag)));
    assert.deepEqual(codes, ['ok', 'ok', 'ok', 'TAG_LIMIT_EXCEEDED', 'ok']);
  });

  it('limits the referrer tags of each account, vertical and mode separately', async (t) => {
    const bench = await Bench.open(t, { tagsMax: 1 });
    const others = [testTenant, { ...liveTenant, account: 43 }, { ...liveTenant, vertical: equipmentLeases }];
    for (const tenant of [liveTenant, ...others]) {
      assert.equal(await create(bench, `tag-${tenant.account}`, tenant), 'ok');
      assert.equal(await create(bench, 'another', tenant), 'TAG_LIMIT_EXCEEDED');
    }
  });

  it('does not count the referrer tag of a rejected session', async (t) => {
    const bench = await Bench.open(t, { sessionsMax: 1, tagsMax: 2 });
    await create(bench, 'tag-1');
    assert.equal(await create(bench, 'tag-2'), 'SERVICE_UNAVAILABLE');
    bench.clock.advance(sessionTtlMs + 1);
    assert.equal(await create(bench, 'tag-3'), 'ok');
    assert.equal(await create(bench, 'tag-4'), 'TAG_LIMIT_EXCEEDED');

    const closed = await Bench.open(t, { tagsMax: 1 });
    await closed.ledger.log.close();
    const lost = await Promise.all(['tag-1', 'tag-1'].map((tag) => create(closed, tag)));
    assert.deepEqual(lost, ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
    assert.equal(await create(closed, 'tag-2'), 'SERVICE_UNAVAILABLE');
  });

  it('a referrer tag counts towards the limit of tags while the record of its session is still queued', async (t) => {
    const bench = await Bench.open(t, { tagsMax: 1 });
    bench.ledger.breakFiles();
    assert.equal(await create(bench, 'tag-1'), 'SERVICE_UNAVAILABLE');
    assert.equal(await create(bench, 'tag-2'), 'TAG_LIMIT_EXCEEDED');
  });

  it('a request with an already used Idempotency-Key succeeds even if the limit of referrer tags is reached', async (t) => {
    const bench = await Bench.open(t, { tagsMax: 1 });
    const first = await bench.createWithKey({ referrer_tag }, 'retry-1');
    const repeat = await bench.createWithKey({ referrer_tag }, 'retry-1');
    assert(first.ok && repeat.ok && repeat.value.replayed);
  });
});

describe('createSession with an Idempotency-Key', () => {
  /** Returns `created`, `replayed`, or the error code and the invalid parameter. */
  async function attempt(bench: Bench, key: string, body: unknown = { referrer_tag }, tenant?: Tenant) {
    const outcome = await bench.createWithKey(body, key, tenant);
    if (!outcome.ok) return verdictOf(outcome);
    return outcome.value.replayed ? 'replayed' : 'created';
  }

  it('a request with a repeated Idempotency-Key returns the first session as replayed, and writes no record', async (t) => {
    const bench = await Bench.open(t);
    const first = await bench.createWithKey({ referrer_tag, metadata: { a: 1 } }, 'retry-1');
    const repeat = await bench.createWithKey({ referrer_tag, metadata: { a: 1 } }, 'retry-1');
    assert(first.ok && repeat.ok);
    assert.deepEqual(repeat.value, { session: first.value.session, replayed: true });
    assert.equal(first.value.replayed, false);
    assert.equal(bench.sessions.size, 1);
    assert.equal((await bench.ledger.records()).length, 1);
  });

  it('a request with a repeated Idempotency-Key waits for the first request to complete', async (t) => {
    const bench = await Bench.open(t);
    const outcomes = await Promise.all([1, 2, 3].map(() => bench.createWithKey({ referrer_tag }, 'retry-1')));
    const ids = outcomes.map((outcome) => outcome.ok && outcome.value.session.sub_id);
    assert.equal(new Set(ids).size, 1);
    assert.deepEqual(outcomes.map((outcome) => outcome.ok && outcome.value.replayed).sort(), [false, true, true]);
  });

  it('rejects a repeated Idempotency-Key if the payload is valid but differs from the first payload', async (t) => {
    const bench = await Bench.open(t);
    assert.equal(await attempt(bench, 'retry-1'), 'created');
    assert.equal(await attempt(bench, 'retry-1', { referrer_tag: 'experiment-2' }), 'IDEMPOTENCY_MISMATCH');
    assert.equal(await attempt(bench, 'retry-1', { referrer_tag: 'No' }), 'INVALID_REFERRER_TAG');
    assert.equal(await attempt(bench, 'retry-1', { referrer_tag, unit_id: 'u1' }), 'IDEMPOTENCY_MISMATCH');
    assert.equal(await attempt(bench, 'retry-2', { referrer_tag, unit_id: 'u1' }), 'created');
    assert.equal(await attempt(bench, 'retry-2', { referrer_tag, unit_id: 'u1' }), 'replayed');
    for (const unit_id of ['u2', 'U1', undefined]) {
      assert.equal(await attempt(bench, 'retry-2', { referrer_tag, unit_id }), 'IDEMPOTENCY_MISMATCH');
    }
  });

  it('requests with the same Idempotency-Key create separate sessions if their accounts, verticals or modes differ', async (t) => {
    const bench = await Bench.open(t);
    const tenants = [testTenant, { ...liveTenant, account: 43 }, { ...liveTenant, vertical: equipmentLeases }];
    for (const other of tenants) {
      // The store has space for 3 Idempotency-Keys, so the keys of the previous iteration must expire first.
      bench.clock.advance(sessionTtlMs + 1);
      assert.equal(await attempt(bench, 'retry-1'), 'created');
      assert.equal(await attempt(bench, 'retry-1', { referrer_tag }, other), 'created');
    }
  });

  it('deletes an Idempotency-Key when its session expires', async (t) => {
    const bench = await Bench.open(t);
    await attempt(bench, 'retry-1');
    bench.clock.advance(sessionTtlMs - 1);
    assert.equal(await attempt(bench, 'retry-1'), 'replayed');
    bench.clock.advance(1);
    assert.equal(await attempt(bench, 'retry-1'), 'created');
  });

  it('rejects a request with a new Idempotency-Key while the maximum number of keys is stored', async (t) => {
    const bench = await Bench.open(t);
    for (const key of ['1', '2', '3']) await attempt(bench, key);
    assert.equal(await attempt(bench, '4'), 'SERVICE_UNAVAILABLE');
    assert.equal(bench.sessions.size, 3);
    bench.clock.advance(sessionTtlMs + 1);
    assert.equal(await attempt(bench, '4'), 'created');
  });

  it('deletes the Idempotency-Key of a request that failed', async (t) => {
    const bench = await Bench.open(t, { sessionsMax: 1 });
    await bench.create({ referrer_tag });
    assert.equal(await attempt(bench, 'retry-1'), 'SERVICE_UNAVAILABLE');
    bench.clock.advance(sessionTtlMs + 1);
    assert.equal(await attempt(bench, 'retry-1'), 'created');
  });

  it('if a request fails but its session record becomes durable later, a retry returns the session', async (t) => {
    const bench = await Bench.open(t);
    bench.ledger.breakFiles();
    const first = await bench.createWithKey({ referrer_tag }, 'retry-1');
    assert(!first.ok);
    assert.deepEqual([first.error.code, first.error.outcomeUnknown], ['SERVICE_UNAVAILABLE', true]);
    assert.equal(bench.releasedCount, 0, 'the first request may have created a session');
    assert.equal(await attempt(bench, 'retry-1'), 'SERVICE_UNAVAILABLE');
    assert.equal(bench.releasedCount, 1, 'the repeated request created none');
    await repairUntilDurable(bench.ledger, 1);
    const retry = await bench.createWithKey({ referrer_tag }, 'retry-1');
    assert(retry.ok && retry.value.replayed);
    assert(bench.sessions.get(retry.value.session.sub_id) !== undefined);
    assert.equal((await bench.ledger.records()).length, 1);
  });

  it('returns status 503 if an Idempotency-Key is deleted during a repeated request', async (t) => {
    const bench = await Bench.open(t);
    const outcome = await callOperation(
      createSession,
      bench.deps,
      liveTenant,
      { body: { referrer_tag } },
      { idempotencyKey: 'retry-1' },
    );
    assert.deepEqual(outcome, { ok: false, error: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } });
    assert.equal(bench.sessions.size, 0);
  });

  it('a repeated Idempotency-Key is accepted if the payloads differ only in unknown properties', async (t) => {
    const bench = await Bench.open(t);
    await attempt(bench, 'retry-1', { referrer_tag, unknown: 1 });
    const deep = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`);
    assert.equal(await attempt(bench, 'retry-1', { unknown: deep, referrer_tag }), 'replayed');
  });

  it('accepts 1 to 255 visible ASCII characters as an Idempotency-Key', async (t) => {
    const bench = await Bench.open(t);
    for (const key of ['a', '~'.repeat(255)]) assert.equal(await attempt(bench, key), 'created');
    for (const key of ['', 'a b', 'é', 'a'.repeat(256), 'tab\t']) {
      assert.equal(await attempt(bench, key), 'INVALID_REQUEST Idempotency-Key');
    }
  });
});

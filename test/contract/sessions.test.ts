import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertError, assertMembers, assertOk, assertTimestamp } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';

const fourHoursMs = 4 * 60 * 60 * 1000;

// The rules of each member and field are tested in test/operations and test/verticals.
describeEveryVertical('sessions', (door) => {
  describe('POST /session', () => {
    test('returns a session with a lifetime of four hours and an id that is safe in a URL', async () => {
      const { market, fixture } = door;
      const answer = await market.caller(fixture).post('session', { referrer_tag: 'hero_short-form2' });
      const session = assertOk<Record<string, unknown>>(answer);
      assertMembers(session, {
        sub_id: 'string',
        referrer_tag: 'string',
        created_at: 'string',
        expires_at: 'string',
        sandbox: 'boolean',
      });
      assert.match(String(session.sub_id), /^sub_[a-z0-9_-]+$/);
      assert.deepEqual([session.referrer_tag, session.sandbox], ['hero_short-form2', false]);
      const createdMs = assertTimestamp(session.created_at);
      assert.equal(createdMs, market.clock.wallMs());
      assert.equal(assertTimestamp(session.expires_at), createdMs + fourHoursMs);
    });

    test('accepts metadata with escaped characters, and ignores unknown members', async () => {
      const caller = door.market.caller(door.fixture);
      const metadata = { text: 'a', number: -1.5e-7, yes: true, nothing: null, '': '', '"\\': '"\\\n' };
      const session = await caller.createSession('members', {
        metadata,
        sub_id: echoMarker,
        sandbox: true,
        x: { y: [1] },
      });
      assert.equal(session.sandbox, false);
      assert.notEqual(session.sub_id, echoMarker);
    });

    test('rejects an invalid member, and names the member in the error', async () => {
      const caller = door.market.caller(door.fixture);
      for (const tag of [undefined, null, 123, `${echoMarker}A`, `${echoMarker}\n`, `${echoMarker}\u0000`]) {
        assertError(await caller.post('session', { referrer_tag: tag }), 'INVALID_REFERRER_TAG');
      }
      for (const [member, value] of [
        ['user_agent', `${echoMarker}${'x'.repeat(1024)}`],
        ['user_agent', [echoMarker]],
        ['metadata', { [echoMarker]: { nested: echoMarker } }],
        ['metadata', { '\n': [] }],
        ['metadata', echoMarker],
      ] as const) {
        const answer = await caller.post('session', { referrer_tag: 'invalid', [member]: value });
        assertError(answer, 'INVALID_REQUEST', member);
      }
    });

    test('returns the first response for a repeated Idempotency-Key', async () => {
      const caller = door.market.caller(door.fixture, { limits: { sessionsPerDay: 5 } });
      const key = { 'Idempotency-Key': 'retry-of-a-page-load' };
      const first = await caller.post('session', { referrer_tag: 'idempotent' }, key);
      const repeat = await caller.post('session', { referrer_tag: 'idempotent' }, key);
      assert.equal(first.status, 200);
      assert.equal(first.headers.has('idempotency-replayed'), false);
      assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
      assert.equal(repeat.text, first.text);
      assert.equal((await caller.summary({ referrer_tag: 'idempotent' })).sessions_total, 1);
      const next = await caller.post('session', { referrer_tag: 'idempotent' });
      assert.equal(next.headers.get('x-ratelimit-remaining'), '3');
    });

    test('rejects an invalid Idempotency-Key, and a repeated Idempotency-Key with another body', async () => {
      const caller = door.market.caller(door.fixture);
      const post = (tag: string, key: string) =>
        caller.post('session', { referrer_tag: tag }, { 'Idempotency-Key': key });
      await post('idempotent-a', echoMarker);
      assertError(await post('idempotent-b', echoMarker), 'IDEMPOTENCY_MISMATCH');
      assert.equal((await caller.summary({ referrer_tag: 'idempotent-b' })).sessions_total, 0);
      for (const key of ['a'.repeat(256), 'two words']) {
        assertError(await post('idempotent', key), 'INVALID_REQUEST', 'Idempotency-Key');
      }
    });
  });

  describe('POST /inputs', () => {
    test('returns accepted and unknown field names in the order of submission, and match_readiness', async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const { sub_id: subId } = await caller.createSession('inputs');
      const names = Object.keys(fixture.complete).reverse();
      const [first] = names as [string];
      const fields = {
        zebra: 1,
        ...Object.fromEntries(names.map((name) => [name, fixture.complete[name]])),
        alpha: { any: ['thing'] },
        [first.toUpperCase()]: null,
      };
      const view = await caller.submitFields(subId, fields);
      assertMembers(view, {
        sub_id: 'string',
        fields_accepted: 'array',
        fields_unknown: 'array',
        match_readiness: 'string',
        missing_required: 'array',
        missing_conditional: 'array',
      });
      assert.deepEqual(view, {
        sub_id: subId,
        fields_accepted: names,
        fields_unknown: ['zebra', 'alpha', first.toUpperCase()],
        match_readiness: 'high',
        missing_required: [],
        missing_conditional: [],
      });
    });

    test('merges the fields of concurrent and later requests, and clears a field whose value is null', async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const { sub_id: subId } = await caller.createSession('merging');
      const empty = await caller.submitFields(subId, {});
      assert.deepEqual([empty.match_readiness, empty.missing_required], ['insufficient', fixture.required]);
      await Promise.all(
        Object.entries(fixture.complete).map(([name, value]) => caller.submitFields(subId, { [name]: value })),
      );
      assert.equal((await caller.submitFields(subId, {})).match_readiness, 'high');
      const name = fixture.required[1] as string;
      const cleared = await caller.submitFields(subId, { [name]: null });
      assert.deepEqual([cleared.fields_accepted, cleared.missing_required], [[name], [name]]);
      assertError(await caller.get('marketplace', { sub_id: subId, format: 'json' }), 'INSUFFICIENT_INPUTS');
    });

    test('changes no field if a value is invalid, and lists the errors in the order of submission', async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const subId = await caller.createSessionWithFields('all-or-nothing', fixture.complete);
      const [cleared, ...names] = fixture.fields.map(({ name }) => name).reverse() as [string, ...string[]];
      const fields = { [cleared]: null, ...Object.fromEntries(names.map((name) => [name, { [echoMarker]: 1 }])) };
      const answer = await caller.post('inputs', { sub_id: subId, fields: { ...fields, [echoMarker]: 1 } });
      assert.deepEqual(
        assertError(answer, 'INVALID_FIELD_VALUE').fields_invalid?.map(({ field, code }) => [field, code]),
        names.map((name) => [name, 'type']),
      );
      assert.equal((await caller.submitFields(subId, {})).match_readiness, 'high');
    });

    test('rejects too many field names, and a sub_id or fields of another type', async () => {
      const caller = door.market.caller(door.fixture);
      const { sub_id: subId } = await caller.createSession('ill-typed');
      const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`${echoMarker}${at}`, at]));
      for (const fields of [undefined, null, echoMarker, 5, [echoMarker], many, { ['\u{1F3E6}'.repeat(65)]: 1 }]) {
        assertError(await caller.post('inputs', { sub_id: subId, fields }), 'INVALID_REQUEST', 'fields');
      }
      for (const id of [undefined, null, 5, [subId]]) {
        assertError(await caller.post('inputs', { sub_id: id, fields: {} }), 'INVALID_REQUEST', 'sub_id');
      }
    });
  });

  test('every field accepts valid values and null, and rejects other values with the expected error code', async () => {
    const { market, fixture } = door;
    const { vertical, fields } = fixture;
    assert.deepEqual(fields.map(({ name }) => name).sort(), vertical.fields.map(({ name }) => name).sort());
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 100_000 } });
    const { sub_id: subId } = await caller.createSession('fields');
    for (const { name, valid, invalid, hints } of fields) {
      for (const value of [...valid, null]) {
        const view = await caller.submitFields(subId, { [name]: value });
        assert.deepEqual(view.fields_accepted, [name], `${name}: ${JSON.stringify(value)}`);
      }
      for (const [value, code] of invalid) {
        const answer = await caller.post('inputs', { sub_id: subId, fields: { [name]: value } });
        const { fields_invalid: refusals } = assertError(answer, 'INVALID_FIELD_VALUE');
        assert.equal(refusals?.length, 1);
        const { field, code: given, message, ...rest } = refusals[0] as Record<string, unknown>;
        assert.deepEqual([field, given], [name, code], `${name}: ${JSON.stringify(value)}`);
        assert.ok(typeof message === 'string' && message.length > 0);
        assert.ok(Object.keys(rest).every((member) => ['min', 'max', 'allowed'].includes(member)));
        for (const [hint, expected] of Object.entries(hints[code] ?? {})) assert.deepEqual(rest[hint], expected);
      }
    }
  });

  test('accepts an integer field value in exponential notation', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('spellings');
    const submitted = (text: string) =>
      caller.post('inputs', `{"sub_id":"${subId}","fields":{"${fixture.amount}":${text}}}`);
    for (const text of ['1e4', '1.0e4', '10000.0', '1E+4']) assert.equal((await submitted(text)).status, 200, text);
    for (const text of ['1e400', '-1e400', '1e-400', '10000.5', '1e308']) {
      assertError(await submitted(text), 'INVALID_FIELD_VALUE');
    }
  });

  test('lists missing required and conditional fields, and requires a conditional field only if its condition is true', async () => {
    const { market, fixture } = door;
    const { complete, required, conditional } = fixture;
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 100_000 } });
    const readinessOf = async (fields: object) => {
      const { sub_id: subId } = await caller.createSession('readiness');
      const { match_readiness, missing_required, missing_conditional } = await caller.submitFields(subId, fields);
      return [match_readiness, missing_required, missing_conditional];
    };
    const [first, , , last] = required as [string, string, string, string];
    const others = required.filter((name) => name !== first && name !== last);
    assert.deepEqual((await readinessOf({ [last]: complete[last], [first]: complete[first] })).slice(0, 2), [
      'insufficient',
      others,
    ]);
    for (const name of required) {
      const [readiness, missing] = await readinessOf({ ...complete, [name]: null });
      assert.deepEqual([readiness, missing], ['insufficient', [name]]);
    }
    for (const { when, unless, field, value } of conditional) {
      const without = { ...complete, [field]: null };
      assert.deepEqual(await readinessOf({ ...without, ...when }), ['partial', [], [field]]);
      assert.deepEqual(await readinessOf({ ...without, ...when, [field]: value }), ['high', [], []]);
      assert.deepEqual(await readinessOf({ ...without, ...unless }), ['high', [], []]);
      const [readiness, missing] = await readinessOf({ ...without, ...when, [fixture.amount]: null });
      assert.deepEqual([readiness, missing], ['insufficient', [fixture.amount]]);
    }
  });
});

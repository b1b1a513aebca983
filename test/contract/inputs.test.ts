import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, assertShape } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';

describeEveryVertical('POST /inputs', (door) => {
  test('returns the accepted field names, the unknown field names and the readiness', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('inputs');
    const view = await caller.submit(subId, fixture.complete);
    assertShape(view, {
      sub_id: 'string',
      fields_accepted: 'array',
      fields_unknown: 'array',
      match_readiness: 'string',
      missing_required: 'array',
      missing_conditional: 'array',
    });
    assert.equal(view.sub_id, subId);
    assert.deepEqual(view.fields_accepted, Object.keys(fixture.complete));
    assert.deepEqual(view.fields_unknown, []);
  });

  test('returns field names in the order of submission', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('order');
    const [first, second] = Object.entries(fixture.complete) as [[string, unknown], [string, unknown]];
    const unknown = { zebra: 1, alpha: { any: ['thing'] }, [first[0].toUpperCase()]: null };
    const view = await caller.submit(subId, {
      zebra: 1,
      [second[0]]: second[1],
      alpha: unknown.alpha,
      [first[0]]: first[1],
      [first[0].toUpperCase()]: null,
    });
    assert.deepEqual(view.fields_accepted, [second[0], first[0]]);
    assert.deepEqual(view.fields_unknown, Object.keys(unknown));
  });

  test('merges several requests, with later values replacing earlier ones', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('merging');
    for (const [name, value] of Object.entries(fixture.unmatched)) await caller.submit(subId, { [name]: value });
    assert.equal((await caller.offers(subId)).total_offers, 0);
    await caller.submit(subId, fixture.complete);
    assert.ok((await caller.offers(subId)).total_offers > 0);
  });

  test('accepts a request without fields and returns the readiness', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('empty');
    const view = await caller.submit(subId, {});
    assert.deepEqual(view.fields_accepted, []);
    assert.equal(view.match_readiness, 'insufficient');
    assert.deepEqual(view.missing_required, fixture.required);
  });

  test('clears a field whose value is null', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('clearing', fixture.complete);
    const name = fixture.required[1] as string;
    const cleared = await caller.submit(subId, { [name]: null });
    assert.deepEqual(cleared.fields_accepted, [name]);
    assert.deepEqual(cleared.missing_required, [name]);
    assertRefused(await caller.get('marketplace', { sub_id: subId, format: 'json' }), 'INSUFFICIENT_INPUTS');
  });

  test('merges no field if one value is invalid', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('all-or-nothing');
    const wrong = { ...fixture.complete, [fixture.amount]: marker };
    assertRefused(await caller.post('inputs', { sub_id: subId, fields: wrong }), 'INVALID_FIELD_VALUE');
    assert.deepEqual((await caller.submit(subId, {})).missing_required, fixture.required);
  });

  test('clears no field if one value is invalid', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('nothing-cleared', fixture.complete);
    const [name] = fixture.required as [string];
    const wrong = { [name]: null, [fixture.term]: marker };
    assertRefused(await caller.post('inputs', { sub_id: subId, fields: wrong }), 'INVALID_FIELD_VALUE');
    assert.deepEqual((await caller.submit(subId, {})).missing_required, []);
  });

  test('lists every invalid field in the order of submission', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('all-named');
    const names = fixture.fields.map(({ name }) => name).reverse();
    const fields = { ...Object.fromEntries(names.map((name) => [name, { [marker]: 1 }])), [marker]: 1 };
    const body = assertRefused(await caller.post('inputs', { sub_id: subId, fields }), 'INVALID_FIELD_VALUE');
    assert.deepEqual(
      body.fields_invalid?.map(({ field, code }) => [field, code]),
      names.map((name) => [name, 'type']),
    );
  });

  test('accepts up to 64 field names of 64 characters', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: subId } = await caller.createSession('many-names');
    const named = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${marker}${at}`, at]));
    assert.equal((await caller.submit(subId, named(64))).fields_unknown.length, 64);
    assertRefused(await caller.post('inputs', { sub_id: subId, fields: named(65) }), 'INVALID_REQUEST', 'fields');
    for (const character of ['n', '\u{1F3E6}']) {
      await caller.submit(subId, { [character.repeat(64)]: 1 });
      const long = { sub_id: subId, fields: { [character.repeat(65)]: 1 } };
      assertRefused(await caller.post('inputs', long), 'INVALID_REQUEST', 'fields');
    }
  });

  test('rejects a missing sub_id or fields, or values of another type', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: subId } = await caller.createSession('ill-typed');
    for (const id of [undefined, null, 5, true, [subId], { id: subId }]) {
      assertRefused(await caller.post('inputs', { sub_id: id, fields: {} }), 'INVALID_REQUEST', 'sub_id');
    }
    for (const fields of [undefined, null, marker, 5, true, [], [marker]]) {
      assertRefused(await caller.post('inputs', { sub_id: subId, fields }), 'INVALID_REQUEST', 'fields');
    }
  });

  test('merges concurrent requests', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('at-once');
    await Promise.all(Object.entries(fixture.complete).map(([name, value]) => caller.submit(subId, { [name]: value })));
    assert.equal((await caller.submit(subId, {})).match_readiness, 'high');
  });
});

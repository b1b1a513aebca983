import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeEveryVertical } from '../support/contract-suite.ts';
import type { Fields } from '../support/vertical-fixture.ts';

const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

describeEveryVertical('readiness', (door) => {
  test('readiness is high if no required or conditional field is missing', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('ready');
    const view = await caller.submit(subId, fixture.complete);
    assert.equal(view.match_readiness, 'high');
    assert.deepEqual([view.missing_required, view.missing_conditional], [[], []]);
  });

  for (const name of door.fixture.required) {
    test(`readiness is insufficient if ${name} is missing`, async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const { sub_id: subId } = await caller.createSession('not-ready');
      const view = await caller.submit(subId, without(fixture.complete, name));
      assert.equal(view.match_readiness, 'insufficient');
      assert.deepEqual(view.missing_required, [name]);
    });
  }

  test('lists the names of missing fields in a fixed order', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('missing-order');
    const [first, , , last] = fixture.required as [string, string, string, string];
    const view = await caller.submit(subId, { [last]: fixture.complete[last], [first]: fixture.complete[first] });
    assert.deepEqual(
      view.missing_required,
      fixture.required.filter((name) => name !== first && name !== last),
    );
  });

  for (const { when, unless, field, value } of door.fixture.conditional) {
    test(`readiness is partial if ${field} is missing and its condition is true`, async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const { sub_id: subId } = await caller.createSession('conditional');
      const view = await caller.submit(subId, { ...without(fixture.complete, field), ...when });
      assert.equal(view.match_readiness, 'partial');
      assert.deepEqual([view.missing_required, view.missing_conditional], [[], [field]]);
      const completed = await caller.submit(subId, { [field]: value });
      assert.equal(completed.match_readiness, 'high');
      assert.deepEqual(completed.missing_conditional, []);
    });

    test(`${field} is not required if its condition is false`, async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const { sub_id: subId } = await caller.createSession('unconditional');
      const view = await caller.submit(subId, { ...without(fixture.complete, field), ...unless });
      assert.equal(view.match_readiness, 'high');
      assert.deepEqual(view.missing_conditional, []);
    });

    test(`readiness is insufficient if ${field} and a required field are missing`, async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const { sub_id: subId } = await caller.createSession('both-missing');
      const view = await caller.submit(subId, { ...without(fixture.complete, field, fixture.amount), ...when });
      assert.equal(view.match_readiness, 'insufficient');
      assert.deepEqual(view.missing_required, [fixture.amount]);
    });
  }
});

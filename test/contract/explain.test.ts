import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Explanation } from '../../src/index.ts';
import { assertOk, assertRefused, assertShape } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';

describeEveryVertical('explain=true', (door) => {
  const explained = async (fields: object) => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { mode: 'test' });
    const subId = await caller.sessionWith('explain', fields);
    const view = await caller.offers(subId, { explain: 'true' });
    assert.ok(view.explain !== undefined);
    return { caller, subId, view, explain: view.explain };
  };
  const offersOf = () => door.fixture.catalogFiles.test.lenders.flatMap(({ offers }) => offers);
  const countOf = ({ reasons }: Explanation, reason: string, field: string) =>
    reasons.find((one) => one.reason === reason && one.field === field)?.offers ?? 0;

  test('returns to a test key the numbers of matching and other offers, with the reasons', async () => {
    const { view, explain } = await explained(door.fixture.complete);
    assertShape(explain, {
      offers_in_catalog: 'integer',
      matched: 'integer',
      not_matched: 'integer',
      reasons: 'array',
    });
    assert.equal(explain.offers_in_catalog, offersOf().length);
    assert.equal(explain.matched, view.total_offers);
    assert.equal(explain.matched + explain.not_matched, explain.offers_in_catalog);
    const names = door.fixture.vertical.fields.map(({ name }) => name);
    for (const one of explain.reasons) {
      assertShape(one, { reason: 'string', field: 'string', offers: 'integer', alone: 'integer' });
      assert.ok(names.includes(one.field as string) && one.alone <= one.offers && one.offers <= explain.not_matched);
    }
  });

  test('counts the offers whose maximum amount is below the requested amount', async () => {
    const { fixture } = door;
    const { unmatched } = fixture;
    const { explain } = await explained(unmatched);
    const band = unmatched[fixture.creditBand] as string;
    const amount = unmatched[fixture.amount] as number;
    const lendLess = offersOf().filter(
      ({ amount: { max }, bands }) => bands[band] !== undefined && Math.min(max, bands[band].max_amount) < amount,
    );
    assert.ok(lendLess.length > 0);
    assert.equal(countOf(explain, 'amount_too_high', fixture.amount), lendLess.length);
  });

  test('counts the offers that require a missing field, and updates the count after a change of the fields', async () => {
    const { fixture } = door;
    const [{ field, value }] = fixture.conditional as [(typeof fixture.conditional)[0]];
    const { caller, subId, explain: before } = await explained({ ...fixture.complete, [field]: null });
    const asking = offersOf().filter(
      ({ criteria, max_debt_to_income_percent: limit }) =>
        criteria.some((criterion) => criterion.field === field) ||
        (limit !== undefined && field === fixture.vertical.roles.monthlyDebt),
    );
    assert.equal(countOf(before, 'not_told', field), asking.length);
    await caller.submit(subId, { [field]: value });
    const after = (await caller.offers(subId, { explain: 'true' })).explain as Explanation;
    assert.equal(countOf(after, 'not_told', field), 0);
  });

  test('adds only the explanation to the response, and counts one view', async () => {
    const { caller, subId, view } = await explained(door.fixture.complete);
    const { explain: _, ...rest } = view;
    assert.deepEqual(await caller.offers(subId), rest);
    assert.deepEqual(await caller.offers(subId, { explain: 'false' }), rest);
    const { marketplace_views: views } = await caller.summary({ sub_id_list: subId });
    assert.equal(views, 3);
  });

  test('returns the same counts for every sort order and for concurrent requests', async () => {
    const { caller, subId, explain } = await explained(door.fixture.complete);
    const sorts = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'];
    const views = await Promise.all(
      Array.from({ length: 12 }, (_, at) => caller.offers(subId, { explain: 'true', sort: sorts[at % 4] as string })),
    );
    for (const view of views) assert.deepEqual(view.explain, explain);
  });

  test('rejects explain=true with a live key, and accepts explain=false', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('explain-live', fixture.complete);
    const query = { sub_id: subId, format: 'json' };
    assertRefused(await caller.get('marketplace', { ...query, explain: 'true' }), 'INVALID_REQUEST', 'explain');
    const view = assertOk<object>(await caller.get('marketplace', { ...query, explain: 'false' }));
    assert.ok(!('explain' in view));
    assert.equal((await caller.summary({ referrer_tag: 'explain-live' })).marketplace_views, 1);
  });

  test('accepts only true and false, and only once', async () => {
    const { caller, subId } = await explained(door.fixture.complete);
    const good = `sub_id=${subId}&format=json`;
    for (const value of ['', '1', 'TRUE', 'yes', 'true+', marker]) {
      const answer = await caller.get('marketplace', `${good}&explain=${value}`);
      assertRefused(answer, 'INVALID_REQUEST', 'explain');
    }
    const twice = await caller.get('marketplace', `${good}&explain=true&explain=true`);
    assertRefused(twice, 'INVALID_REQUEST', 'explain');
  });

  test('makes the same checks of the session as requests without explain', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { mode: 'test' });
    const { sub_id: subId } = await caller.createSession('explain-insufficient');
    const query = { sub_id: subId, format: 'json', explain: 'true' };
    assertRefused(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assertRefused(await caller.get('marketplace', { ...query, sub_id: `${subId}0` }), 'SUB_ID_NOT_FOUND');
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

describeEveryVertical('tenancy', (door) => {
  /** Returns callers: the owner, another key of the same account, another account, and the other mode. */
  const createCallers = () => {
    const { market, fixture } = door;
    const account = `owner ${fixture.vertical.segment}`;
    return {
      owner: market.caller(fixture, { account }),
      colleague: market.caller(fixture, { account }),
      others: [market.caller(fixture), market.caller(fixture, { account, mode: 'test' })],
    };
  };

  test('returns 404 for a session of another account or mode', async () => {
    const { owner, others } = createCallers();
    const subId = await owner.sessionWith('private', door.fixture.complete);
    for (const other of others) {
      assertRefused(await other.post('inputs', { sub_id: subId, fields: {} }), 'SUB_ID_NOT_FOUND');
      assertRefused(await other.get('marketplace', { sub_id: subId, format: 'json' }), 'SUB_ID_NOT_FOUND');
    }
  });

  test('returns the same error for a session of another account as for an unknown one, also after its expiry', async () => {
    const { market } = door;
    const { owner, others } = createCallers();
    const subId = await owner.sessionWith('same-answer', door.fixture.complete);
    const forged = `${subId.slice(0, -1)}${subId.at(-1) === '0' ? '1' : '0'}`;
    for (const hours of [0, 5]) {
      market.clock.advance(hours * 60 * 60 * 1000);
      for (const other of others) {
        const strange = await other.get('marketplace', { sub_id: subId, format: 'json' });
        const never = await other.get('marketplace', { sub_id: forged, format: 'json' });
        assert.equal(strange.text, never.text);
        assertRefused(strange, 'SUB_ID_NOT_FOUND');
      }
    }
  });

  test('returns 404 for a session of the same account in another vertical', async () => {
    const { market, fixture } = door;
    const account = `two verticals, from ${fixture.vertical.segment}`;
    const [elsewhere] = allFixtures.filter(({ vertical }) => vertical !== fixture.vertical);
    const there = market.caller(elsewhere as (typeof allFixtures)[0], { account });
    const { sub_id: subId } = await there.createSession('two-verticals');
    const here = market.caller(fixture, { account });
    assertRefused(await here.post('inputs', { sub_id: subId, fields: {} }), 'SUB_ID_NOT_FOUND');
    assertRefused(await here.get('marketplace', { sub_id: subId, format: 'json' }), 'SUB_ID_NOT_FOUND');
    assert.equal((await here.summary({ sub_id_list: subId })).sessions_total, 0);
    assert.equal((await here.summary({ referrer_tag: 'two-verticals' })).sessions_total, 0);
  });

  test('shares sessions and analytics between all keys of an account and mode', async () => {
    const { owner, colleague } = createCallers();
    const subId = await owner.sessionWith('shared', door.fixture.complete);
    assert.ok((await colleague.offers(subId)).offers.length > 0);
    assert.deepEqual(
      await owner.summary({ referrer_tag: 'shared' }),
      await colleague.summary({ referrer_tag: 'shared' }),
    );
  });

  test('separates the analytics of a tag by account and mode', async () => {
    const { owner, others } = createCallers();
    const tag = 'mixed';
    for (const [at, caller] of [owner, ...others].entries()) {
      for (let session = 0; session <= at; session++) {
        const subId = await caller.sessionWith(tag, door.fixture.complete);
        const { offers } = await caller.offers(subId);
        for (const { click_url: url } of offers.slice(0, at + 1)) await caller.click(url);
      }
    }
    for (const [at, caller] of [owner, ...others].entries()) {
      const { sessions_total, marketplace_views, offer_clicks } = await caller.summary({ referrer_tag: tag });
      assert.deepEqual([sessions_total, marketplace_views, offer_clicks], [at + 1, at + 1, (at + 1) ** 2]);
    }
  });

  test('ignores ids of other accounts in sub_id_list', async () => {
    const { owner, others } = createCallers();
    const { sub_id: mine } = await owner.createSession('lists');
    const theirs = await Promise.all(others.map((other) => other.createSession('lists')));
    const list = [mine, ...theirs.map(({ sub_id: id }) => id)].join(',');
    for (const caller of [owner, ...others]) {
      const summary = await caller.summary({ sub_id_list: list });
      assert.deepEqual([summary.sessions_total, summary.ids_outside_dates], [1, 0]);
    }
    const old = await owner.summary({ sub_id_list: list, date_from: '2020-01-01', date_to: '2020-01-02' });
    assert.deepEqual([old.sessions_total, old.ids_outside_dates], [0, 1]);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiCaller, assertError } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import type { HttpResponse } from '../support/http-client.ts';
import type { VerticalFixture } from '../support/vertical-fixture.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const everyOperation = (caller: ApiCaller): Promise<HttpResponse>[] => [
  caller.post('session', { referrer_tag: 'access' }),
  caller.post('inputs', { sub_id: 'x', fields: {} }),
  caller.get('marketplace', { sub_id: 'x', format: 'json' }),
  caller.get('analytics', { referrer_tag: 'access' }),
  caller.get('tags', {}),
];

function assertUnauthorized(answer: HttpResponse): void {
  assertError(answer, 'UNAUTHORIZED');
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
  for (const name of answer.headers.keys()) assert.doesNotMatch(name, /ratelimit/);
}

describeEveryVertical('access', (door) => {
  const { fixture } = door;
  const elsewhere = allFixtures.find(({ vertical }) => vertical !== fixture.vertical) as VerticalFixture;

  // The rules for API keys are tested in test/auth.
  test('every operation rejects a request without an API key or with the key of another vertical', async () => {
    const { market } = door;
    for (const path of ['session', 'inputs', 'marketplace', 'analytics', 'tags']) {
      const method = path === 'session' || path === 'inputs' ? 'POST' : 'GET';
      assertUnauthorized(await market.http.send({ method, path: `/v1/${fixture.vertical.segment}/${path}` }));
    }
    const there = market.caller(elsewhere);
    for (const answer of await Promise.all(everyOperation(market.callerWithKey(fixture, there.key)))) {
      assertError(answer, 'VERTICAL_MISMATCH');
    }
    assert.equal((await there.summary({ referrer_tag: 'access' })).sessions_total, 0);
  });

  /** Returns callers: the owner, another key of the same account, another account, and the other mode. */
  const createCallers = () => {
    const account = `owner ${fixture.vertical.segment}`;
    return {
      owner: door.caller({ account }),
      colleague: door.caller({ account }),
      others: [door.caller(), door.caller({ account, mode: 'test' })],
    };
  };

  test('accepts a unit_id in both modes, does not return it, and rejects an invalid one', async () => {
    for (const mode of ['live', 'test'] as const) {
      const caller = door.caller({ mode });
      const { status, text } = await caller.post('session', { referrer_tag: 'access', unit_id: 'visitor-17' });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(JSON.parse(text)), [
        'sub_id',
        'referrer_tag',
        'created_at',
        'expires_at',
        'sandbox',
      ]);
      for (const unit_id of ['', 'visitor 17', 17, null]) {
        const refused = await caller.post('session', { referrer_tag: 'access', unit_id });
        assertError(refused, 'INVALID_REQUEST', 'unit_id');
        assert.doesNotMatch(refused.text, /17/);
      }
    }
  });

  test('a session of another account or mode returns the same 404 as a forged sub_id', async () => {
    const { owner, others } = createCallers();
    const subId = await owner.createSessionWithFields('private', fixture.complete);
    const forged = `${subId.slice(0, -1)}${subId.at(-1) === '0' ? '1' : '0'}`;
    for (const hours of [0, 5]) {
      door.market.clock.advance(hours * 60 * 60 * 1000);
      for (const other of others) {
        const strange = await other.get('marketplace', { sub_id: subId, format: 'json' });
        const never = await other.get('marketplace', { sub_id: forged, format: 'json' });
        assert.equal(strange.text, never.text);
        assertError(strange, 'SUB_ID_NOT_FOUND');
        assertError(await other.post('inputs', { sub_id: subId, fields: {} }), 'SUB_ID_NOT_FOUND');
      }
    }
  });

  test('returns 404 for a session that the account created in another vertical', async () => {
    const { market } = door;
    const account = `two verticals, from ${fixture.vertical.segment}`;
    const { sub_id: subId } = await market.caller(elsewhere, { account }).createSession('two-verticals');
    const here = door.caller({ account });
    assertError(await here.post('inputs', { sub_id: subId, fields: {} }), 'SUB_ID_NOT_FOUND');
    assertError(await here.get('marketplace', { sub_id: subId, format: 'json' }), 'SUB_ID_NOT_FOUND');
    assert.equal((await here.summary({ sub_id_list: subId })).sessions_total, 0);
    assert.equal((await here.summary({ referrer_tag: 'two-verticals' })).sessions_total, 0);
  });

  test('sessions and analytics are shared by all keys of the same account and mode, and hidden from other keys', async () => {
    const { owner, colleague, others } = createCallers();
    const subId = await owner.createSessionWithFields('mixed', fixture.complete);
    await owner.click((await colleague.offers(subId)).offers[0]!.click_url);
    for (const [at, caller] of others.entries()) {
      for (let session = 0; session < at + 2; session++) {
        const { offers } = await caller.offers(await caller.createSessionWithFields('mixed', fixture.complete));
        for (const { click_url: url } of offers.slice(0, at + 2)) await caller.click(url);
      }
    }
    for (const [count, callers] of [
      [1, [owner, colleague]],
      [2, [others[0]!]],
      [3, [others[1]!]],
    ] as const) {
      for (const caller of callers) {
        const { sessions_total, marketplace_views, offer_clicks } = await caller.summary({ referrer_tag: 'mixed' });
        assert.deepEqual([sessions_total, marketplace_views, offer_clicks], [count, count, count ** 2]);
      }
    }
  });
});

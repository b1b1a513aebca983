import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { ConfirmationsView } from '../../src/index.ts';
import { type ApiCaller, assertOk, assertRefused, assertShape } from '../support/api-caller.ts';
import { clickIdOf } from '../support/click-ids.ts';
import { describeEveryVertical, describeService } from '../support/contract-suite.ts';
import { type Answer, marker } from '../support/http-client.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';
import { listedOffer, worthUsd } from '../support/vertical-fixture.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

function post(
  market: RunningMarketplace,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return market.operations.send({
    method: 'POST',
    path: '/confirmations',
    headers: {
      Authorization: `Bearer ${market.operatorToken}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(raw)),
      ...headers,
    },
    body: raw,
  });
}

async function outcomes(market: RunningMarketplace, body: unknown): Promise<string[]> {
  const { results } = assertOk<ConfirmationsView>(await post(market, body));
  return results.map(({ outcome, reason }) => reason ?? outcome);
}

describeEveryVertical('confirmed revenue', (door) => {
  /** Creates a session, requests offers and clicks the first ones. */
  async function createClicks(
    caller: ApiCaller,
    tag: string,
    clicks = 1,
    more: Readonly<Record<string, unknown>> = {},
  ) {
    const subId = await caller.sessionWith(tag, door.fixture.complete, more);
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const clickIds: string[] = [];
    for (const { svc_offer_id: id, click_url: url } of offers.slice(0, clicks)) {
      clickIds.push(clickIdOf(door.fixture, id, await caller.click(url)));
    }
    return { subId, offers, clickIds };
  }

  /** Returns a confirmation row for a click with the current time. */
  function row(click: object, more: object = {}) {
    const occurred_at = new Date(door.market.clock.wallMs()).toISOString();
    return { ...click, txid: 'tx-1', status: 'funded', amount: 40, occurred_at, ...more };
  }

  test('includes a confirmation by click_id, or by session and offer, in the next summary', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers, clickIds } = await createClicks(caller, 'shows', 2);
    await caller.createSession('shows');
    const [first, second] = offers.map(({ svc_offer_id: id }) => id) as [string, string];
    const body = [row({ click_id: clickIds[0] }), row({ sub_id: subId, svc_offer_id: second }, { amount: 2.345678 })];
    const answer = assertOk<ConfirmationsView>(await post(market, body));
    assert.deepEqual(answer, {
      accepted: 2,
      repeated: 0,
      rejected: 0,
      unknown: 0,
      results: [
        { index: 0, outcome: 'accepted' },
        { index: 1, outcome: 'accepted' },
      ],
    });
    const summary = await caller.summary({ referrer_tag: 'shows' });
    assert.equal(summary.rev_confirmed, 42.35);
    assert.equal(summary.rev_per_session, 21.172839);
    assert.equal(summary.rev_attributed, worthUsd(fixture, [first, second]));
    const confirmed = new Map(summary.top_lenders.map(({ lender, rev_confirmed }) => [lender, rev_confirmed]));
    const lenders = [first, second].map((id) => listedOffer(fixture, id).lender);
    if (lenders[0] === lenders[1]) assert.equal(confirmed.get(lenders[0]!), 42.35);
    else assert.deepEqual([confirmed.get(lenders[0]!), confirmed.get(lenders[1]!)], [40, 2.35]);
    assert.equal(summary.by_device.unknown?.rev_confirmed, 42.35);
  });

  test('counts a repeated confirmation once, and does not overwrite the first one', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { clickIds } = await createClicks(caller, 'once');
    const funded = row({ click_id: clickIds[0] });
    assert.deepEqual(await outcomes(market, funded), ['accepted']);
    assert.deepEqual(await outcomes(market, [funded, { ...funded, amount: 41 }, funded]), [
      'repeated',
      'conflict',
      'repeated',
    ]);
    assert.equal((await caller.summary({ referrer_tag: 'once' })).rev_confirmed, 40);
  });

  test('confirms the first click if the click_id belongs to a repeated click', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers } = await createClicks(caller, 'repeats');
    market.clock.advance(1_000);
    const first = offers[0]!;
    const click_id = clickIdOf(fixture, first.svc_offer_id, await caller.click(first.click_url));
    const funded = row({ click_id });
    assert.deepEqual(await outcomes(market, funded), ['accepted']);
    const pair = { sub_id: subId, svc_offer_id: first.svc_offer_id };
    assert.deepEqual(await outcomes(market, { ...funded, click_id: undefined, ...pair }), ['repeated']);
    const summary = await caller.summary({ referrer_tag: 'repeats' });
    assert.deepEqual([summary.offer_clicks, summary.rev_confirmed], [1, 40]);
  });

  test('rejects a confirmation of a HEAD or bot click, and accepts a counted click on the same offer', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('never-counted', fixture.complete);
    const { offers } = await caller.offers(subId);
    const { svc_offer_id, click_url } = offers[0]!;
    const idOf = (answer: Answer) => clickIdOf(fixture, svc_offer_id, answer);
    const headClick = row({ click_id: idOf(await caller.click(click_url, {}, 'HEAD')) });
    const botClick = row({ click_id: idOf(await caller.click(click_url, { 'User-Agent': 'Googlebot/2.1' })) });
    const pair = row({ sub_id: subId, svc_offer_id });
    const both = { ...pair, ...headClick };
    const notCounted = ['click_not_counted', 'click_not_counted', 'click_not_counted'];
    assert.deepEqual(await outcomes(market, [headClick, botClick, both, pair]), [...notCounted, 'click_unknown']);
    const real = row({ click_id: idOf(await caller.click(click_url)) }, { txid: 'tx-2' });
    assert.deepEqual(await outcomes(market, [headClick, botClick, both, real, pair]), [
      ...notCounted,
      'accepted',
      'accepted',
    ]);
    const summary = await caller.summary({ referrer_tag: 'never-counted' });
    assert.deepEqual([summary.offer_clicks, summary.rev_confirmed], [1, 80]);
  });
});

describeService('POST /confirmations', ({ running }) => {
  test('requires the operator token for confirmations', async () => {
    const market = running();
    const { operatorToken: token } = market;
    const { key } = market.issueKey(allFixtures[0]!);
    const invalidHeaders = [
      '',
      token,
      'Bearer',
      'Bearer ',
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${key}`,
      `Bearer ${marker.repeat(500)}`,
    ];
    for (const Authorization of invalidHeaders) {
      const { message } = assertRefused(await post(market, [], { Authorization }), 'UNAUTHORIZED');
      assert.match(message, /operator's token.*Authorization: Bearer <TOKEN>.*file operator-token/);
    }
    assertOk(await post(market, [], { Authorization: `bearer  ${token}` }));
    assertRefused(
      await market.http.send({ method: 'POST', path: '/confirmations', headers: { Authorization: `Bearer ${token}` } }),
      'NOT_FOUND',
    );
  });

  test('rejects methods other than POST', async () => {
    const { operations } = running();
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await operations.send({ method, path: '/confirmations' });
      assertRefused(answer, 'METHOD_NOT_ALLOWED');
      assert.equal(answer.headers.get('allow'), 'POST, OPTIONS');
    }
    const answer = await operations.send({ method: 'OPTIONS', path: '/confirmations' });
    assert.deepEqual([answer.status, answer.headers.get('allow')], [204, 'POST, OPTIONS']);
  });

  test('accepts only JSON bodies up to the maximum size', async () => {
    const market = running();
    assertRefused(await post(market, '[]', { 'Content-Type': 'text/csv' }), 'UNSUPPORTED_MEDIA_TYPE');
    for (const body of ['', '{', `[${marker}]`, Buffer.from([0x22, 0xff, 0x22])]) {
      assertRefused(await post(market, body), 'INVALID_REQUEST', 'body');
    }
    assertOk(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax, ' ')));
    assertRefused(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax + 1, ' ')), 'PAYLOAD_TOO_LARGE');
  });

  test('rejects a confirmation with a repeated JSON member', async () => {
    const rows = [
      '{"status":"funded","status":"funded"}',
      '{}',
      '{"x":1,"x":2,"amo\\u0075nt":1,"txid":"t","amount":2}',
    ];
    assert.deepEqual(await outcomes(running(), `[${rows.join(',')}]`), [
      'status_repeated',
      'status_invalid',
      'amount_repeated',
    ]);
    assert.deepEqual(await outcomes(running(), '{"click_id":null,"click_id":"x"}'), ['click_id_repeated']);
  });

  test('returns no submitted value for a rejected row', async () => {
    const row = { click_id: marker, sub_id: marker, svc_offer_id: marker, txid: marker, status: marker };
    const answer = await post(running(), [row, { ...row, status: 'funded', amount: marker }, marker]);
    assertShape(assertOk<object>(answer), {
      accepted: 'integer',
      repeated: 'integer',
      rejected: 'integer',
      unknown: 'integer',
      results: 'array',
    });
    assert.ok(!answer.text.includes(marker));
  });
});

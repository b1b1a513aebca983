import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { ConfirmationsView } from '../../src/index.ts';
import { assertOk, assertRefused, assertShape } from '../support/answers.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { clickIdOf } from '../support/click-id-of.ts';
import { atEveryDoor, onEveryEngine } from '../support/doors.ts';
import { type Answer, marker } from '../support/http-client.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';
import { listedOffer, worthUsd } from '../support/vertical-fixture.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const dayMs = 24 * 60 * 60 * 1000;

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

atEveryDoor('confirmed revenue', (door) => {
  /** A session of `caller` that has clicked its first offers. */
  async function clicked(caller: ApiCaller, tag: string, clicks = 1, more: Readonly<Record<string, unknown>> = {}) {
    const subId = await caller.sessionWith(tag, door.fixture.complete, more);
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const clickIds: string[] = [];
    for (const { svc_offer_id: id, click_url: url } of offers.slice(0, clicks)) {
      clickIds.push(clickIdOf(door.fixture, id, await caller.click(url)));
    }
    return { subId, offers, clickIds };
  }

  /** A row about a click, told now of something that has just happened. */
  function row(click: object, more: object = {}) {
    const occurred_at = new Date(door.market.clock.wallMs()).toISOString();
    return { ...click, txid: 'tx-1', status: 'funded', amount: 40, occurred_at, ...more };
  }

  test('shows in the summary as soon as it is answered, however the click is named', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers, clickIds } = await clicked(caller, 'shows', 2);
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

  test('is taken once however often it is sent, and never overwritten', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { clickIds } = await clicked(caller, 'once');
    const funded = row({ click_id: clickIds[0] });
    assert.deepEqual(await outcomes(market, funded), ['accepted']);
    assert.deepEqual(await outcomes(market, [funded, { ...funded, amount: 41 }, funded]), [
      'repeated',
      'conflict',
      'repeated',
    ]);
    assert.equal((await caller.summary({ referrer_tag: 'once' })).rev_confirmed, 40);
  });

  test('goes back by what a reversal takes of it', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { clickIds } = await clicked(caller, 'reversal');
    const click = { click_id: clickIds[0] };
    const reversed = row(click, { status: 'reversed', amount: 15.5 });
    assert.deepEqual(await outcomes(market, [reversed, row(click), { ...reversed, amount: 40.01 }, reversed]), [
      'txid_unknown',
      'accepted',
      'exceeds_funded',
      'accepted',
    ]);
    assert.equal((await caller.summary({ referrer_tag: 'reversal' })).rev_confirmed, 24.5);
    assert.deepEqual(await outcomes(market, { ...reversed, amount: 24.5 }), ['conflict']);
  });

  test('stands for the first click when the click_id is of a repeat', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers } = await clicked(caller, 'repeats');
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

  test('is taken until 90 days after the click, and answered as before for ever', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { clickIds } = await clicked(caller, 'ninety');
    const click = { click_id: clickIds[0] };
    const early = row(click, { txid: 'early' });
    assert.deepEqual(await outcomes(market, early), ['accepted']);
    market.clock.advance(90 * dayMs);
    assert.deepEqual(await outcomes(market, row(click, { txid: 'in-time' })), ['accepted']);
    market.clock.advance(1);
    assert.deepEqual(await outcomes(market, [row(click, { txid: 'late' }), early]), ['too_late', 'repeated']);
  });

  test('of a matured cohort has its mean and its interval', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const amounts = [10, 30];
    const rows = await Promise.all(
      amounts.map(async (amount) => {
        const { clickIds } = await clicked(caller, 'matured');
        return row({ click_id: clickIds[0] }, { amount });
      }),
    );
    for (let others = 0; others < 28; others++) await caller.createSession('matured');
    const date_from = new Date(market.clock.wallMs()).toISOString().slice(0, 10);
    market.clock.advance(46 * dayMs);
    assert.deepEqual(await outcomes(market, rows), ['accepted', 'accepted']);
    const summary = await caller.summary({ referrer_tag: 'matured', date_from });
    assert.equal(summary.rev_confirmed, 40);
    assert.equal(summary.sessions_matured, 30);
    assert.equal(summary.rev_per_session_matured, 1.333333);
    // 28 times nothing, 10 and 30: mean 4/3, variance (1000 - 30 * 16/9) / 29.
    const margin = 1.96 * Math.sqrt((1_000 - (30 * 16) / 9) / 29 / 30);
    const { low, high } = summary.rev_per_session_ci95!;
    assert.ok(Math.abs(low - (4 / 3 - margin)) < 1e-6 && Math.abs(high - (4 / 3 + margin)) < 1e-6);
  });

  test('is not for clicks that never counted, but for the real one beside them', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('never-counted', fixture.complete);
    const { offers } = await caller.offers(subId);
    const { svc_offer_id, click_url } = offers[0]!;
    const idOf = (answer: Answer) => clickIdOf(fixture, svc_offer_id, answer);
    const looked = row({ click_id: idOf(await caller.click(click_url, {}, 'HEAD')) });
    const bot = row({ click_id: idOf(await caller.click(click_url, { 'User-Agent': 'Googlebot/2.1' })) });
    const pair = row({ sub_id: subId, svc_offer_id });
    const both = { ...pair, ...looked };
    const never = ['click_not_counted', 'click_not_counted', 'click_not_counted'];
    assert.deepEqual(await outcomes(market, [looked, bot, both, pair]), [...never, 'click_unknown']);
    const real = row({ click_id: idOf(await caller.click(click_url)) }, { txid: 'tx-2' });
    assert.deepEqual(await outcomes(market, [looked, bot, both, real, pair]), [...never, 'accepted', 'accepted']);
    const summary = await caller.summary({ referrer_tag: 'never-counted' });
    assert.deepEqual([summary.offer_clicks, summary.rev_confirmed], [1, 80]);
  });

  test('is not for sandbox clicks', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { mode: 'test' });
    const subId = await caller.sessionWith('sandbox', fixture.complete);
    const { offers } = await caller.offers(subId);
    const { svc_offer_id, click_url } = offers[0]!;
    const click_id = clickIdOf(fixture, svc_offer_id, await caller.click(click_url), 'test');
    const pair = { sub_id: subId, svc_offer_id };
    assert.deepEqual(await outcomes(market, [row({ click_id }), row(pair)]), ['sandbox', 'sandbox']);
    assert.equal((await caller.summary({ referrer_tag: 'sandbox' })).rev_confirmed, 0);
  });

  test('applies where rows are good, though others of the batch are not', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers, clickIds } = await clicked(caller, 'mixed');
    const click = { click_id: clickIds[0] };
    const unclicked = { sub_id: subId, svc_offer_id: offers[5]?.svc_offer_id };
    const rows = [
      null,
      row(click, { amount: 0 }),
      row(unclicked),
      row(click),
      row({ ...click, ...unclicked }),
      row(click, { txid: 'tx-2', occurred_at: new Date(market.clock.wallMs() + 60_000).toISOString() }),
    ];
    assert.deepEqual(await outcomes(market, rows), [
      'not_an_object',
      'amount_invalid',
      'click_unknown',
      'accepted',
      'click_mismatch',
      'in_future',
    ]);
    assert.equal((await caller.summary({ referrer_tag: 'mixed' })).rev_confirmed, 40);
  });
});

onEveryEngine('POST /confirmations', ({ running }) => {
  test('is for the operator alone, whose token no partner has', async () => {
    const market = running();
    const { operatorToken: token } = market;
    const { key } = market.issueKey(allFixtures[0]!);
    const wrongs = [
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
    for (const Authorization of wrongs) {
      const { message } = assertRefused(await post(market, [], { Authorization }), 'UNAUTHORIZED');
      assert.match(message, /operator's token.*Authorization: Bearer <TOKEN>.*file operator-token/);
    }
    assertOk(await post(market, [], { Authorization: `bearer  ${token}` }));
    assertRefused(
      await market.http.send({ method: 'POST', path: '/confirmations', headers: { Authorization: `Bearer ${token}` } }),
      'NOT_FOUND',
    );
  });

  test('leaves the pages for the operator open', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      assert.equal((await running().operations.send({ path })).status, 200);
    }
  });

  test('answers no other method', async () => {
    const { operations } = running();
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await operations.send({ method, path: '/confirmations' });
      assertRefused(answer, 'METHOD_NOT_ALLOWED');
      assert.equal(answer.headers.get('allow'), 'POST, OPTIONS');
    }
    const answer = await operations.send({ method: 'OPTIONS', path: '/confirmations' });
    assert.deepEqual([answer.status, answer.headers.get('allow')], [204, 'POST, OPTIONS']);
  });

  test('takes JSON, in a body of its own bound', async () => {
    const market = running();
    assertRefused(await post(market, '[]', { 'Content-Type': 'text/csv' }), 'UNSUPPORTED_MEDIA_TYPE');
    for (const body of ['', '{', `[${marker}]`, Buffer.from([0x22, 0xff, 0x22])]) {
      assertRefused(await post(market, body), 'INVALID_REQUEST', 'body');
    }
    assertOk(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax, ' ')));
    assertRefused(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax + 1, ' ')), 'PAYLOAD_TOO_LARGE');
  });

  test('takes so many rows and no more', async () => {
    const market = running();
    const rows = Array.from({ length: bounds.confirmationRowsPerRequestMax }, () => ({}));
    const answer = assertOk<ConfirmationsView>(await post(market, rows));
    assert.deepEqual([answer.rejected, answer.results.length], [rows.length, rows.length]);
    assertRefused(await post(market, [...rows, {}]), 'INVALID_REQUEST', 'body');
  });

  test('rejects a row that gives a member twice, whichever value it would take', async () => {
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

  test('repeats nothing of a row it rejects', async () => {
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { ConfirmationsResponse } from '../../src/index.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { echoMarker, type HttpResponse } from '../support/http-client.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';
import { findListedOffer, totalClickUsd } from '../support/vertical-fixture.ts';
import { askOperator } from './operator-request.ts';

function post(market: RunningMarketplace, body: unknown, headers = {}): Promise<HttpResponse> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return askOperator(market, { method: 'POST', path: '/confirmations', headers, body: raw });
}

describePersonalLoans('POST /confirmations', (door) => {
  const { fixture } = door;
  test('the next summary includes confirmations by click_id and confirmations by session and offer', async () => {
    const { market } = door;
    const caller = door.caller();
    const subId = await caller.createSessionWithFields('shows', fixture.complete);
    await caller.createSession('shows');
    const { offers } = await caller.offers(subId);
    const [first, second] = offers.map(({ svc_offer_id: id }) => id) as [string, string];
    const click_id = clickIdFromRedirect(fixture, first, await caller.click(offers[0]!.click_url));
    await caller.click(offers[1]!.click_url);
    const occurred_at = new Date(market.clock.wallMs()).toISOString();
    const row = { txid: 'tx-1', status: 'funded', amount: 40, occurred_at };
    const body = [
      { ...row, click_id },
      { ...row, sub_id: subId, svc_offer_id: second, amount: 2.345678 },
    ];
    const answer = assertOk<ConfirmationsResponse>(await post(market, body));
    assert.deepEqual(answer, {
      accepted: 2,
      repeated: 0,
      rejected: 0,
      unknown: 0,
      results: [
        { index: 0, outcome: 'accepted', payout: { state: 'funded', amount: 40 } },
        { index: 1, outcome: 'accepted', payout: { state: 'funded', amount: 2.345678 } },
      ],
    });
    const summary = await caller.summary({ referrer_tag: 'shows' });
    assert.equal(summary.rev_confirmed, 42.345678);
    assert.equal(summary.rev_per_session, 21.172839);
    assert.equal(summary.rev_attributed, totalClickUsd(fixture, [first, second]));
    const confirmed = new Map(summary.top_lenders.map(({ lender, rev_confirmed }) => [lender, rev_confirmed]));
    const lenders = [first, second].map((id) => findListedOffer(fixture, id).lender);
    if (lenders[0] === lenders[1]) assert.equal(confirmed.get(lenders[0]!), 42.345678);
    else assert.deepEqual([confirmed.get(lenders[0]!), confirmed.get(lenders[1]!)], [40, 2.345678]);
    assert.equal(summary.by_device.unknown?.rev_confirmed, 42.345678);
  });

  test('rejects amounts of another currency or unit, over HTTP and in the embedded API, and books nothing', async () => {
    const { market } = door;
    const caller = door.caller();
    const subId = await caller.createSessionWithFields('currencies', fixture.complete);
    const { offers } = await caller.offers(subId);
    await caller.click(offers[0]!.click_url);
    const row = (more: object) => ({
      ...{ sub_id: subId, svc_offer_id: offers[0]!.svc_offer_id, txid: 'tx-1', status: 'funded', amount: 40 },
      ...{ occurred_at: new Date(market.clock.wallMs()).toISOString(), ...more },
    });
    const currencies = ['EUR', 'usd', '', null, 840].map((currency) => row({ currency }));
    const ambiguous = [row({ amount_cents: 4_000 }), row({ Currency: 'EUR' })];
    const amounts = ['40', '$40', '40,5', '1,000.00', -40, 40.0000001].map((amount) => row({ amount }));
    const rows = [...currencies, ...ambiguous, ...amounts];
    const reasons = ['currency_invalid', 'member_ambiguous', 'amount_invalid'];
    const expected = [currencies, ambiguous, amounts].flatMap((each, kind) => each.map(() => reasons[kind]));
    const http = assertOk<ConfirmationsResponse>(await post(market, rows));
    const embedded = await market.marketplace.confirmations.submit(rows as never);
    assert.ok(embedded.ok);
    for (const { results } of [http, embedded.value]) {
      assert.deepEqual(
        results.map(({ reason }) => reason),
        expected,
      );
      assert.deepEqual(results[0], { index: 0, outcome: 'rejected', reason: 'currency_invalid', allowed: ['USD'] });
    }
    const accepted = assertOk<ConfirmationsResponse>(await post(market, [row({ currency: 'USD' })]));
    assert.equal(accepted.accepted, 1);
    assert.equal((await caller.summary({ referrer_tag: 'currencies' })).rev_confirmed, 40);
  });

  test('POST /confirmations accepts only JSON bodies up to the maximum size', async () => {
    const { market } = door;
    assertError(await post(market, '[]', { 'Content-Type': 'text/csv' }), 'UNSUPPORTED_MEDIA_TYPE');
    for (const body of ['', '{', `[${echoMarker}]`, Buffer.from([0x22, 0xff, 0x22])]) {
      assertError(await post(market, body), 'INVALID_REQUEST', 'body');
    }
    assertOk(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax, ' ')));
    assertError(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax + 1, ' ')), 'PAYLOAD_TOO_LARGE');
  });

  test('rejects a row with a repeated JSON property or an amount that JSON.parse rounds, and the response contains no submitted values', async () => {
    const rows = [
      '{"click_id":null,"click_id":"x"}',
      '{"status":"funded","status":"funded"}',
      `{"x":1,"x":2,"amo\\u0075nt":1,"txid":"${echoMarker}","amount":2}`,
      JSON.stringify(
        Object.fromEntries(['click_id', 'sub_id', 'svc_offer_id', 'txid', 'status'].map((name) => [name, echoMarker])),
      ),
      JSON.stringify({ txid: 'tx', status: 'funded', amount: echoMarker }),
      '{"txid":"tx","status":"funded","amount":84.99999999999999999}',
    ];
    const answer = await post(door.market, `[${rows.join(',')}]`);
    const { results, ...counts } = assertOk<ConfirmationsResponse>(answer);
    assert.deepEqual(counts, { accepted: 0, repeated: 0, rejected: 6, unknown: 0 });
    assert.deepEqual(
      results.map(({ reason }) => reason),
      ['click_id_repeated', 'status_repeated', 'amount_repeated', 'status_invalid', 'amount_invalid', 'amount_invalid'],
    );
    assert.ok(!answer.text.includes(echoMarker));
  });
});

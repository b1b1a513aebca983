import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { ConfirmationRow, ConfirmationsResponse } from '../../src/index.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { assertOk } from '../support/api-caller.ts';
import { type ClickDecision, offerClickedRecord } from '../support/ledger-records.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { Scrape } from '../support/scrape.ts';
import { equipmentLeasesFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

const dayMs = 86_400_000;
const vertical = { ...fixture.vertical, clicksConfirmRevenue: true };
const clickUsd = 2.5;

/**
 * Starts a service whose only vertical has clicks that confirm their own revenue. The ledger contains a session with three shown offers.
 * The click on the first offer is booked, the first click on the second offer came too fast, and the third offer was not clicked.
 */
async function startWithClicks(t: TestContext) {
  const market = await RunningMarketplace.start('uws', {
    catalogs: fixture.catalogs.map((source) => ({ ...source, vertical })),
  });
  runAfterTest(t, () => market.close());
  const { key } = market.issueKey({ vertical });
  const first = market.callerWithKey({ vertical }, key);
  const sub_id = await first.createSessionWithFields('clicks', fixture.complete);
  const { offers } = await first.offers(sub_id, { max_offers: 3 });
  const ids = offers.map(({ svc_offer_id: id }) => id) as [string, string, string];

  const sub = Buffer.from(sub_id.slice('sub_'.length), 'hex');
  const click = (offerId: string, decision: ClickDecision) =>
    offerClickedRecord(sub, offerId, { wallMs: market.clock.wallMs(), valueMicros: clickUsd * 1e6, decision });
  await market.restart(async () => {
    const folder = dataPaths(market.folder).ledgerFolder;
    const log = await openEventLog<LedgerRecord>({ folder, durability: 'fsync' });
    await log.append(click(ids[0], [true, null, true]))!.durable;
    await log.append(click(ids[1], [false, 2, true]))!.durable;
    await log.close();
  });
  market.clock.advance(20 * dayMs);
  const confirm = async (...rows: readonly object[]) => {
    const answer = await askOperator(market, { method: 'POST', path: '/confirmations', json: rows });
    return assertOk<ConfirmationsResponse>(answer).results.map(({ outcome, reason }) => reason ?? outcome);
  };
  const row = (offer: 0 | 1 | 2, more: Partial<ConfirmationRow>): ConfirmationRow => ({
    ...{ sub_id, svc_offer_id: ids[offer], txid: 'r-1', status: 'reversed', amount: 1, reason: 'bot' },
    ...{ occurred_at: new Date(market.clock.wallMs()).toISOString(), ...more },
  });
  return { market, caller: market.callerWithKey({ vertical }, key), confirm, row };
}

test('a click that confirms its own revenue counts as confirmed at once, and a lender can only reverse the revenue', async (t) => {
  const { market, caller, confirm, row } = await startWithClicks(t);
  const figures = async () => {
    const summary = await caller.summary({ referrer_tag: 'clicks' });
    return [summary.offer_clicks, summary.rev_attributed, summary.rev_confirmed, summary.clicks_not_booked.too_fast];
  };
  assert.deepEqual(await figures(), [2, clickUsd, clickUsd, 1]);
  const rows = [
    row(0, { status: 'funded' }),
    row(0, { reason: undefined as never }),
    row(0, {}),
    row(0, { reason: 'duplicate' }),
    row(0, { txid: 'r-2', amount: 1.51 }),
    row(1, {}),
    row(2, {}),
  ];
  assert.deepEqual(await confirm(...rows), [
    'funded_not_accepted',
    'reason_invalid',
    'accepted',
    'conflict',
    'exceeds_booked',
    'click_not_booked',
    'click_unknown',
  ]);
  assert.deepEqual(await figures(), [2, clickUsd, 1.5, 1]);
  const reversed = async (reason: string) =>
    (await Scrape.of(market.operations)).value('marketplace_reversed_clicks_total', { reason });
  assert.deepEqual([await reversed('bot'), await reversed('duplicate')], [1, 0]);
  const scrape = await Scrape.of(market.operations);
  const revenue = (kind: string) => scrape.value('marketplace_revenue_usd_total', { vertical: vertical.segment, kind });
  // The start replayed the click, so its revenue is not counted again.
  assert.deepEqual([revenue('booked'), revenue('confirmed'), revenue('reversed')], [0, 0, 1]);
  const rowCount = (outcome: string) => scrape.value('marketplace_confirmations_total', { outcome });
  assert.deepEqual([rowCount('accepted'), rowCount('rejected'), rowCount('repeated')], [1, 6, 0]);
  // The embedded API has the same rules.
  const embedded = await market.marketplace.confirmations.submit([row(0, {}), row(0, { txid: 'r-2', amount: 1.5 })]);
  assert.ok(embedded.ok);
  assert.deepEqual([embedded.value.repeated, embedded.value.accepted], [1, 1]);
  assert.deepEqual(await figures(), [2, clickUsd, 0, 1]);
});

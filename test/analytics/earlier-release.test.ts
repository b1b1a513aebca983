import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OfferMetrics, SessionRow, SummaryResult, TagMetrics } from '../../src/analytics/analytics.ts';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { subIdBytes } from '../support/ledger-records.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { unpackDataFolder } from '../support/unpack-data-folder.ts';
import { byTag, noon, today } from './sample-query.ts';

/**
 * Data folder that the release with schema version 4 wrote, with archived days, and the figures that this release reported. The ledger
 * contains six sessions of different ages: clicks with and without a daily cap, click records that were lost, payouts and reversals. Click
 * records have at most eight items.
 */
const dataFolder = join(import.meta.dirname, 'schema-4-data');
const ledgerRecords = 84;

type Figures = Readonly<Record<'live' | 'test' | 'listed' | 'days' | 'rows', unknown>>;

async function startOnEarlierData(t: TestContext) {
  const folder = temporaryFolder(t);
  unpackDataFolder(dataFolder, folder);
  const files = dataPaths(folder);
  const reasons: string[] = [];
  const analytics = await ThreadAnalytics.start({
    files,
    log: { durablePosition: ledgerRecords, lastAppendedPosition: ledgerRecords, healthy: true },
    onRebuild: (reason) => void reasons.push(reason),
  });
  runAfterTest(t, () => analytics.close());
  return { analytics, reasons };
}

test('a data folder of an earlier release opens with the same figures', async (t) => {
  const { analytics, reasons } = await startOnEarlierData(t);
  const query = { ...byTag, fromDay: today - 210 };
  const ages = [200, 199, 60, 1, 0];
  const subs = ages.map((age, index) => subIdBytes({ createdMs: noon - age * msPerDay, serial: index + 1 }));
  const expected = JSON.parse(readFileSync(join(dataFolder, 'figures.json'), 'utf8')) as Figures;

  const { unbookedClicks, ...live } = withoutNewFigures(await analytics.getSummary(query));
  assert.deepEqual(live, expected.live);
  // Each retained session has one click on an offer at its daily cap. The archive of the earlier release has no counts by reason.
  assert.deepEqual(unbookedClicks, [3, 0, 0, 0]);
  const { unbookedClicks: inSandbox, ...sandbox } = withoutNewFigures(
    await analytics.getSummary({ ...query, mode: 'test' }),
  );
  assert.deepEqual([sandbox, inSandbox], [expected.test, [1, 0, 0, 0]]);
  const { unbookedClicks: ofListed, ...listed } = withoutNewFigures(
    await analytics.getSummary({ ...query, referrerTag: null, subs }),
  );
  assert.deepEqual([listed, ofListed], [expected.listed, [3, 0, 0, 0]]);
  const days = (await analytics.listDailyAnalytics(query)).days.filter(({ sessions }) => sessions > 0);
  assert.deepEqual(
    days.map(({ unbookedClicks: _, ...day }) => day),
    expected.days,
  );
  const { rows } = await analytics.listSessions({ ...query, order: 'oldest', afterPosition: 0, limit: 100 });
  const toHexRow = ({ sub, ...row }: SessionRow) => ({ sub: Buffer.from(sub).toString('hex'), ...row });
  assert.deepEqual(rows.map(toHexRow), expected.rows);
  assert.equal(reasons.length, 1);
  assert.match(reasons[0]!, /^analytics store has schema version 4; this release uses \d+$/);
});

test('sessions with revenue are unknown for days that an earlier release archived, and counted for other days', async (t) => {
  const { analytics } = await startOnEarlierData(t);
  const countFrom = async (fromDay: number, toDay = today) => {
    const { sessions, sessionsWithRevenue } = (await analytics.getSummary({ ...byTag, fromDay, toDay })).matured;
    return [sessions, sessionsWithRevenue];
  };
  assert.deepEqual(await countFrom(today - 210), [3, null]);
  assert.deepEqual(await countFrom(today - 199), [2, null]);
  // The ledger still contains the records of this session.
  assert.deepEqual(await countFrom(today - 198), [1, 1]);
  assert.deepEqual(await countFrom(today - 210, today - 201), [0, 0]);
});

test('offers are counted from the first day that the earlier release has not archived', async (t) => {
  const { analytics } = await startOnEarlierData(t);
  const query = { ...byTag, fromDay: today - 210, referrerTag: 'tag-one', subs: null, afterOfferId: '', limit: 100 };
  const { offers, offersFromDay, retainedFromDay, nextAfterOfferId } = await analytics.listOffers(query);
  assert.deepEqual([offersFromDay, nextAfterOfferId], [retainedFromDay, null]);
  assert.ok(offersFromDay > today - 199);
  const { clicks, attributedMicros, confirmedMicros } = await analytics.getSummary({
    ...query,
    fromDay: offersFromDay,
  });
  const sum = (read: (offer: OfferMetrics) => number) => offers.reduce((total, offer) => total + read(offer), 0);
  assert.equal(
    sum((offer) => offer.clicks),
    clicks,
  );
  assert.equal(
    sum((offer) => offer.attributedMicros),
    attributedMicros,
  );
  assert.equal(
    sum((offer) => offer.confirmedMicros),
    confirmedMicros,
  );
  assert.ok(clicks > 0 && sum(({ shownByPosition }) => shownByPosition[0]!) > 0);
});

test('lists the tags of an earlier release, with the start of the day as the time of archived sessions', async (t) => {
  const { analytics } = await startOnEarlierData(t);
  const { tags, nextAfterTag } = await analytics.listTags({ ...byTag, afterTag: '', limit: 100 });
  const [{ attributedMicros, confirmedMicros, ...tag }, ...others] = tags as [TagMetrics];
  const times = { firstSessionMs: (today - 200) * msPerDay, lastSessionMs: noon };
  assert.deepEqual(tag, { tag: 'tag-one', ...times, sessions: 5, views: 5, clicks: 25 });
  assert.deepEqual([attributedMicros, confirmedMicros], [31_228_390, 378_271_605]);
  assert.deepEqual([others, nextAfterTag], [[], null]);
});

/** Removes the figures that the earlier release did not report. */
function withoutNewFigures({ tagHasSessions, matured, ...figures }: SummaryResult) {
  assert.equal(tagHasSessions, true);
  const { sessionsWithRevenue: _, ...earlier } = matured;
  return { ...figures, matured: earlier };
}

test('recognizes payouts that an earlier release confirmed, so that a repeated payout does not count twice', async (t) => {
  const { analytics } = await startOnEarlierData(t);
  const sub = subIdBytes({ createdMs: noon, serial: 5 });
  const occurredMs = noon + msPerDay;
  const states = await analytics.findPayoutStates(['a', 'b', 'e'].map((offerId) => ({ sub, offerId, txid: 'tx-1' })));
  const paid = { amountMicros: 40_000_000, occurredMs };
  assert.deepEqual(
    states.map(({ payout }) => payout),
    [{ funded: paid, reversed: { ...paid, amountMicros: 12_000_000 } }, null, { funded: paid, reversed: null }],
  );
  for (const { clickRevenueMicros, clickReversal } of states) {
    assert.deepEqual([clickRevenueMicros, clickReversal], [null, null]);
  }
});

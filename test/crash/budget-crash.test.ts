import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { AnalyticsSummary } from '../../src/index.ts';
import { unbookedReasons } from '../../src/ledger/ledger-record.ts';
import { snapshotContentPath } from '../../src/snapshots/snapshot-files.ts';
import { banking } from '../../src/verticals/banking/banking.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ServedProcess } from '../cli/served-process.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { sampleBorrowers } from '../support/sample-borrowers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { totalClickMicros } from '../support/vertical-fixture.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { visitLedgerClicks } from './ledger-clicks.ts';
import { createPartner } from './server-process.ts';

const clicksPerBudget = 6;
const sessions = 16;
const tag = 'budget';

const limitedOffers = [
  {
    vertical: personalLoansFixture.vertical,
    fields: personalLoansFixture.complete,
    offerId: 'cobalt-prime',
    clickMicros: totalClickMicros(personalLoansFixture, ['cobalt-prime']),
  },
  { vertical: banking, fields: sampleBorrowers.banking!, offerId: 'amberlode-savings', clickMicros: 7_500_000 },
] as const;
type LimitedOffer = (typeof limitedOffers)[number] & { readonly key: string; readonly links: string[] };

/** Writes the example catalog of the vertical, with a budget that is half a click larger than `clicksPerBudget` clicks. */
function writeCatalog(folder: string, { vertical, offerId, clickMicros }: (typeof limitedOffers)[number]): void {
  const catalog = JSON.parse(readFileSync(builtInVerticals.exampleCatalogFile(vertical), 'utf8'));
  const usd = Math.floor((clicksPerBudget + 0.5) * clickMicros) / 1_000_000;
  for (const { offers } of catalog.lenders) {
    for (const offer of offers) if (offer.id === offerId) offer.budget = { per_month_usd: usd, pacing: 'asap' };
  }
  writeFileSync(join(folder, `${vertical.segment}.json`), JSON.stringify(catalog));
}

for (const hasSnapshot of [false, true]) {
  test(`after kill -9 and a restart ${hasSnapshot ? 'with an old' : 'without a'} snapshot, clicks book exactly the budget`, async (t) => {
    const folder = temporaryFolder(t);
    const [dataDir, catalogs] = [join(folder, 'data'), join(folder, 'catalogs')];
    const { snapshotFolder, ledgerFolder } = dataPaths(dataDir);
    mkdirSync(catalogs);
    const all: LimitedOffer[] = [];
    for (const offer of limitedOffers) {
      writeCatalog(catalogs, offer);
      const { key } = await createPartner(dataDir, 'live', null, offer.vertical.segment);
      all.push({ ...offer, key, links: [] });
    }
    const serve = async () => {
      const served = new ServedProcess(t, { SVC_DATA_DIR: dataDir, SVC_CATALOG: catalogs, SVC_LOG_LEVEL: 'warn' });
      const http = await served.client(t);
      const callerOf = ({ vertical, key }: LimitedOffer) => new ApiCaller(http, vertical.segment, key);
      /** Returns the link of the offer for a new session; undefined if the offer is not in the answer. */
      const requestLink = async (offer: LimitedOffer) => {
        const subId = await callerOf(offer).createSessionWithFields(tag, offer.fields);
        const { offers } = await callerOf(offer).offers(subId, { max_offers: 20 });
        return offers.find(({ svc_offer_id: id }) => id === offer.offerId)?.click_url;
      };
      /** Clicks the next links of each offer at the same time. Calls `onAnswer` after each click. */
      const clickNext = (count: number, onAnswer = (_offer: LimitedOffer) => {}) => {
        const clicks = all.flatMap((offer) => offer.links.splice(0, count).map((url) => ({ offer, url })));
        return Promise.all(
          clicks.map(async ({ offer, url }) => {
            assert.equal((await callerOf(offer).click(url)).status, 302);
            onAnswer(offer);
          }),
        );
      };
      return { served, callerOf, requestLink, clickNext };
    };
    const thisMonth = () => new Date().toISOString().slice(0, 7);
    const startedIn = thisMonth();

    const first = await serve();
    for (const offer of all) {
      const requests = Array.from({ length: sessions }, () => first.requestLink(offer));
      for (const link of await Promise.all(requests)) offer.links.push(link!);
    }
    // Earlier clicks book nothing in banking.
    await pause(bounds.clickDelayMsMin + 100);
    await first.clickNext(2);
    first.served.signal(hasSnapshot ? 'SIGTERM' : 'SIGKILL');
    await first.served.ended;

    const second = await serve();
    const answered = new Set<LimitedOffer>();
    const clicks = second.clickNext(4, (offer) => {
      if (answered.add(offer).size === all.length) second.served.signal('SIGKILL');
    });
    await clicks.catch(() => {});
    assert.equal((await second.served.ended).signal, 'SIGKILL');
    // The snapshot contains two clicks of each offer, because a killed server writes none.
    assert.equal(existsSync(snapshotContentPath(snapshotFolder)), hasSnapshot);

    const third = await serve();
    await third.clickNext(sessions);
    const summaries: AnalyticsSummary[] = [];
    for (const offer of all) {
      summaries.push(await third.callerOf(offer).summary({ referrer_tag: tag }));
      assert.equal(await third.requestLink(offer), undefined);
    }
    assert.equal(await third.served.stop(), 0);
    if (thisMonth() !== startedIn) return t.skip('the budget starts again in a new month');

    for (const [index, { vertical, offerId, clickMicros }] of all.entries()) {
      let [bookedMicros, beyondBudget] = [0, 0];
      await visitLedgerClicks(ledgerFolder, ([, , , , clickedId, , micros, isBooked, reason]) => {
        if (clickedId !== offerId) return;
        if (isBooked === true) bookedMicros += micros;
        if (isBooked === false && unbookedReasons[reason!] === 'budget') beyondBudget++;
      });
      assert.equal(bookedMicros, clicksPerBudget * clickMicros);
      assert.ok(beyondBudget > 0, 'the clicks did not reach the budget');
      const { rev_attributed, rev_confirmed, clicks_not_booked } = summaries[index]!;
      const bookedUsd = bookedMicros / 1_000_000;
      assert.deepEqual([rev_attributed, rev_confirmed], [bookedUsd, vertical.clicksConfirmRevenue ? bookedUsd : 0]);
      assert.deepEqual(clicks_not_booked, { cap: 0, budget: beyondBudget, too_fast: 0, too_many_offers: 0 });
    }
  });
}

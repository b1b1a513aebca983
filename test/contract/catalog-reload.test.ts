import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { bounds } from '../../src/bounds.ts';
import { computeCatalogVersion } from '../../src/catalogs/catalog-version.ts';
import type { MarketplaceResponse } from '../../src/index.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { borrowerOf, today as someDay } from '../matching/loan-fixtures.ts';
import { sortIds } from '../matching/priced-rankings.ts';
import { loanOrders, referenceMatches } from '../matching/reference-matcher.ts';
import { ChangeableCatalogs } from '../support/changeable-catalogs.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const { vertical, complete } = fixture;
/** Number of offers so large that the service handles requests while it reads the catalog. */
const offers = 1_000;
const before = generateCatalog(1, offers);
const after = generateCatalog(2, offers);
const expectedBefore = expectedOf(before);
const expectedAfter = expectedOf(after);

interface Expected {
  readonly version: string;
  readonly ids: readonly string[];
}

/** Returns the offers that a borrower with complete fields must receive, computed by a simple implementation of the rules. */
function expectedOf(catalog: LoanCatalog): Expected {
  const matches = referenceMatches(catalog, vertical, borrowerOf(complete), someDay);
  return {
    version: computeCatalogVersion(catalog, 'live'),
    ids: sortIds(matches, loanOrders.recommended).slice(0, 20),
  };
}

/** Starts a service with the first of two catalogs as its live catalog. A test can replace the catalog file. */
async function startBefore(t: TestContext, options: StartOptions = {}) {
  const catalogs = new ChangeableCatalogs({ ...fixture, catalogFiles: { ...fixture.catalogFiles, live: before } });
  const market = await RunningMarketplace.start('uws', { catalogs: catalogs.sources, ...options });
  runAfterTest(t, () => market.close());
  return { market, exchange: (catalog: LoanCatalog) => catalogs.writeCatalog(catalog) };
}

function assertShows(view: MarketplaceResponse, { version, ids }: Expected): void {
  assert.equal(view.catalog_version, version);
  assert.deepEqual(
    view.offers.map(({ svc_offer_id }) => svc_offer_id),
    ids,
  );
}

test('a catalog reload under load causes no incorrect response', async (t) => {
  const { market, exchange } = await startBefore(t);
  const caller = market.caller(fixture, { limits: { requestsPerMinute: 100_000 } });
  const ask = async () =>
    await caller.offers(await caller.createSessionWithFields('reload', complete), { max_offers: 20 });
  const shownBefore = await ask();
  assertShows(shownBefore, expectedBefore);

  exchange(after);
  let changed = false;
  const change = market.marketplace.reloadCatalogs().then((changes) => {
    changed = true;
    return changes;
  });
  let onTheOld = 0;
  let onTheNew = 0;
  const keepAsking = async () => {
    while (!changed || onTheNew === 0) {
      const asked = onTheNew;
      const view = await ask();
      const old = view.catalog_version === expectedBefore.version;
      assertShows(view, old ? expectedBefore : expectedAfter);
      if (old) onTheOld++;
      else onTheNew++;
      // After the first response with offers of the new catalog, no response may contain offers of the old catalog.
      assert.ok(!old || asked === 0);
    }
  };
  await Promise.all([keepAsking(), keepAsking(), keepAsking()]);
  assert.deepEqual(
    (await change).map((one) => one.ok && one.changed),
    [true],
  );
  assert.ok(onTheOld > 0, 'nobody was answered during the change');

  assertShows(await ask(), expectedAfter);
  const landing = await caller.click(shownBefore.offers[0]!.click_url);
  assert.equal(landing.status, 302);
  assert.match(landing.headers.get('location') ?? '', new RegExp(`offer=${expectedBefore.ids[0]}&`));
});

test('after a restart, a click waits for its replaced catalog, or is repeated by the browser', async (t) => {
  const { market, exchange } = await startBefore(t);
  const caller = market.caller(fixture);
  const shown = await caller.offers(await caller.createSessionWithFields('replaced', complete), {});
  exchange(after);
  await market.marketplace.reloadCatalogs();
  await market.restart();
  const click = () => market.caller(fixture).click(shown.offers[0]!.click_url);
  const { replacedCatalogWaitingClicksMax } = bounds;
  Object.assign(bounds, { replacedCatalogWaitingClicksMax: 0 });
  t.after(() => Object.assign(bounds, { replacedCatalogWaitingClicksMax }));
  const { status, headers } = await click();
  assert.deepEqual(
    [status, ...['retry-after', 'refresh', 'cache-control'].map((name) => headers.get(name))],
    [503, '1', '1', 'no-store'],
  );
  Object.assign(bounds, { replacedCatalogWaitingClicksMax });
  const clicks = await Promise.all([click(), click()]);
  for (const { headers } of clicks)
    assert.match(headers.get('location') ?? '', new RegExp(`offer=${shown.offers[0]!.svc_offer_id}&`));
});

test('continues with the active catalog if the new file is invalid, and applies and logs the next valid file', async (t) => {
  const logged: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const { market, exchange } = await startBefore(t, { logger });
  const caller = market.caller(fixture);
  const subId = await caller.createSessionWithFields('faulty', complete);
  exchange({ ...after, format: 2 as never });
  const [change] = await market.marketplace.reloadCatalogs();
  assert.partialDeepStrictEqual(change, {
    ok: false,
    errors: ['format: must be equal to constant'],
    vertical: fixture.vertical.segment,
    mode: 'live',
  });
  assertShows(await caller.offers(subId, { max_offers: 20 }), expectedBefore);
  exchange(after);
  const recoveries = () => logged.filter((message) => message === 'catalog file is valid again').length;
  assert.equal(recoveries(), 0);
  const [next] = await market.marketplace.reloadCatalogs();
  assert.partialDeepStrictEqual(next, { ok: true, version: expectedAfter.version, changed: true, warnings: [] });
  assertShows(await caller.offers(subId, { max_offers: 20 }), expectedAfter);
  await market.marketplace.reloadCatalogs();
  assert.equal(recoveries(), 1);
});

test('the example page names clicks to the example lenders only, so a lender cannot read the value of a click', async (t) => {
  const { market, exchange } = await startBefore(t);
  const caller = market.caller(fixture);
  const readPage = async (landing_url: string): Promise<string> => {
    const lenders = after.lenders.map((lender) => ({
      ...lender,
      offers: lender.offers.map((offer) => ({ ...offer, landing_url })),
    }));
    exchange({ ...after, lenders });
    await market.marketplace.reloadCatalogs();
    const { offers } = await caller.offers(await caller.createSessionWithFields('value', complete), {});
    const location = new URL((await caller.click(offers[0]!.click_url)).headers.get('location')!);
    return (await market.http.send({ path: `/c/example${location.search}` })).text;
  };
  const revenue = /expected revenue/;
  assert.match(await readPage('/c/example?click_id={click_id}'), revenue);
  assert.doesNotMatch(await readPage('https://lender.example/apply?click_id={click_id}'), revenue);
});

import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MarketplaceView } from '../../src/index.ts';
import type { CatalogFile } from '../../src/offers/catalog-schema.ts';
import { catalogVersion } from '../../src/offers/catalog-version.ts';
import { borrowerOf, today as someDay } from '../offers/borrower-of.ts';
import { referenceMatches, referenceOrder } from '../offers/reference-matcher.ts';
import { personalLoansFixture } from '../support/personal-loans-fixture.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { type Engine, engines, RunningMarketplace } from '../support/running-marketplace.ts';

const { vertical, complete, catalogs } = personalLoansFixture;
const sandbox = catalogs.filter(({ mode }) => mode === 'test');
const before = generateCatalog(1, 4_000);
const after = generateCatalog(2, 4_000);
const expectedBefore = expectedOf(before);
const expectedAfter = expectedOf(after);

interface Expected {
  readonly version: string;
  readonly ids: readonly string[];
}

/** What anybody with the complete fields must see of a catalog, by the plain rules. */
function expectedOf(catalog: CatalogFile): Expected {
  const matches = referenceMatches(catalog, vertical, borrowerOf(complete), someDay);
  return { version: catalogVersion(catalog, 'live'), ids: referenceOrder(matches, 'recommended').slice(0, 20) };
}

/** A service whose live offers come from a file that a test can exchange. */
async function startOnFile(engine: Engine) {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-reload-'));
  const file = join(folder, 'offers.json');
  writeFileSync(file, JSON.stringify(before));
  const market = await RunningMarketplace.start(engine, { catalogs: [{ vertical, mode: 'live', file }, ...sandbox] });
  return {
    market,
    /** As an operator exchanges it: at one stroke. */
    exchange(text: string): void {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    },
    async [Symbol.asyncDispose]() {
      await market.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function assertShows(view: MarketplaceView, { version, ids }: Expected): void {
  assert.equal(view.catalog_version, version);
  assert.deepEqual(
    view.offers.map(({ svc_offer_id }) => svc_offer_id),
    ids,
  );
}

for (const engine of engines) {
  test(`a catalog changes under load without a wrong answer, on ${engine}`, async (t) => {
    const service = await startOnFile(engine);
    t.after(() => service[Symbol.asyncDispose]());
    const { market } = service;
    const caller = market.caller(personalLoansFixture, { limits: { requestsPerMinute: 100_000 } });
    const ask = async () => await caller.offers(await caller.sessionWith('reload', complete), { max_offers: 20 });
    const shownBefore = await ask();
    assertShows(shownBefore, expectedBefore);

    service.exchange(JSON.stringify(after));
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
        // Nobody who asks after an answer on the new one gets the old one.
        assert.ok(!old || asked === 0);
      }
    };
    await Promise.all([keepAsking(), keepAsking(), keepAsking()]);
    assert.deepEqual(
      (await change).map((one) => one.ok && one.changed),
      [true, false],
    );
    // Each of the three has come through at least once while the file was read, checked and compiled.
    assert.ok(onTheOld >= 3, `${onTheOld} answers during the change`);

    assertShows(await ask(), expectedAfter);
    const landing = await caller.click(shownBefore.offers[0]!.click_url);
    assert.equal(landing.status, 302);
    assert.match(landing.headers.get('location') ?? '', new RegExp(`offer=${expectedBefore.ids[0]}&`));
  });

  test(`a faulty file changes nothing, and the next good one is taken, on ${engine}`, async (t) => {
    const service = await startOnFile(engine);
    t.after(() => service[Symbol.asyncDispose]());
    const { market } = service;
    const caller = market.caller(personalLoansFixture);
    const subId = await caller.sessionWith('faulty', complete);
    service.exchange(JSON.stringify(after).replace('"format":1', '"format":2'));
    const [change] = await market.marketplace.reloadCatalogs();
    assert.deepEqual(change, { ok: false, faults: ['format: must be equal to constant'] });
    assertShows(await caller.offers(subId, { max_offers: 20 }), expectedBefore);
    service.exchange(JSON.stringify(after));
    const [next] = await market.marketplace.reloadCatalogs();
    assert.deepEqual(next, { ok: true, version: expectedAfter.version, changed: true });
    assertShows(await caller.offers(subId, { max_offers: 20 }), expectedAfter);
  });

  test(`a service closes while it reads a catalog, on ${engine}`, async (t) => {
    const service = await startOnFile(engine);
    t.after(() => service[Symbol.asyncDispose]());
    service.exchange(JSON.stringify(after));
    const change = service.market.marketplace.reloadCatalogs();
    await service.market.marketplace.close();
    const [live] = await change;
    assert.ok(live !== undefined && !live.ok);
    assert.match(live.faults[0]!, /^catalog: could not be put in use: /);
  });
}

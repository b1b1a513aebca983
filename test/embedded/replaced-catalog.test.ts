import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createMarketplace, type Marketplace, type Result } from '../../src/index.ts';
import { ChangeableCatalogs, withChangedOffers } from '../support/changeable-catalogs.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { findListedOffer, totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const hourMs = 60 * 60 * 1000;

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

/** Shows an offer, replaces the catalog before or during the downtime, and restarts the service. */
async function afterRestart(t: TestContext, changed: 'running' | 'down') {
  const dataDir = temporaryFolder();
  const catalogs = new ChangeableCatalogs(fixture);
  runAfterTest(t, () => {
    rmSync(dataDir, { recursive: true });
    catalogs.removeFiles();
  });
  const clock = new ManualClock();
  const start = (): Promise<Marketplace> =>
    createMarketplace({
      dataDir,
      clock,
      catalogs: catalogs.sources,
      durability: 'write',
      urls: { click: 'https://go.example' },
    });
  const first = await start();
  const { key } = first.keys.create({ account: 'replaced', vertical: 'personal-loans', mode: 'live' });
  const partner = first.partner(key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'replaced' }));
  ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
  const [shown] = ok(await partner.getMarketplace({ sub_id })).offers;
  assert.ok(shown !== undefined);
  catalogs.writeCatalog(withChangedOffers(catalogs.initialCatalog, [shown.svc_offer_id]));
  if (changed === 'running') assert.ok((await first.reloadCatalogs()).every((change) => change.ok && change.changed));
  await first.close();
  const marketplace = await start();
  runAfterTest(t, () => marketplace.close());
  return { clock, marketplace, partner: marketplace.partner(key), shown };
}

for (const changed of ['running', 'down'] as const) {
  test(`a click link keeps its value after a restart if the catalog was replaced while the service was ${changed}`, async (t) => {
    const { clock, marketplace, partner, shown } = await afterRestart(t, changed);
    const outcome = await marketplace.followClick(shown.click_url);
    assert.ok(outcome.kind === 'redirect');
    const [head] = findListedOffer(fixture, shown.svc_offer_id).offer.landing_url.split('{click_id}') as [string];
    assert.ok(outcome.location.startsWith(head), outcome.location);
    const summary = ok(await partner.queryAnalytics({ referrer_tag: 'replaced' }));
    assert.equal(summary.rev_attributed, totalClickUsd(fixture, [shown.svc_offer_id]));
    clock.advance(28 * hourMs - 1);
    assert.equal((await marketplace.followClick(shown.click_url)).kind, 'redirect');
    clock.advance(1);
    assert.equal((await marketplace.followClick(shown.click_url)).kind, 'unknown');
  });
}

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServedProcess } from '../cli/served-process.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { withDailyCap } from '../support/changeable-catalogs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { anySeed, runCrashes } from './crash-run.ts';
import { createPartner } from './server-process.ts';

test('after kill -9 and a restart, every acknowledged change exists exactly once, and nothing else exists', async (t) => {
  const seed = anySeed();
  t.diagnostic(`seed ${seed}`);
  const tally = await runCrashes({ cycles: 3, seed });
  assert.equal(tally.count('kills under load'), 3);
});

test('even if the server is killed twice, exactly as many clicks book revenue as the daily cap allows', async (t) => {
  const [clients, cap, offerId, tag] = [8, 60, 'cobalt-prime', 'capped'];
  const folder = temporaryFolder(t);
  const [dataDir, catalog] = [join(folder, 'data'), join(folder, 'live.json')];
  writeFileSync(catalog, JSON.stringify(withDailyCap(fixture.catalogFiles.live, cap, [offerId])));
  const { key } = await createPartner(dataDir, 'live');
  const serve = async () => {
    const served = new ServedProcess(t, { SVC_DATA_DIR: dataDir, SVC_CATALOG: catalog, SVC_LOG_LEVEL: 'warn' });
    return { served, caller: new ApiCaller(await served.client(t), fixture.vertical.segment, key) };
  };
  /** Clicks the offer with a new session for each click, until the offer is unavailable. Calls `onClick` after each click. */
  const clickAll = async (caller: ApiCaller, onClick: () => void): Promise<void> => {
    for (;;) {
      const subId = await caller.createSessionWithFields(tag, fixture.complete);
      const { offers } = await caller.offers(subId, { max_offers: 20 });
      const offer = offers.find(({ svc_offer_id: id }) => id === offerId);
      if (offer === undefined) return;
      assert.equal((await caller.click(offer.click_url)).status, 302);
      onClick();
    }
  };
  const today = () => new Date().toISOString().slice(0, 10);
  const startedOn = today();

  let answered = 0;
  for (const clicksBeforeKill of [20, 17]) {
    const { served, caller } = await serve();
    let left = clicksBeforeKill;
    const onClick = () => {
      answered++;
      left--;
      if (left === 0) served.signal('SIGKILL');
    };
    const loads = Array.from({ length: clients }, () => clickAll(caller, onClick).catch((error) => error as Error));
    const [outcome] = await Promise.all(loads);
    assert.ok(left <= 0, String(outcome));
    assert.equal((await served.ended).signal, 'SIGKILL');
  }
  assert.ok(answered < cap, 'the server was killed after the cap was reached');

  const { served, caller } = await serve();
  await Promise.all(Array.from({ length: clients }, () => clickAll(caller, () => answered++)));
  const { offer_clicks: clicks, rev_attributed: revenue } = await caller.summary({ referrer_tag: tag });
  assert.equal(await served.stop(), 0);
  if (today() !== startedOn) return t.skip('the cap starts again at midnight');
  // Clicks at the same time as the last one within the cap have no value. Unanswered clicks may count.
  assert.equal(revenue, totalClickUsd(fixture, Array<string>(cap).fill(offerId)));
  assert.ok(clicks >= answered && clicks <= answered + 2 * clients, `${clicks} clicks`);
});

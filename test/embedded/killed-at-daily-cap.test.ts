import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMarketplace, personalLoans, type Result } from '../../src/index.ts';
import { withDailyCap } from '../support/changeable-catalogs.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { totalClickMicros } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const program = fileURLToPath(new URL('programs/click-after-click.ts', import.meta.url));
const offerId = 'cobalt-prime';
const cap = 60;

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

test('clicks count exactly towards a daily cap although the service is killed twice', async (t) => {
  const folder = temporaryFolder();
  runAfterTest(t, () => rmSync(folder, { recursive: true }));
  const [data, live, sandbox] = ['data', 'live.json', 'sandbox.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(live, JSON.stringify(withDailyCap(fixture.catalogFiles.live, cap, [offerId])));
  writeFileSync(sandbox, JSON.stringify(fixture.catalogFiles.test));

  let [key, answered] = ['', 0];
  for (const untilClicks of [20, 17]) {
    const args = [program, data, live, sandbox, offerId, JSON.stringify(fixture.complete), key];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    runAfterTest(t, () => child.kill('SIGKILL'));
    let clicks = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line !== 'clicked') key = line;
      else if (++clicks === untilClicks) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    assert.equal(child.signalCode, 'SIGKILL');
    assert.ok(clicks >= untilClicks);
    answered += clicks;
  }
  assert.ok(answered < cap, 'killed too late to show anything');

  const marketplace = await createMarketplace({
    dataDir: data,
    clock: new ManualClock(Date.UTC(2026, 4, 20, 12, 30)),
    urls: { click: 'https://go.example' },
    catalogs: [
      { vertical: personalLoans, mode: 'live', file: live },
      { vertical: personalLoans, mode: 'test', file: sandbox },
    ],
  });
  runAfterTest(t, () => marketplace.close());
  const partner = marketplace.partner(key);
  const summary = async () => ok(await partner.queryAnalytics({ referrer_tag: 'killed' }));
  const worth = totalClickMicros(fixture, [offerId]) / 1e6;
  // Every acknowledged click is counted, and at most one click per session that was not acknowledged.
  const before = await summary();
  assert.ok(before.offer_clicks >= answered && before.offer_clicks <= answered + 16, `${before.offer_clicks}`);
  assert.equal(before.rev_attributed.toFixed(2), (before.offer_clicks * worth).toFixed(2));

  const links: string[] = [];
  for (let session = 0; session < cap; session++) {
    const { sub_id } = ok(await partner.createSession({ referrer_tag: 'killed' }));
    ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
    const { offers } = ok(await partner.getMarketplace({ sub_id, max_offers: 20 }));
    links.push(offers.find((offer) => offer.svc_offer_id === offerId)?.click_url as string);
  }
  await Promise.all(links.map((url) => marketplace.followClick(url)));
  const after = await summary();
  assert.equal(after.offer_clicks, before.offer_clicks + cap);
  assert.equal(after.rev_attributed.toFixed(2), (cap * worth).toFixed(2));
});

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { catalogOf, goodBorrower, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { browsers } from '../support/browsers.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runMarketplace } from './run-marketplace.ts';
import { ServedProcess } from './served-process.ts';

const segment = 'personal-loans';
const shardCount = 4;
const clicks = 500;

test('500 simultaneous clicks over four processes use up a daily cap and a budget exactly', async (t) => {
  const catalogFolder = temporaryFolder(t);
  // A click on an offer earns 0.75 USD, so the budget is enough for 307 clicks.
  const bands = { '700-749': plainBand({ confirm_rate: 0.0075 }) };
  const offers = [
    plainOffer({ id: 'capped', bands, daily_cap: 203 }),
    plainOffer({ id: 'budgeted', bands, budget: { per_day_usd: 230.75, per_month_usd: 1_000, pacing: 'asap' } }),
  ];
  mkdirSync(catalogFolder, { recursive: true });
  writeFileSync(join(catalogFolder, `${segment}.json`), JSON.stringify(catalogOf(offers)));
  const folder = temporaryFolder(t);
  const settings = { SVC_DATA_DIR: folder, SVC_CATALOG: catalogFolder, SVC_SHARDS: String(shardCount) };
  const served = new ServedProcess(t, { ...settings, SVC_DURABILITY: 'write', SVC_LOG_LEVEL: 'warn' });
  const { public: port } = await served.ports();
  const callers: ApiCaller[] = [];
  for (let account = 0; account < 2 * shardCount; account++) {
    const names = ['--account', `account ${account}`, '--vertical', segment, '--mode', 'live'];
    const created = await runMarketplace(
      ['keys', 'create', ...names, '--requests-per-minute', '100000', '--raw'],
      settings,
    );
    assert.equal(created.code, 0, created.stderr);
    const http = new HttpClient(port);
    runAfterTest(t, () => http.close());
    callers.push(new ApiCaller(http, segment, created.stdout.trim()));
  }
  const links = await Promise.all(
    Array.from({ length: clicks }, async (_, click) => {
      const caller = callers[click % callers.length]!;
      const subId = await caller.createSessionWithFields('shards', goodBorrower);
      return (await caller.offers(subId)).offers.map(({ click_url: url }) => ({ caller, url }));
    }),
  );
  const { userAgent } = browsers[0]!;
  const answers = await Promise.all(
    links.flat().map(({ caller, url }) => caller.click(url, { 'User-Agent': userAgent })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array<number>(2 * clicks).fill(302),
  );
  const totals = { clicks: 0, cap: 0, budget: 0, revenueUsd: 0 };
  for (const caller of callers) {
    const summary = await caller.summary({ referrer_tag: 'shards' });
    totals.clicks += summary.offer_clicks;
    totals.cap += summary.clicks_not_booked.cap;
    totals.budget += summary.clicks_not_booked.budget;
    totals.revenueUsd += summary.rev_attributed;
  }
  assert.deepEqual(totals, { clicks: 2 * clicks, cap: 297, budget: 193, revenueUsd: 0.75 * (203 + 307) });
  assert.equal(await served.stop(), 0);
});

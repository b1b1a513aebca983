import assert from 'node:assert/strict';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConfirmationRow, createMarketplace, type Result } from '../../src/index.ts';
import { afterwards } from '../support/afterwards.ts';
import { lostClickIds } from '../support/click-ids.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

test('includes confirmations in the analytics, also after a rebuild from the ledger', async (t) => {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const clock = new ManualClock();
  const start = () => createMarketplace({ dataDir, clock, durability: 'write', urls: { click: 'https://go.example' } });
  const first = await start();
  afterwards(t, () => first.close());
  const { key } = first.keys.create({ account: 'embedded', vertical: 'personal-loans', mode: 'live' });
  const partner = first.partner(key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'confirmed' }));
  ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id }));
  const click = await first.followClick(offers[0]!.click_url);
  assert.ok(click.kind === 'redirect');
  // Click for which the ledger has no record.
  const lost = { offerId: offers[1]!.svc_offer_id, clickedMs: clock.wallMs(), valueMicros: 1_000_000 };
  const unrecorded = lostClickIds(dataDir)(sub_id, lost);
  clock.advance(20 * 24 * 60 * 60 * 1000);
  const occurred_at = new Date(clock.wallMs()).toISOString();
  const rows: ConfirmationRow[] = [
    { click_id: click.clickId, txid: 'tx-1', status: 'funded', amount: 40, occurred_at },
    { click_id: click.clickId, txid: 'tx-1', status: 'reversed', amount: 10.5, occurred_at },
    { click_id: unrecorded, txid: 'tx-1', status: 'funded', amount: 7, occurred_at },
  ];
  assert.equal(ok(await first.confirmations.submit(rows)).accepted, 3);
  const before = ok(await partner.queryAnalytics({ referrer_tag: 'confirmed' }));
  assert.deepEqual([before.offer_clicks, before.rev_confirmed], [2, 36.5]);
  await first.close();

  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, `analytics.sqlite${suffix}`), { force: true });
  const second = await start();
  afterwards(t, () => second.close());
  const again = second.partner(key);
  assert.deepEqual(ok(await again.queryAnalytics({ referrer_tag: 'confirmed' })), before);
  assert.equal(ok(await second.confirmations.submit(rows)).repeated, 3);
});

test('returns an API error for an invalid batch of confirmations', async (t) => {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const marketplace = await createMarketplace({ dataDir, durability: 'write' });
  afterwards(t, () => marketplace.close());
  const submit = marketplace.confirmations.submit as (rows: unknown) => Promise<Result<unknown>>;
  for (const rows of [undefined, Array.from({ length: 501 }, () => null)]) {
    const result = await submit(rows);
    assert.ok(!result.ok);
    assert.deepEqual([result.error.status, result.error.error, result.error.param], [400, 'INVALID_REQUEST', 'body']);
  }
  for (const rows of [null, 'text', [[]], [Symbol('row')]]) assert.ok((await submit(rows)).ok);
});

test('creates the operator token with the first listener', async (t) => {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const path = join(dataDir, 'operator-token');
  await (await createMarketplace({ dataDir, durability: 'write' })).close();
  assert.equal(existsSync(path), false);
  await (await createMarketplace({ dataDir, durability: 'write', listen: {} })).close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { createMarketplace, type Result } from '../../src/index.ts';
import { widgetEventsRecord, widgetViewedRecord } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { appendToLedger } from './append-to-ledger.ts';
import { marketplaceOnFreshFolder } from './sample-data-folder.ts';

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

/** Creates a data folder with every kind of event that counts, and the analytics store. */
async function createSampleStore(t: TestContext) {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const clock = new ManualClock();
  const marketplace = await createMarketplace({ dataDir: folder, clock });
  const { key } = marketplace.keys.create({ account: 'rebuild', vertical: 'personal-loans', mode: 'live' });
  const partner = marketplace.partner(key);
  const subs: Buffer[] = [];
  for (let serial = 0; serial < 12; serial++) {
    const tag = `variant-${serial % 3}`;
    const { sub_id } = ok(await partner.createSession({ referrer_tag: tag, metadata: { serial } }));
    subs.push(Buffer.from(sub_id.slice('sub_'.length), 'hex'));
    if (serial % 2 === 0) continue;
    ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
    const { offers } = ok(await partner.getMarketplace({ sub_id }));
    const [first, second] = offers;
    for (const offer of [first!, first!, second!]) await marketplace.followClick(offer.click_url);
    clock.advance(24 * 60 * 60 * 1000);
    const confirmation = { sub_id, svc_offer_id: first!.svc_offer_id, txid: `tx-${serial}`, amount: 40.25 };
    const occurred_at = new Date(clock.wallMs()).toISOString();
    const outcome = ok(await marketplace.confirmations.submit([{ ...confirmation, status: 'funded', occurred_at }]));
    assert.equal(outcome.accepted, 1, JSON.stringify(outcome));
  }
  await marketplace.close();
  await appendToLedger(
    folder,
    subs
      .slice(0, 4)
      .flatMap((sub) => [
        widgetViewedRecord(sub, ['shown']),
        widgetViewedRecord(sub, ['shown', 'shown-later'], { again: true }),
        widgetEventsRecord(sub, ['widget_loaded', 'offer_impression', 'offer_impression']),
        widgetEventsRecord(sub, ['offer_click'], { firstEvent: 4, offerId: 'shown' }),
      ]),
  );
  const again = await createMarketplace({ dataDir: folder, clock });
  const figures = ok(await again.partner(key).queryAnalytics({ referrer_tag: 'variant-1', date_from: '2026-05-01' }));
  assert.equal(figures.widget_events.offer_impression, 2);
  await again.close();
  return { folder, run, store: join(folder, 'analytics.sqlite') };
}

/** Returns all rows of a store. Joins the parts of session lists, because the size of the parts depends on the batches. */
function contents(store: string): Record<string, unknown[]> {
  const database = new Database(store, { readonly: true });
  try {
    const select = (sql: string) => database.prepare<[], unknown[]>(sql).raw().all();
    const tables = select(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'cohort_piece'`).flat();
    const rows = tables.map((table) => [table, select(`SELECT * FROM "${table}"`).map(plain).sort()]);
    const lists: Record<string, string> = {};
    const pieces = 'SELECT day, experiment, hex(subs) FROM cohort_piece ORDER BY day, experiment, last_position';
    for (const [day, experiment, subs] of select(pieces)) {
      lists[`${day} ${experiment}`] = `${lists[`${day} ${experiment}`] ?? ''}${subs}`;
    }
    return { ...Object.fromEntries(rows), lists: Object.entries(lists) };
  } finally {
    database.close();
  }
}

function plain(row: unknown[]): unknown[] {
  return row.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : value));
}

test('analytics rebuild', async (t) => {
  const { folder, run, store } = await createSampleStore(t);
  const before = contents(store);

  await t.test('rebuild restores the contents of a changed store from the ledger', async () => {
    assert.equal(before.widget_counter!.length, 4);
    assert.ok(before.payout!.length === 6 && before.click!.length === 12);
    const database = new Database(store);
    database.exec(
      'UPDATE day_counter SET clicks = clicks + 7; DELETE FROM session WHERE views = 0; DELETE FROM widget_counter',
    );
    database.close();
    assert.notDeepEqual(contents(store), before);
    const { code, stdout, stderr } = await run('analytics', 'rebuild');
    assert.deepEqual([code, stdout], [0, `rebuilt ${store} from 58 records\n`]);
    assert.equal(stderr, '  6 not counted: duplicateClicks\n');
    assert.deepEqual(contents(store), before);
  });

  await t.test('rebuild creates a missing store and deletes temporary files of a killed rebuild', async () => {
    for (const name of readdirSync(folder).filter((each) => each.startsWith('analytics.sqlite'))) {
      writeFileSync(join(folder, name), '');
    }
    writeFileSync(`${store}.rebuilt`, 'leftover of a killed run');
    const { code } = await run('analytics', 'rebuild');
    assert.equal(code, 0);
    assert.deepEqual(contents(store), before);
    assert(!existsSync(`${store}.rebuilt`));
  });

  await t.test('rebuild fails and changes nothing while the service runs or if the ledger is damaged', async () => {
    const bytesBefore = readFileSync(store);
    const lock = lockFolder(folder);
    const inUse = await run('analytics', 'rebuild');
    lock.release();
    assert.equal(inUse.code, 1);
    assert.match(inUse.stderr, /in use .*stop it first/);

    const [segment] = readdirSync(join(folder, 'ledger')).sort();
    const path = join(folder, 'ledger', segment!);
    const bytes = readFileSync(path);
    bytes[100]! ^= 1;
    writeFileSync(path, bytes);
    const damaged = await run('analytics', 'rebuild');
    assert.equal(damaged.code, 3);
    assert.match(damaged.stderr, /damaged at byte/);
    assert.deepEqual(readFileSync(store), bytesBefore);
  });
});

test('rebuild reports that the ledger is missing', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { code, stderr } = await run('analytics', 'rebuild');
  assert.equal(code, 1);
  assert.match(stderr, /there is no log at .* yet/);
});

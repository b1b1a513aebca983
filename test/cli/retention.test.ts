import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { dayMs, dayNumberOf, formatIsoDate } from '../../src/domain/calendar.ts';
import { segmentHeaderBytes } from '../../src/event-log/log-format.ts';
import { createMarketplace, type Marketplace, type MarketplaceOptions } from '../../src/index.ts';
import { HttpClient } from '../support/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { figuresInStore } from './figures-in-store.ts';
import { marketplaceOnFreshFolder, ok } from './sample-data-folder.ts';
import { serveMarketplace } from './served-process.ts';

const retentionDays = 140;
const tags = ['variant-a', 'variant-b'];

/**
 * Writes a data folder in five runs of the service, each of which begins a segment of the ledger: sessions of two tags that were
 * shown offers and clicked, at days 0, 3, 60, 149 and 150, and confirmations of the older ones in the later runs.
 */
async function writeHistory(folder: string, startMs: number) {
  const clock = new ManualClock(startMs);
  let key = '';
  const subIds: string[][] = [];
  const clickIds: string[] = [];
  for (const day of [0, 3, 60, 149, 150]) {
    clock.advance(startMs + day * dayMs - clock.wallMs());
    const marketplace = await createMarketplace({ dataDir: folder, clock, durability: 'write' });
    key ||= marketplace.keys.create({ account: 'keeper', vertical: 'personal-loans', mode: 'live' }).key;
    const partner = marketplace.partner(key);
    const ofRun: string[] = [];
    if (day === 0) ok(await partner.createSession({ referrer_tag: 'first-day' }));
    for (let serial = 0; serial < 6; serial++) {
      const { sub_id } = ok(
        await partner.createSession({ referrer_tag: tags[serial % 2]!, metadata: { day, serial } }),
      );
      ofRun.push(sub_id);
      ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
      const { offers } = ok(await partner.getMarketplace({ sub_id }));
      const click = await marketplace.followClick(offers[serial % 3]!.click_url);
      assert.ok(click.kind === 'redirect');
      clickIds.push(click.clickId);
      clock.advance(60_000);
    }
    subIds.push(ofRun);
    // The first session of each run is confirmed in all later runs, including once after its deletion.
    const occurred_at = new Date(clock.wallMs()).toISOString();
    const rows = [0, 6, 12].flatMap((index) => {
      const click_id = clickIds[index];
      const row = { txid: `tx-${day}`, amount: 40.25, status: 'funded', occurred_at } as const;
      return click_id === undefined ? [] : [{ ...row, click_id }];
    });
    ok(await marketplace.confirmations.submit(rows));
    ok(await partner.queryAnalytics({ referrer_tag: tags[0]! }));
    await marketplace.close();
  }
  return { endMs: clock.wallMs(), key, subIds, clickIds };
}

/** Noon 170 days ago, so that the last run was 20 days ago. */
const firstDayMs = (dayNumberOf(Date.now()) - 170) * dayMs + dayMs / 2;
let root = '';
let history: Awaited<ReturnType<typeof writeHistory>>;
before(async () => {
  root = temporaryFolder();
  history = await writeHistory(join(root, 'data'), firstDayMs);
});
after(() => rmSync(root, { recursive: true }));

/** Copies a data folder that the service has used since day 0, and creates a clock at the end of the last run. */
function copyHistory(t: TestContext) {
  const { folder, run } = marketplaceOnFreshFolder(t);
  cpSync(join(root, 'data'), folder, { recursive: true });
  const { endMs, ...others } = history;
  return { folder, run, clock: new ManualClock(endMs), store: join(folder, 'analytics.sqlite'), ...others };
}

/** Returns the analytics of all tags over all dates. */
async function figuresOf(marketplace: Marketplace, key: string, clock: ManualClock, ids: readonly string[]) {
  const partner = marketplace.partner(key);
  const dates = {
    date_from: formatIsoDate(dayNumberOf(clock.wallMs()) - 200),
    date_to: formatIsoDate(dayNumberOf(clock.wallMs())),
  };
  const byTag = [];
  const daily = [];
  const rows = [];
  for (const tag of tags) {
    const {
      sessions_kept_from: _,
      as_of: __,
      ...summary
    } = ok(await partner.queryAnalytics({ referrer_tag: tag, ...dates }));
    byTag.push(summary);
    for (let cursor: string | undefined; ; ) {
      const page = ok(
        await partner.queryAnalytics({ granularity: 'daily', referrer_tag: tag, ...dates, ...(cursor && { cursor }) }),
      );
      daily.push(...page.data);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    rows.push(...ok(await partner.queryAnalytics({ granularity: 'row', referrer_tag: tag, ...dates })).data);
  }
  const byIds = ok(await partner.queryAnalytics({ sub_id_list: ids, ...dates }));
  return { byTag, daily, rows, byIds };
}

/** Starts the service, and stops the service when retention has deleted old segments. */
async function runUntilDeleted(options: MarketplaceOptions, segments: number): Promise<void> {
  const marketplace = await createMarketplace(options);
  await waitUntilDeleted(options.dataDir, segments);
  await marketplace.close();
}

/** Waits for retention, which runs in the background after the start. */
async function waitUntilDeleted(folder: string, segments: number): Promise<void> {
  while (segmentsOf(join(folder, 'ledger')).length > segments) await pause(10);
}

/** Returns the names of the log segments that contain records. */
function segmentsOf(log: string): string[] {
  return readdirSync(log)
    .filter(
      (name) =>
        name.endsWith('.log') && statSync(join(log, name), { throwIfNoEntry: false })?.size !== segmentHeaderBytes,
    )
    .sort();
}

test('retention deletes old records and preserves all analytics by tag, also after a rebuild', async (t) => {
  const { folder, run, clock, key, subIds, clickIds, store } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write' } as const;
  const all = subIds.flat();
  const keeper = await createMarketplace(options);
  const before = await figuresOf(keeper, key, clock, all);
  await keeper.close();
  assert.equal(before.rows.length, 30);
  assert.equal(before.byIds.sessions_total, 30);
  assert.equal(before.byIds.sessions_kept_from, null);
  assert.equal(before.byTag[0]!.rev_confirmed, 7 * 40.25);

  // Day 150: sessions of days 0 and 3 are older than 140 days.
  const first = await createMarketplace({ ...options, retentionDays });
  await waitUntilDeleted(folder, 3);
  const after = await figuresOf(first, key, clock, all);
  assert.deepEqual(after.byTag, before.byTag);
  assert.deepEqual(after.daily, before.daily);
  const kept = subIds.slice(2).flat();
  assert.deepEqual(after.rows.map(({ sub_id }) => sub_id).sort(), kept.sort());
  assert.equal(after.byIds.sessions_total, 18);
  assert.equal(after.byIds.ids_outside_dates, 0);
  assert.equal(after.byIds.sessions_kept_from, formatIsoDate(dayNumberOf(firstDayMs) + 150 - retentionDays));

  // Confirmations of a deleted session are rejected as too late; a newer session is unchanged.
  const late = {
    txid: 'tx-late',
    amount: 1,
    status: 'funded',
    occurred_at: new Date(clock.wallMs()).toISOString(),
  } as const;
  const { results } = ok(
    await first.confirmations.submit([
      { ...late, click_id: clickIds[0]! },
      { ...late, click_id: clickIds[19]! },
    ]),
  );
  assert.deepEqual(results, [
    { index: 0, outcome: 'rejected', reason: 'too_late' },
    { index: 1, outcome: 'accepted' },
  ]);
  const settled = await figuresOf(first, key, clock, all);
  await first.close();

  const stored = figuresInStore(store);
  assert.equal((stored.sessions as unknown[]).length, 18);
  assert.equal((stored.clicks as unknown[]).length, 18);
  assert.equal((stored.metadata as unknown[]).length, 18);
  const rebuilt = await run('analytics', 'rebuild');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.doesNotMatch(rebuilt.stderr, /leave/);
  assert.deepEqual(figuresInStore(store), stored);

  // Deleted sessions stay deleted if the store is rebuilt and retention is disabled.
  for (const suffix of ['', '-wal', '-shm']) rmSync(store + suffix, { force: true });
  const second = await createMarketplace({ ...options, maxReferrerTags: 3 });
  assert.deepEqual(await figuresOf(second, key, clock, all), settled);
  // A tag still counts towards the limit of tags when all of its sessions are deleted.
  const fourth = await second.partner(key).createSession({ referrer_tag: 'variant-c' });
  assert.ok(!fourth.ok && fourth.error.error === 'TAG_LIMIT_EXCEEDED');
  ok(await second.partner(key).createSession({ referrer_tag: 'first-day' }));
  await second.close();

  const { code, stdout } = await run('log', 'verify', join(folder, 'sealed'));
  assert.deepEqual([code, /state +intact$/m.test(stdout)], [0, true]);
});

test('a deleted archive is written again from the analytics store', async (t) => {
  const { folder, run, clock, store } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write', retentionDays } as const;
  const sealed = join(folder, 'sealed');
  await runUntilDeleted(options, 3);
  const stored = figuresInStore(store);
  rmSync(sealed, { recursive: true });
  const again = await createMarketplace(options);
  while (!existsSync(sealed) || readdirSync(sealed).length === 0) await pause(10);
  await again.close();
  assert.deepEqual(segmentsOf(sealed), ['0000000000000001.log']);
  const rebuilt = await run('analytics', 'rebuild');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.deepEqual(figuresInStore(store), stored);

  // If both the store and the archive are missing, the missing analytics are reported.
  rmSync(sealed, { recursive: true });
  const incomplete = await run('analytics', 'rebuild');
  assert.equal(incomplete.code, 0);
  assert.match(incomplete.stderr, /ledger records 1 to \d+ are missing and not archived; the figures leave them out/);
});

test('a damaged archive causes an error that names the file, and the store remains unchanged', async (t) => {
  const { folder, run, clock, store } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write', retentionDays } as const;
  await runUntilDeleted(options, 3);
  const stored = figuresInStore(store);
  const [name] = segmentsOf(join(folder, 'sealed'));
  const file = join(folder, 'sealed', name!);
  const whole = readFileSync(file);
  const damaged = Buffer.from(whole);
  damaged[200]! ^= 1;
  writeFileSync(file, damaged);
  await assert.rejects(createMarketplace(options), (error: Error) => error.message.includes(file));
  const refused = await run('analytics', 'rebuild');
  assert.deepEqual([refused.code, refused.stderr.includes(file)], [3, true]);
  assert.deepEqual(figuresInStore(store), stored);
  writeFileSync(file, whole);
  await (await createMarketplace(options)).close();
  assert.deepEqual(figuresInStore(store), stored);
});

test('a rebuild finds damage in an older archive segment before it replaces the store', async (t) => {
  const { folder, clock, store } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write' } as const;
  await runUntilDeleted({ ...options, retentionDays: 148 }, 4);
  await runUntilDeleted({ ...options, retentionDays }, 3);
  const sealings = segmentsOf(join(folder, 'sealed'));
  assert.equal(sealings.length, 2);
  const file = join(folder, 'sealed', sealings[0]!);
  const damaged = readFileSync(file);
  damaged[200]! ^= 1;
  writeFileSync(file, damaged);
  const database = new Database(store);
  const days = database.prepare('SELECT * FROM day_counter').all();
  database.pragma('user_version = 1');
  database.close();
  await assert.rejects(createMarketplace(options), (error: Error) => error.message.includes(file));
  const kept = new Database(store);
  assert.deepEqual(kept.prepare('SELECT * FROM day_counter').all(), days);
  kept.close();
});

test('a backup that copies the ledger before the archive has complete analytics even if retention runs meanwhile', async (t) => {
  const { folder, clock, key, subIds } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write' } as const;
  const backup = join(folder, '..', 'backup');
  mkdirSync(backup);
  const copy = (...names: string[]) => {
    for (const name of names) cpSync(join(folder, name), join(backup, name), { recursive: true });
  };
  copy('ledger');
  const service = await createMarketplace({ ...options, retentionDays });
  await waitUntilDeleted(folder, 3);
  const figures = await figuresOf(service, key, clock, subIds.flat());
  await service.close();
  copy('sealed', 'journal', 'keys.sqlite', 'secrets.json');
  const restored = await createMarketplace({ ...options, dataDir: backup });
  assert.deepEqual(await figuresOf(restored, key, clock, subIds.flat()), figures);
  await restored.close();
});

test('a ledger that ends before the deleted records is logged, and retention deletes no further records', async (t) => {
  const { folder, clock, key, store } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write', retentionDays } as const;
  await runUntilDeleted(options, 3);
  // Simulates a repair that removed all segments, because the oldest segment header was damaged.
  for (const name of readdirSync(join(folder, 'ledger'))) rmSync(join(folder, 'ledger', name));
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
  for (let run = 0; run < 3; run++) {
    const marketplace = await createMarketplace({ ...options, logger });
    const partner = marketplace.partner(key);
    await partner.createSession({ referrer_tag: 'after' });
    assert.equal(ok(await partner.queryAnalytics({ referrer_tag: 'after' })).sessions_total, run + 1);
    await marketplace.close();
  }
  assert.match(logged.join(''), /ledger ends before record \d+/);
  assert.equal(segmentsOf(join(folder, 'ledger')).length, 3);
  assert.equal((figuresInStore(store).sessions as unknown[]).length, 3);
});

test('paging through rows works without duplicates while retention deletes sessions', async (t) => {
  const { folder, clock, key, subIds } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write' } as const;
  const query = {
    granularity: 'row',
    referrer_tag: tags[0]!,
    limit: 2,
    date_from: formatIsoDate(dayNumberOf(clock.wallMs()) - 200),
  } as const;
  const first = await createMarketplace(options);
  const page = ok(await first.partner(key).queryAnalytics(query));
  await first.close();
  assert.equal(page.sessions_kept_from, null);
  const second = await createMarketplace({ ...options, retentionDays });
  await waitUntilDeleted(folder, 3);
  const seen: string[] = [];
  for (let cursor = page.next_cursor; cursor !== null; ) {
    const next = ok(await second.partner(key).queryAnalytics({ ...query, cursor }));
    assert.notEqual(next.sessions_kept_from, null);
    seen.push(...next.data.map(({ sub_id }) => sub_id));
    cursor = next.next_cursor;
  }
  await second.close();
  assert.deepEqual(
    seen,
    subIds.slice(2).flatMap((ids) => ids.filter((_, serial) => serial % 2 === 0)),
  );
});

test('a failed write of the archive is logged, and retention deletes nothing', async (t) => {
  const { folder, clock, key, subIds } = copyHistory(t);
  const options = { dataDir: folder, clock, durability: 'write', retentionDays } as const;
  mkdirSync(join(folder, 'sealed', '0000000000000001.log.new'), { recursive: true });
  const logged = Promise.withResolvers<string>();
  const logger = pino({ level: 'warn' }, { write: logged.resolve });
  const marketplace = await createMarketplace({ ...options, logger });
  assert.match(await logged.promise, /could not be deleted/);
  const { rows, byIds } = await figuresOf(marketplace, key, clock, subIds.flat());
  assert.deepEqual([rows.length, byIds.sessions_total, byIds.sessions_kept_from], [30, 30, null]);
  assert.deepEqual(marketplace.notReadyReasons(), []);
  await marketplace.close();
  assert.equal(segmentsOf(join(folder, 'ledger')).length, 5);
});

test('the server deletes sessions older than SVC_RETENTION_DAYS', async (t) => {
  const { folder, key } = copyHistory(t);
  const server = await serveMarketplace(folder, { SVC_RETENTION_DAYS: '140' });
  await waitUntilDeleted(folder, 3);
  // The last sessions are 20 days old, so the ledger has no record of those 20 days.
  const [keptFrom, from] = [
    formatIsoDate(dayNumberOf(firstDayMs) + 150 - 140),
    formatIsoDate(dayNumberOf(Date.now()) - 200),
  ];
  const path = `/v1/personal-loans/analytics?referrer_tag=variant-a&date_from=${from}`;
  const http = new HttpClient(server.port);
  runAfterTest(t, () => http.close());
  const ask = async (more = '') => {
    const { text } = await http.send({ path: path + more, headers: { authorization: `Bearer ${key}` } });
    return JSON.parse(text) as Record<string, unknown>;
  };
  const summary = await ask();
  const rows = await ask('&granularity=row');
  await server.stop();
  assert.deepEqual([summary.sessions_total, summary.sessions_kept_from], [15, keptFrom]);
  assert.deepEqual([(rows.data as unknown[]).length, rows.sessions_kept_from], [9, keptFrom]);
  assert.equal((figuresInStore(join(folder, 'analytics.sqlite')).sessions as unknown[]).length, 18);
});

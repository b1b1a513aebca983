import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { daysSinceEpoch, formatIsoDate, msPerDay } from '../../src/domain/calendar.ts';
import { segmentHeaderLength } from '../../src/event-log/log-format.ts';
import { createMarketplace, DataMissingError, type Marketplace, type MarketplaceOptions } from '../../src/index.ts';
import { embeddedOptions, ok } from '../embedded/embedded-marketplace.ts';
import { damageByte } from '../event-log/log-fixture.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { figuresInStore } from './figures-in-store.ts';
import { marketplaceOnFreshFolder } from './sample-data-folder.ts';
import { ServedProcess } from './served-process.ts';

const retentionDays = 140;
const tags = ['variant-a', 'variant-b'];

/**
 * Writes a data folder in five runs of the service, at days 0, 3, 60, 149 and 150. Each run begins a segment of the ledger and creates
 * sessions of two referrer tags with views and clicks. Later runs confirm clicks of earlier runs.
 */
async function writeHistory(folder: string, startMs: number) {
  const clock = new ManualClock(startMs);
  let key = '';
  const subIds: string[][] = [];
  const clickIds: string[] = [];
  for (const day of [0, 3, 60, 149, 150]) {
    clock.advance(startMs + day * msPerDay - clock.wallMs());
    const marketplace = await createMarketplace({ ...embeddedOptions, dataDir: folder, clock });
    key ||= marketplace.keys.create({ account: 'keeper', vertical: 'personal-loans', mode: 'live' }).key;
    const partner = marketplace.partnerApi(key);
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

/** Time of the first run: noon 170 days ago. The last run was therefore 20 days ago. */
const firstDayMs = (daysSinceEpoch(Date.now()) - 170) * msPerDay + msPerDay / 2;
let root = '';
let history: Awaited<ReturnType<typeof writeHistory>>;
before(async () => {
  root = temporaryFolder();
  history = await writeHistory(join(root, 'data'), firstDayMs);
});

/** Copies the data folder of `writeHistory`. `open` starts the service at the time at which the last run ended. */
function copyHistory(t: TestContext) {
  const { folder, run } = marketplaceOnFreshFolder(t);
  cpSync(join(root, 'data'), folder, { recursive: true });
  const { endMs, key, subIds, clickIds } = history;
  const clock = new ManualClock(endMs);
  const open = (options: Partial<MarketplaceOptions> = {}) =>
    createMarketplace({ ...embeddedOptions, dataDir: folder, clock, ...options });
  /** Runs the service until retention has deleted all segments except this number of segments. */
  const runUntilDeleted = async (segments: number, days = retentionDays): Promise<void> => {
    const marketplace = await open({ retentionDays: days });
    await waitUntilDeleted(folder, segments);
    await marketplace.close();
  };
  return { folder, run, clock, open, runUntilDeleted, key, subIds, clickIds, store: join(folder, 'analytics.sqlite') };
}

/** Returns the analytics of all referrer tags for all dates. */
async function figuresOf(marketplace: Marketplace) {
  const partner = marketplace.partnerApi(history.key);
  const [date_from, date_to] = [daysSinceEpoch(history.endMs) - 200, daysSinceEpoch(history.endMs)].map(formatIsoDate);
  const dates = { date_from: date_from!, date_to: date_to! };
  const byTag = [];
  const daily = [];
  const rows = [];
  for (const referrer_tag of tags) {
    const query = { referrer_tag, ...dates };
    const { sessions_kept_from: _, as_of: __, ...summary } = ok(await partner.queryAnalytics(query));
    byTag.push(summary);
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = ok(await partner.queryAnalytics({ granularity: 'daily', ...query, ...(cursor && { cursor }) }));
      daily.push(...page.data);
      cursor = page.next_cursor;
    }
    rows.push(...ok(await partner.queryAnalytics({ granularity: 'row', ...query })).data);
  }
  const byIds = ok(await partner.queryAnalytics({ sub_id_list: history.subIds.flat(), ...dates }));
  return { byTag, daily, rows, byIds };
}

/** Waits until the background retention has deleted all segments except this number of segments. */
async function waitUntilDeleted(folder: string, segments: number): Promise<void> {
  while (segmentsOf(join(folder, 'ledger')).length > segments) await pause(10);
}

/** Returns the names of the log segments that contain records. */
function segmentsOf(log: string): string[] {
  const sizeOf = (name: string) => statSync(join(log, name), { throwIfNoEntry: false })?.size;
  return readdirSync(log)
    .filter((name) => name.endsWith('.log') && sizeOf(name) !== segmentHeaderLength)
    .sort();
}

test('retention deletes old records and preserves all analytics by tag, also after a rebuild', async (t) => {
  const { folder, run, clock, open, key, subIds, clickIds, store } = copyHistory(t);
  const keeper = await open();
  const before = await figuresOf(keeper);
  await keeper.close();
  assert.deepEqual([before.rows.length, before.byIds.sessions_total, before.byIds.sessions_kept_from], [30, 30, null]);
  assert.equal(before.byTag[0]!.rev_confirmed, 7 * 40.25);

  // Day 150: sessions of days 0 and 3 are older than 140 days.
  const first = await open({ retentionDays });
  await waitUntilDeleted(folder, 3);
  const after = await figuresOf(first);
  assert.deepEqual([after.byTag, after.daily], [before.byTag, before.daily]);
  assert.deepEqual(after.rows.map(({ sub_id }) => sub_id).sort(), subIds.slice(2).flat().sort());
  const { sessions_total, ids_outside_dates, sessions_kept_from } = after.byIds;
  assert.deepEqual(
    [sessions_total, ids_outside_dates, sessions_kept_from],
    [18, 0, formatIsoDate(daysSinceEpoch(firstDayMs) + 150 - retentionDays)],
  );

  // Confirmations of a deleted session are rejected as too late; a newer session is unchanged.
  const late = {
    txid: 'tx-late',
    amount: 1,
    status: 'funded',
    occurred_at: new Date(clock.wallMs()).toISOString(),
  } as const;
  const rows = [clickIds[0]!, clickIds[19]!].map((click_id) => ({ ...late, click_id }));
  assert.deepEqual(ok(await first.confirmations.submit(rows)).results, [
    { index: 0, outcome: 'rejected', reason: 'too_late' },
    { index: 1, outcome: 'accepted', payout: { state: 'funded', amount: 1 } },
  ]);
  const settled = await figuresOf(first);
  await first.close();

  const stored = figuresInStore(store);
  for (const table of ['sessions', 'clicks', 'metadata']) assert.equal((stored[table] as unknown[]).length, 18, table);
  const rebuilt = await run('analytics', 'rebuild');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.doesNotMatch(rebuilt.stderr, /leave/);
  assert.deepEqual(figuresInStore(store), stored);

  // Deleted sessions stay deleted if the store is rebuilt and retention is disabled.
  for (const suffix of ['', '-wal', '-shm']) rmSync(store + suffix, { force: true });
  const second = await open({ maxReferrerTags: 3 });
  assert.deepEqual(await figuresOf(second), settled);
  // A tag still counts towards the limit of tags when all of its sessions are deleted.
  const fourth = await second.partnerApi(key).createSession({ referrer_tag: 'variant-c' });
  assert.ok(!fourth.ok && fourth.error.error === 'TAG_LIMIT_EXCEEDED');
  ok(await second.partnerApi(key).createSession({ referrer_tag: 'first-day' }));
  await second.close();

  const { code, stdout } = await run('log', 'verify', join(folder, 'sealed'));
  assert.deepEqual([code, /state +intact$/m.test(stdout)], [0, true]);
});

test('the service recreates a deleted archive from the analytics store', async (t) => {
  const { folder, run, open, runUntilDeleted, store } = copyHistory(t);
  const sealed = join(folder, 'sealed');
  await runUntilDeleted(3);
  const stored = figuresInStore(store);
  rmSync(sealed, { recursive: true });
  const again = await open({ retentionDays });
  while (!existsSync(sealed) || readdirSync(sealed).length === 0) await pause(10);
  await again.close();
  assert.deepEqual(segmentsOf(sealed), ['0000000000000001.log']);
  const rebuilt = await run('analytics', 'rebuild');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.deepEqual(figuresInStore(store), stored);

  // If both the store and the archive are missing, the missing analytics are reported.
  rmSync(sealed, { recursive: true });
  const refused = await run('analytics', 'rebuild');
  assert.match(refused.stderr, /records from 1 on are not in .*--accept-missing-ledger --yes/);
  assert.deepEqual(figuresInStore(store), stored);
  assert.equal((await run('log', 'repair', '--accept-missing-ledger', '--yes')).code, 0);
  const incomplete = await run('analytics', 'rebuild');
  assert.equal(incomplete.code, 0);
  assert.match(incomplete.stderr, /ledger records 1 to \d+ are missing and not archived; the figures leave them out/);
});

test('a damaged archive causes an error that names the file, and the store remains unchanged', async (t) => {
  const { folder, run, open, runUntilDeleted, store } = copyHistory(t);
  await runUntilDeleted(4, 148);
  await runUntilDeleted(3);
  const stored = figuresInStore(store);
  const files = segmentsOf(join(folder, 'sealed')).map((name) => join(folder, 'sealed', name));
  assert.equal(files.length, 2);
  const setStoreVersion = (version: number) => {
    const database = new Database(store);
    const before = database.pragma('user_version', { simple: true });
    database.pragma(`user_version = ${version}`);
    database.close();
    return before as number;
  };
  // A store of another version is rebuilt at the start, which reads the older segment too.
  const version = setStoreVersion(1);
  for (const [file, storeVersion] of [
    [files[0]!, 1],
    [files[1]!, version],
  ] as const) {
    setStoreVersion(storeVersion);
    const whole = readFileSync(file);
    damageByte(file, 200);
    await assert.rejects(open({ retentionDays }), (error: Error) => error.message.includes(file));
    const refused = await run('analytics', 'rebuild');
    assert.deepEqual([refused.code, refused.stderr.includes(file)], [3, true]);
    assert.deepEqual(figuresInStore(store), stored);
    writeFileSync(file, whole);
  }
  await (await open({ retentionDays })).close();
  assert.deepEqual(figuresInStore(store), stored);
});

test('a backup has complete analytics even if retention runs while the backup is copied', async (t) => {
  const { folder, open } = copyHistory(t);
  const backup = join(folder, '..', 'backup');
  mkdirSync(backup);
  const copy = (...names: string[]) => {
    for (const name of names) cpSync(join(folder, name), join(backup, name), { recursive: true });
  };
  copy('ledger');
  const service = await open({ retentionDays });
  await waitUntilDeleted(folder, 3);
  const figures = await figuresOf(service);
  await service.close();
  copy('sealed', 'journal', 'keys.sqlite', 'secrets.json');
  const restored = await open({ dataDir: backup });
  assert.deepEqual(await figuresOf(restored), figures);
  await restored.close();
});

test('if the end of the ledger is missing, the service logs the gap and retention deletes no further records', async (t) => {
  const { folder, run: runCommand, open, runUntilDeleted, key, store } = copyHistory(t);
  await runUntilDeleted(3);
  // Simulates a repair that removed all segments, because the oldest segment header was damaged.
  for (const name of readdirSync(join(folder, 'ledger'))) rmSync(join(folder, 'ledger', name));
  await assert.rejects(open({ retentionDays }), DataMissingError);
  assert.equal((await runCommand('log', 'repair', '--accept-missing-ledger', '--yes')).code, 0);
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  for (let run = 0; run < 3; run++) {
    const marketplace = await open({ retentionDays, logger });
    const partner = marketplace.partnerApi(key);
    await partner.createSession({ referrer_tag: 'after' });
    assert.equal(ok(await partner.queryAnalytics({ referrer_tag: 'after' })).sessions_total, run + 1);
    await marketplace.close();
  }
  assert.match(lines.join(''), /ledger ends before record \d+/);
  assert.equal(segmentsOf(join(folder, 'ledger')).length, 3);
  assert.equal((figuresInStore(store).sessions as unknown[]).length, 3);
});

test('paging through rows works without duplicates while retention deletes sessions', async (t) => {
  const { folder, clock, open, key, subIds } = copyHistory(t);
  const date_from = formatIsoDate(daysSinceEpoch(clock.wallMs()) - 200);
  const query = { granularity: 'row', referrer_tag: tags[0]!, limit: 2, date_from } as const;
  const first = await open();
  const page = ok(await first.partnerApi(key).queryAnalytics(query));
  await first.close();
  assert.equal(page.sessions_kept_from, null);
  const second = await open({ retentionDays });
  await waitUntilDeleted(folder, 3);
  const seen: string[] = [];
  for (let cursor = page.next_cursor; cursor !== null; ) {
    const next = ok(await second.partnerApi(key).queryAnalytics({ ...query, cursor }));
    assert.notEqual(next.sessions_kept_from, null);
    seen.push(...next.data.map(({ sub_id }) => sub_id));
    cursor = next.next_cursor;
  }
  await second.close();
  const ofTag = subIds.slice(2).flatMap((ids) => ids.filter((_, serial) => serial % 2 === 0));
  assert.deepEqual(seen, ofTag);
});

test('if the archive of analytics counters cannot be written, retention logs the error and deletes nothing', async (t) => {
  const { folder, open } = copyHistory(t);
  mkdirSync(join(folder, 'sealed', '0000000000000001.log.new'), { recursive: true });
  const logged = Promise.withResolvers<void>();
  const write = (line: string) => {
    if (line.includes('could not be deleted')) logged.resolve();
  };
  const marketplace = await open({ retentionDays, logger: pino({ level: 'warn' }, { write }) });
  await logged.promise;
  const { rows, byIds } = await figuresOf(marketplace);
  assert.deepEqual([rows.length, byIds.sessions_total, byIds.sessions_kept_from], [30, 30, null]);
  assert.deepEqual(marketplace.notReadyReasons(), []);
  await marketplace.close();
  assert.equal(segmentsOf(join(folder, 'ledger')).length, 5);
});

test('the server deletes sessions older than SVC_RETENTION_DAYS', async (t) => {
  const { folder, key } = copyHistory(t);
  const server = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_RETENTION_DAYS: '140' });
  const http = await server.client(t);
  await waitUntilDeleted(folder, 3);
  const caller = new ApiCaller(http, 'personal-loans', key);
  // The last sessions are 20 days old, so the ledger has no record of those 20 days.
  const keptFrom = formatIsoDate(daysSinceEpoch(firstDayMs) + 150 - 140);
  const query = { referrer_tag: 'variant-a', date_from: formatIsoDate(daysSinceEpoch(Date.now()) - 200) };
  const summary = await caller.summary(query);
  const rows = await caller.rows(query);
  await server.stop();
  assert.deepEqual([summary.sessions_total, summary.sessions_kept_from], [15, keptFrom]);
  assert.deepEqual([rows.data.length, rows.sessions_kept_from], [9, keptFrom]);
  assert.equal((figuresInStore(join(folder, 'analytics.sqlite')).sessions as unknown[]).length, 18);
});

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { ok } from '../embedded/embedded-marketplace.ts';
import { assertFailed } from './run-marketplace.ts';
import { createSampleData } from './sample-data-folder.ts';

const forHero = ['--account', 'acme', '--tag', 'hero-short'];
const linesOf = (text: string): unknown[] => JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`);

test('analytics commands on the data folder of a service', async (t) => {
  const { folder, run, partner, marketplace } = await createSampleData(t);
  // The API responds only when the store has counted all earlier events.
  ok(await partner.queryAnalytics({ referrer_tag: 'hero-short' }));
  const expectedTags = ok(await partner.listTags()).data.map((tag) => ({ ...tag, as_of_position: 7 }));
  assert.equal(expectedTags.length, 2);

  await t.test('the analytics commands print tables and the position of the last counted record', async () => {
    const [summary, daily, sessions, none, tags] = await Promise.all([
      run('analytics', 'summary', ...forHero),
      run('analytics', 'daily', ...forHero),
      run('analytics', 'sessions', ...forHero),
      run('analytics', 'sessions', ...forHero, '--mode', 'test'),
      run('analytics', 'tags'),
    ]);
    assert.match(summary.stdout, /^tag {9}hero-short\n.*\nas of {7}record 7 of the ledger, .*\nsessions {4}2\n/);
    assert.match(summary.stdout, /\nLENDER +CLICKS +CONFIRMED USD\n/);
    assert.match(tags.stdout, /^ACCOUNT +VERTICAL +MODE +TAGS\nacme +personal-loans +live +2\n$/);
    assert.equal(tags.stderr, 'Counts are as of record 7 of the ledger.\n');
    assert.match(daily.stdout, /^DATE .*\n(\d{4}-.*\n){31}\nFigures are as of record 7 of the ledger\. /);
    assert.match(sessions.stdout, /^CREATED .*\n20\d\d-.* {2}sub_[0-9a-f]{64} .*\n.*\n$/);
    assert.equal(sessions.stderr, '2 sessions, as of record 7 of the ledger.\n');
    assert.deepEqual([none.stdout, none.stderr], ['', 'No sessions found, as of record 7 of the ledger.\n']);
  });

  await t.test('the commands print the same figures as the API, also after the service has stopped', async () => {
    const query = { referrer_tag: 'hero-short' };
    const expected = {
      summary: ok(await partner.queryAnalytics(query)),
      daily: ok(await partner.queryAnalytics({ ...query, granularity: 'daily' })).data,
      sessions: ok(await partner.queryAnalytics({ ...query, granularity: 'row' })).data,
    };
    const compare = async (): Promise<void> => {
      const [summary, daily, sessions] = await Promise.all(
        ['summary', 'daily', 'sessions'].map((kind) => run('analytics', kind, ...forHero, '--json')),
      );
      const { as_of_position: position, ...figures } = JSON.parse(summary!.stdout);
      assert.deepEqual(figures, expected.summary);
      assert.equal(position, 7);
      assert.deepEqual([summary!.code, summary!.stderr], [0, '']);
      const withPosition = (items: readonly object[]) => items.map((item) => ({ ...item, as_of_position: 7 }));
      assert.deepEqual(linesOf(daily!.stdout), withPosition(expected.daily));
      assert.deepEqual(linesOf(sessions!.stdout), withPosition(expected.sessions));
      const tags = await run('analytics', 'tags', '--json');
      const expectedTags = { account: 'acme', vertical: 'personal-loans', mode: 'live', tags: 2, as_of_position: 7 };
      assert.deepEqual(JSON.parse(tags.stdout), [expectedTags]);
    };
    await compare();
    await marketplace.close();
    await compare();
  });

  await t.test('marketplace tags prints the tags with the same figures as the API', async () => {
    const [tags, json, none] = await Promise.all([
      run('tags', '--account', 'acme'),
      run('tags', '--account', 'acme', '--json'),
      run('tags', '--account', 'acme', '--mode', 'test'),
    ]);
    assert.deepEqual(linesOf(json.stdout), expectedTags);
    assert.match(
      tags.stdout,
      /^FIRST SESSION +LAST SESSION +SESSIONS +VIEWS +CLICKS +ATTRIBUTED USD +CONFIRMED USD +TAG\n(20\d\d-.*Z {2}20\d\d-.*Z .*\n){2}$/,
    );
    assert.equal(tags.stderr, '2 tags, as of record 7 of the ledger.\n');
    assert.deepEqual([none.stdout, none.stderr], ['', 'No tags found, as of record 7 of the ledger.\n']);
    assertFailed(await run('tags', '--account', 'other'), 1, /^marketplace: unknown account;[^\n]*\n$/);
  });

  await t.test('an invalid query or unusable store is reported in one line', async () => {
    const store = join(folder, 'analytics.sqlite');
    const failing = async (code: number, message: RegExp, ...args: string[]): Promise<void> => {
      assertFailed(await run('analytics', 'summary', ...(args.length > 0 ? args : forHero)), code, message);
    };
    await failing(1, /^marketplace: unknown account;[^\n]*\n$/, '--account', 'other', '--tag', 'abc');
    await failing(2, /must not be after/, ...forHero, '--from', '2026-02-01', '--to', '2026-01-01');
    const database = new Database(store);
    database.pragma('user_version = 99');
    database.close();
    await failing(1, /^marketplace: .* has schema version 99; .*analytics rebuild\n$/);
    writeFileSync(store, 'not a database, but long enough to be read as one'.repeat(100));
    await failing(1, /^marketplace: .* cannot be read \(.*analytics rebuild\n$/);
    rmSync(store);
    await failing(1, /^marketplace: there are no analytics in .* yet \(see SVC_DATA_DIR\)\n$/);
  });
});

import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { auditLogPath } from '../../src/audit/sqlite-audit-log.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { tryKeyFile } from '../../src/http/routes/operator/try-key-file.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { ChangeableCatalogs, withDailyCap } from '../support/changeable-catalogs.ts';
import type { HttpRequest } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

interface LogLine {
  readonly msg: string;
  readonly problem?: string;
  readonly err?: { readonly type: string; readonly code?: string; readonly message?: string };
  readonly [member: string]: unknown;
}

const catalogPath = `/catalogs/${fixture.vertical.segment}/live`;

/** Sets bounds until the end of the test. */
function setBounds(t: TestContext, changed: Partial<Record<keyof typeof bounds, number>>): void {
  const before = { ...bounds };
  Object.assign(bounds, changed);
  t.after(() => Object.assign(bounds, before));
}

describe('a failure of the operations API leaves a log line', () => {
  const catalogs = new ChangeableCatalogs(fixture);
  let market: RunningMarketplace;
  let lines: LogLine[] = [];
  before(async () => {
    const logger = pino({ level: 'info', base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
    market = await RunningMarketplace.start('uws', { catalogs: catalogs.sources, logger });
    catalogs.writeCatalog(withDailyCap(catalogs.initialCatalog, 5));
    await market.marketplace.reloadCatalogs();
  });
  after(() => market.close());
  beforeEach(() => {
    lines = [];
    market.clock.advance(bounds.incompleteAnswerLogIntervalMs);
  });

  const ask = (path: string, more: Partial<HttpRequest> & { readonly json?: unknown } = {}) =>
    askOperator(market, { path, ...more });
  const problemLines = () => lines.filter(({ problem }) => problem !== undefined);

  /** Asserts that the only line with a problem is a warning about the request, and returns it. */
  function findProblem(route: string, status: number, problem: RegExp): LogLine {
    const [line, ...others] = problemLines();
    assert.deepEqual(others, []);
    assert.deepEqual([line?.route, line?.status, line?.level], [route, status, 40]);
    assert.match(line?.problem ?? '', problem);
    return line!;
  }

  async function readPreviousFile(): Promise<string> {
    const { previous_version } = assertOk<{ previous_version: string }>(await ask(`${catalogPath}/changes`));
    return join(market.folder, 'catalogs', `${previous_version}.json`);
  }

  test('about a comparison of catalogs that takes long, whose result a later request gets', async (t) => {
    setBounds(t, { catalogComparisonWaitMs: 1 });
    const { message } = assertError(await ask(`${catalogPath}/changes`), 'SERVICE_UNAVAILABLE');
    assert.match(message, /^The versions are still being compared/);
    findProblem('catalogs', 503, /still being compared/);
    Object.assign(bounds, { catalogComparisonWaitMs: 600_000 });
    const { offers } = assertOk<{ offers: { changed: number } }>(await ask(`${catalogPath}/changes`));
    assert.ok(offers.changed > 0);
  });

  test('about an archived catalog that is missing or damaged', async () => {
    const file = await readPreviousFile();
    const text = readFileSync(file, 'utf8');
    for (const [damage, expected] of [
      [() => rmSync(file), { code: 'ENOENT' }],
      [
        () => writeFileSync(file, text.slice(0, -9)),
        { message: `archived catalog ${basename(file, '.json')} is damaged: it is not JSON` },
      ],
    ] as const) {
      await market.restart();
      damage();
      lines = [];
      const answer = await ask(`${catalogPath}/changes`);
      const { message } = assertError(answer, 'SERVICE_UNAVAILABLE');
      assert.match(message, /^The versions cannot be compared, because the archive .* cannot be read/);
      assert.equal(answer.headers.get('retry-after'), String(bounds.archiveRetryAfterSeconds));
      const { err } = findProblem('catalogs', 503, /restore it from a backup/);
      assert.partialDeepStrictEqual(err, expected);
      writeFileSync(file, text);
      lines = [];
      assertOk(await ask(`${catalogPath}/changes`));
      assert.deepEqual(problemLines(), []);
    }
  });

  test('about unavailable analytics, once for several answers', async (t) => {
    setBounds(t, { analyticsQueryTimeoutMs: 50 });
    const store = new Database(dataPaths(market.folder).analyticsStoreFile);
    t.after(() => store.close());
    store.exec('BEGIN IMMEDIATE');
    assertOk(await market.caller(fixture).post('session', { referrer_tag: 'not-counted' }));
    const readTotals = async () => {
      const { data } = assertOk<{ data: { last_30_days: unknown }[] }>(await ask(`${catalogPath}/offers?limit=1`));
      return data[0]!.last_30_days;
    };
    for (let i = 0; i < 3; i++) assert.equal(await readTotals(), null);
    const { msg } = findProblem('catalogs', 200, /figures of offers are missing/);
    assert.equal(msg, 'answer incomplete');
    market.clock.advance(bounds.incompleteAnswerLogIntervalMs);
    assert.equal(await readTotals(), null);
    assert.equal(problemLines().length, 2);
    store.exec('ROLLBACK');
  });

  test('about a disk whose space cannot be read', async (t) => {
    const headers = { Authorization: `Bearer ${market.operatorToken}` };
    const moved = `${market.folder}-moved`;
    // A query waits until the aggregator has applied the ledger, which it could not read from the moved folder.
    assertOk(await market.caller(fixture).get('tags', ''));
    // The token is read again only after an interval of the clock, so the next requests need no token file.
    assertOk(await market.operations.send({ path: '/status', headers }));
    renameSync(market.folder, moved);
    t.after(() => renameSync(moved, market.folder));
    const status = assertOk<{ disk: unknown }>(await market.operations.send({ path: '/status', headers }));
    assert.equal(status.disk, null);
    assert.equal(findProblem('status', 200, /disk cannot be read/).err?.code, 'ENOENT');
    lines = [];
    const metrics = await market.operations.send({ path: '/metrics' });
    assert.ok(!metrics.text.includes('\nmarketplace_data_disk_free_bytes '));
    assert.equal(findProblem('metrics', 200, /metrics are missing/).err?.code, 'ENOENT');
  });

  test('about an audit log that cannot be read or written', async (t) => {
    const file = new Database(auditLogPath(market.folder));
    t.after(() => file.close());
    file.exec('ALTER TABLE entries RENAME TO moved');
    for (const [path, route] of [
      ['/audit', 'audit'],
      ['/confirmations', 'confirmations'],
    ] as const) {
      assertError(await ask(path), 'SERVICE_UNAVAILABLE');
      findProblem(route, 503, /audit log cannot be read/);
      lines = [];
    }
    for (const path of ['/keys', '/confirmations']) {
      const json = path === '/keys' ? { account: 'a', vertical: fixture.vertical.segment, mode: 'test' } : [{}];
      assertError(await ask(path, { method: 'POST', json }), 'SERVICE_UNAVAILABLE');
      findProblem(path.slice(1), 503, /see the log line "audit log could not be written"/);
      // The reason is logged for the first failed change.
      assert.equal(
        lines.filter(({ msg }) => msg === 'audit log could not be written').length,
        path === '/keys' ? 1 : 0,
      );
      lines = [];
    }
    file.exec('ALTER TABLE moved RENAME TO entries');
    assertOk(await ask('/audit'));
    assert.deepEqual(problemLines(), []);
  });

  test('about a key file that is locked', async (t) => {
    const { id } = market.issueKey(fixture, { account: 'locked' });
    const file = new Database(keyFilePath(market.folder));
    t.after(() => file.close());
    file.exec('BEGIN IMMEDIATE');
    const origin = 'https://shop.example.com';
    for (const [route, method, path, json] of [
      ['keys', 'POST', '/keys', { account: 'a', vertical: fixture.vertical.segment, mode: 'test' }],
      ['keys', 'DELETE', `/keys/${id}`, undefined],
      ['origins', 'POST', '/origins', { account: 'locked', origins: [origin] }],
      ['origins', 'DELETE', `/origins?account=locked&origin=${origin}`, undefined],
    ] as const) {
      lines = [];
      assertError(await ask(path, { method, json }), 'SERVICE_UNAVAILABLE');
      assert.equal(findProblem(route, 503, /key file is locked/).err?.code, 'SQLITE_BUSY');
    }
  });

  test('about a key file that cannot be read', async (t) => {
    const file = new Database(keyFilePath(market.folder));
    t.after(() => file.close());
    file.exec('ALTER TABLE keys RENAME TO moved');
    for (const path of ['/keys', '/keys/key_000000000000']) {
      lines = [];
      assert.equal((await ask(path)).status, 500);
      const [line, ...others] = lines.filter(({ route }) => route === 'keys');
      assert.deepEqual([line?.msg, line?.level, others], ['request failed', 50, []]);
      assert.match(line?.err?.message ?? '', /no such table/);
    }
    file.exec('ALTER TABLE moved RENAME TO keys');
  });
});

test('a key file that cannot be written is reported with its cause', () => {
  const cause = new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
  const result = tryKeyFile(() => {
    throw cause;
  });
  assert.ok(!result.ok);
  assert.equal(result.error.code, 'SERVICE_UNAVAILABLE');
  assert.match(result.error.problem?.text ?? '', /key file cannot be written; check the space/);
  assert.equal(result.error.problem?.cause, cause);
});

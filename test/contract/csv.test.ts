import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { OfferAnalytics } from '../../src/index.ts';
import { type ApiCaller, assertError, assertOk, type Query } from '../support/api-caller.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type Engine, RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

async function start(t: TestContext, engine: Engine, options: StartOptions = {}): Promise<ApiCaller> {
  const market = await RunningMarketplace.start(engine, options);
  runAfterTest(t, () => market.close());
  return market.caller(fixture);
}

const csv = { Accept: 'text/csv' };

/** Reads a CSV response as one object for each line. Checks its headers. */
function assertCsv({ status, headers, text }: HttpResponse): Readonly<Record<string, string>>[] {
  assert.equal(status, 200, text);
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.match(headers.get('vary') ?? '', /\bAccept\b/);
  assert.match(text, /^[a-z0-9_.,]+\r\n/);
  return parse(text, { columns: true, record_delimiter: '\r\n' });
}

/** Requests all pages of a query as CSV, by the links in the responses. Returns the lines of all pages. */
async function readAllPages(caller: ApiCaller, query: Query) {
  const lines: Readonly<Record<string, string>>[] = [];
  let answer = await caller.get('analytics', query, csv);
  for (;;) {
    lines.push(...assertCsv(answer));
    const link = answer.headers.get('link');
    if (link === undefined) return lines;
    const [, reference] = /^<([^<>\s]+)>; rel="next"$/.exec(link) ?? assert.fail(link);
    const url = new URL(reference!, `http://localhost${caller.basePath}/analytics?ignored`);
    answer = await caller.http.send({
      path: url.pathname + url.search,
      headers: { ...csv, Authorization: `Bearer ${caller.key}` },
    });
  }
}

for (const engine of ['uws', 'node'] as const) {
  test(`returns the same days, rows and offers as CSV and as JSON (${engine})`, async (t) => {
    const caller = await start(t, engine);
    const hostile = { '=cmd|calc': '@SUM(1)', line: 'a\r\n"b",c', emoji: '😀', minus: -1 };
    // A tag may begin with a hyphen, which is the start of a formula.
    const tag = '-1-tag';
    await caller.createSessionWithClicks(tag, fixture.complete, 2, { metadata: hostile });
    await caller.createSession(tag);
    await caller.createSession(tag, { metadata: {} });

    const { data: rows } = await caller.rows({ referrer_tag: tag });
    const rowLines = await readAllPages(caller, { referrer_tag: tag, granularity: 'row', limit: 1 });
    assert.deepEqual(
      rowLines.map((line) => ({
        ...line,
        referrer_tag: line.referrer_tag!.slice(1),
        metadata: line.metadata === '' ? null : JSON.parse(line.metadata!),
        lenders: JSON.parse(line.lenders!),
      })),
      rows.map(({ metadata, lenders, ...row }) => ({
        ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
        metadata,
        lenders,
      })),
    );
    assert.deepEqual([rowLines[0]!.referrer_tag, JSON.parse(rowLines[0]!.metadata!)], [`'${tag}`, hostile]);

    const { data: days } = await caller.daily({ referrer_tag: tag });
    const dayLines = await readAllPages(caller, { referrer_tag: tag, granularity: 'daily', limit: 10 });
    assert.equal(days.length, 31);
    const { data: offers } = assertOk<OfferAnalytics>(
      await caller.get('analytics', { referrer_tag: tag, granularity: 'offer' }),
    );
    const offerLines = await readAllPages(caller, { referrer_tag: tag, granularity: 'offer', limit: 1 });
    assert.ok(offers.length > 1);
    assert.deepEqual(
      offerLines.map((line) => ({ ...line, shown_by_position: JSON.parse(line.shown_by_position!) })),
      offers.map(({ shown_by_position, ...offer }) => ({
        ...Object.fromEntries(Object.entries(offer).map(([name, value]) => [name, String(value)])),
        shown_by_position,
      })),
    );

    const flatten = (value: object, prefix = ''): [string, string][] =>
      Object.entries(value).flatMap(([name, item]) =>
        typeof item === 'object' ? flatten(item, `${prefix}${name}.`) : [[prefix + name, String(item)]],
      );
    assert.deepEqual(
      dayLines,
      days.map((day) => Object.fromEntries(flatten(day))),
    );
  });

  test(`the Accept header selects JSON or CSV, and errors and summaries are JSON (${engine})`, async (t) => {
    const caller = await start(t, engine);
    const daily = { referrer_tag: 'negotiated', granularity: 'daily' };
    const preferCsv = [
      'text/csv',
      'TEXT/CSV; header=present',
      'text/csv, */*;q=0.1',
      'text/*',
      'text/csv, application/json;q=0.9',
      'application/json;q=0.2, text/*;q=0.3',
      '*/*, application/json;q=0.5',
    ];
    for (const Accept of preferCsv) assertCsv(await caller.get('analytics', daily, { Accept }));
    const preferJson = [
      '',
      '*/*',
      'application/json',
      'text/csv, application/json',
      'text/csv;q=0.5, application/*',
      'text/html',
      'text/csv;q=0',
      'text/csv;q=abc',
      'text/csv;q=2, application/json;q=0.1',
      'text/csv, */*',
      'text/csv;q=0, text/*',
      `text/csv${', x/y'.repeat(300)}`,
    ];
    for (const Accept of preferJson) {
      const answer = await caller.get('analytics', daily, { Accept });
      assertOk(answer);
      assert.equal(answer.headers.get('vary'), 'Accept');
    }
    assert.equal((await caller.get('analytics', daily)).headers.get('vary'), 'Accept');
    assertOk(await caller.get('analytics', { referrer_tag: 'negotiated' }, csv));
    assertOk(await caller.get('tags', {}, csv));
    assertError(await caller.get('analytics', { ...daily, limit: 0 }, csv), 'INVALID_REQUEST', 'limit');
    const head = await caller.get('analytics', daily, csv, 'HEAD');
    assert.deepEqual([head.text, head.headers.get('content-type')], ['', 'text/csv; charset=utf-8; header=present']);
  });

  test(`a CSV page without rows has the header line (${engine})`, async (t) => {
    const caller = await start(t, engine);
    const answer = await caller.get('analytics', { referrer_tag: 'nobody', granularity: 'row' }, csv);
    assert.deepEqual(assertCsv(answer), []);
    assert.match(answer.text, /^sub_id,referrer_tag,[^\n]*,lenders\r\n$/);
    assert.equal(answer.headers.has('link'), false);
  });
}

test('a CSV response lists Origin and Accept in Vary, and pages of an allowed origin can read the link', async (t) => {
  const origin = 'https://reports.example';
  const caller = await start(t, 'uws', { corsOrigins: [origin] });
  const query = { referrer_tag: 'cross-origin', granularity: 'daily', limit: 1 };
  const answer = await caller.get('analytics', query, { ...csv, Origin: origin });
  assertCsv(answer);
  assert.equal(answer.headers.get('vary'), 'Origin, Accept');
  assert.match(answer.headers.get('access-control-expose-headers') ?? '', /\bLink\b/);
});

test('the next page of a long list of ids is available only as JSON', async (t) => {
  const caller = await start(t, 'uws');
  const { sub_id } = await caller.createSession('long-list');
  await caller.createSession('long-list');
  const listOf = (ids: number) => ({
    granularity: 'daily',
    limit: 1,
    sub_id_list: Array<string>(ids).fill(sub_id).join(','),
  });
  assert.equal(
    (await readAllPages(caller, { ...listOf(80), date_from: '2026-11-01', date_to: '2026-11-03' })).length,
    3,
  );
  assertError(await caller.get('analytics', listOf(90), csv), 'INVALID_REQUEST', 'Accept');
  assertOk(await caller.get('analytics', listOf(90)));
});

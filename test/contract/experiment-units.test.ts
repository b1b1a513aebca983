import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExperimentUnitsResponse } from '../../src/index.ts';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type Engine, RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

const dayMs = 24 * 60 * 60 * 1000;

const definition = {
  arms: ['units-a', 'units-b'].map((tag) => ({ referrer_tag: tag, weight: 0.5 })),
  control: 'units-a',
  starts_on: '2026-05-20',
};

const units = (caller: ApiCaller, query = '', headers = {}): Promise<HttpResponse> =>
  caller.http.send({
    path: `${caller.basePath}/experiments/hero-test/units?${query}`,
    headers: { Authorization: `Bearer ${caller.key}`, ...headers },
  });
const readUnits = async (caller: ApiCaller, query = ''): Promise<ExperimentUnitsResponse> =>
  assertOk(await units(caller, query));

/** Returns the rows of the JSON pages with one unit each. Calls `between` after each page. */
async function readPages(caller: ApiCaller, between: () => void): Promise<ExperimentUnitsResponse['data']> {
  const rows: ExperimentUnitsResponse['data'][number][] = [];
  let query = 'limit=1';
  for (;;) {
    const { as_of, data, has_more, next_cursor } = await readUnits(caller, query);
    assert.equal(as_of, '2026-07-12');
    assert.equal(has_more, next_cursor !== null);
    rows.push(...data);
    if (next_cursor === null) return rows;
    query = `limit=1&cursor=${next_cursor}`;
    between();
  }
}

/** Returns the lines of the CSV pages with one unit each, which the header `Link` connects, with the header line once. */
async function readCsvPages(caller: ApiCaller): Promise<string[]> {
  const lines: string[] = [];
  let query: string | undefined = 'limit=1';
  while (query !== undefined) {
    const { status, headers, text } = await units(caller, query, { Accept: 'text/csv' });
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    lines.push(...text.split('\r\n').slice(lines.length === 0 ? 0 : 1, -1));
    query = /^<\?(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  }
  return lines;
}

const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();

for (const unit of ['visitor', 'session'] as const) {
  for (const engine of ['uws', 'node'] as const satisfies readonly Engine[]) {
    test(`lists each ${unit} of an experiment without ids, in JSON and CSV pages, on ${engine}`, async (t) => {
      const market = await RunningMarketplace.start(engine);
      runAfterTest(t, () => market.close());
      const caller = market.caller(personalLoansFixture);
      assertOk(await caller.send('PUT', 'experiments/hero-test', { ...definition, unit }));
      const { subId, clicked } = await caller.createSessionWithClicks('units-b', personalLoansFixture.complete, 1, {
        unit_id: 'visitor-2',
      });
      await caller.createSession('units-a', { unit_id: 'visitor-1' });
      market.clock.advance(dayMs);
      await caller.createSession('units-b', { unit_id: 'visitor-1' });
      await caller.createSession('units-b', { unit_id: 'visitor-3' });
      const occurred_at = new Date(market.clock.wallMs()).toISOString();
      const offer = { sub_id: subId, svc_offer_id: clicked[0]!.svc_offer_id };
      const payout = { ...offer, txid: 'tx-1', status: 'funded', amount: 180.5, occurred_at } as const;
      assert.ok((await market.marketplace.confirmations.submit([payout])).ok);
      assert.deepEqual(
        (await readUnits(caller)).data.map(({ revenue }) => revenue),
        [null, null],
      );
      // The sessions of the first day are mature in the results of the last closed day.
      market.clock.advance(53 * dayMs);

      const row = (
        arm: string,
        first: string,
        sessions: number,
        clicks: number,
        mature: number,
        revenue: number | null,
      ) => ({
        arm,
        first_day: first,
        sessions,
        clicks,
        mature_sessions: mature,
        revenue,
        mature: mature > 0,
      });
      const [dayOne, dayTwo] = ['2026-05-20', '2026-05-21'];
      const expected = [
        row('units-b', dayOne, 1, 1, 1, 180.5),
        ...(unit === 'visitor'
          ? [row('units-a', dayOne, 2, 0, 1, 0)]
          : [row('units-a', dayOne, 1, 0, 1, 0), row('units-b', dayTwo, 1, 0, 0, null)]),
        row('units-b', dayTwo, 1, 0, 0, null),
      ];
      const { data, ...rest } = await readUnits(caller);
      assert.deepEqual(rest, {
        name: 'hero-test',
        as_of: '2026-07-12',
        sessions_kept_from: null,
        has_more: false,
        next_cursor: null,
      });
      assert.deepEqual(sorted(data), sorted(expected));
      const csv = await readCsvPages(caller);
      assert.equal(csv[0], 'arm,first_day,sessions,clicks,mature_sessions,revenue,mature');
      assert.deepEqual(csv.slice(1).sort(), expected.map((each) => Object.values(each).join(',')).sort());
      // The day of the figures stays the same, also if another day closes between two pages.
      assert.deepEqual(sorted(await readPages(caller, () => market.clock.advance(dayMs))), sorted(expected));
    });
  }
}

test('the units are those of the tenant, and a cursor is valid for one experiment', async (t) => {
  const market = await RunningMarketplace.start('uws');
  runAfterTest(t, () => market.close());
  const caller = market.caller(personalLoansFixture);
  const other = market.caller(personalLoansFixture, { account: 'another account' });
  for (const each of [caller, other]) {
    assertOk(await each.send('PUT', 'experiments/hero-test', { ...definition, unit: 'session' }));
  }
  for (let session = 0; session < 2; session++) await caller.createSession('units-a');
  market.clock.advance(dayMs);
  const { next_cursor: cursor } = await readUnits(caller, 'limit=1');
  assert.deepEqual((await readUnits(other)).data, []);
  assertError(await units(other, `cursor=${cursor}`), 'INVALID_REQUEST', 'cursor');
  assertError(await caller.send('GET', 'experiments/other-test/units'), 'NOT_FOUND');
  const second = {
    ...definition,
    arms: definition.arms.map((arm) => ({ ...arm, referrer_tag: `${arm.referrer_tag}2` })),
  };
  assertOk(await caller.send('PUT', 'experiments/other-test', { ...second, control: 'units-a2', unit: 'session' }));
  assertError(await caller.send('GET', `experiments/other-test/units?cursor=${cursor}`), 'INVALID_REQUEST', 'cursor');
  for (const text of ['', 'x', `${cursor}x`, 'x'.repeat(5_000)]) {
    assertError(await units(caller, `cursor=${text}`), 'INVALID_REQUEST', 'cursor');
  }
  for (const limit of ['0', '2001', '-1', '1.5', '', 'all']) {
    assertError(await units(caller, `limit=${limit}`), 'INVALID_REQUEST', 'limit');
  }
  // A deleted experiment can be read.
  assertOk(await caller.send('DELETE', 'experiments/hero-test'));
  assert.equal((await readUnits(caller, 'limit=2000')).data.length, 2);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { bounds } from '../../src/bounds.ts';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { describeError } from '../../src/logging/describe-error.ts';
import { encodeMatchBatch } from '../../src/matching/match-batch.ts';
import type { MatchRequest, Ranking } from '../../src/matching/matcher.ts';
import { PoolMatcher, type PoolMatcherOptions } from '../../src/matching/pool-matcher.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { matchBatch } from '../../workers/match.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, packed, today } from './loan-fixtures.ts';

const smallOffers = 60;
const compile = (catalog: CatalogFile, vertical: Vertical) =>
  compileCatalog(catalog, builtInVerticals.withProduct(vertical), { mode: 'live' });
const compileLoans = (seed: number, offers = smallOffers) => compile(generateCatalog(seed, offers), personalLoans);
const loans = compileLoans(1);
const catalogs = [
  loans,
  compileLoans(2, smallOffers + 1),
  compile(JSON.parse(equipmentLeaseCatalog('live')), equipmentLeases),
] as const;
const borrower = borrowerOf(goodBorrower);
const requestTo = (catalog: MatchRequest['catalog']): MatchRequest => ({ catalog, borrower, today });
const request = requestTo(loans);

function expectedRanking({ version, tables }: CompiledCatalog, who = borrower, unavailable: Int32Array | null = null) {
  return {
    catalogVersion: version,
    ...packed(rankLoans(tables as LoanTables, who, today, unavailable)),
  } satisfies Ranking;
}

async function openPool(options: PoolMatcherOptions) {
  const errors: unknown[] = [];
  const batches: number[] = [];
  const events: string[] = [];
  const pool = await PoolMatcher.start({
    ...options,
    onThreadExit: () => events.push('exit'),
    onThreadReplaced: () => events.push('replaced'),
    onError: (error) => errors.push(error),
    onBatchSent: (requests) => batches.push(requests),
  });
  return { pool, errors, batches, events };
}

async function openPoolFor(context: TestContext, options: Partial<PoolMatcherOptions> = {}) {
  // On a busy machine, the start of a replacement thread takes seconds, and counts toward the time of a batch.
  const fixture = await openPool({ threads: 1, batchTimeoutMs: 60_000, ...options });
  context.after(() => fixture.pool.close());
  return fixture;
}

const terminate = (workers: readonly Worker[]) => Promise.all(workers.map((worker) => worker.terminate()));

describe('startMatcher', () => {
  test('ranks the offers of a small catalog in the calling thread, and the offers of a larger catalog in a worker', async () => {
    const matcher = await startMatcher({ threads: 1, inThreadOffersMax: smallOffers });
    const [small, large] = catalogs;
    assert.deepEqual(matcher.match(requestTo(small)), expectedRanking(small));
    assert.equal(matcher.pendingRequestCount, 0);
    const ranking = matcher.match(requestTo(large));
    assert.ok(ranking instanceof Promise);
    assert.deepEqual([matcher.pendingRequestCount, matcher.readyThreadCount], [1, 1]);
    assert.deepEqual(await ranking, expectedRanking(large));
    await matcher.close();
    for (const catalog of [small, large]) assert.equal(await matcher.match(requestTo(catalog)), null);
  });

  test('without worker threads, ranks the offers of every catalog in the calling thread', async () => {
    const matcher = await startMatcher({ threads: 0, inThreadOffersMax: 0 });
    for (const catalog of catalogs) assert.deepEqual(matcher.match(requestTo(catalog)), expectedRanking(catalog));
    assert.equal(matcher.readyThreadCount, 0);
    await matcher.close();
    assert.equal(matcher.match(request), null);
  });

  test('fails if a thread cannot load its file', async () => {
    const workerFile = new URL('missing-match.cjs', import.meta.url);
    await assert.rejects(startMatcher({ threads: 2, workerFile }), { code: 'ERR_MODULE_NOT_FOUND' });
  });
});

describe('matcher pool of two threads', () => {
  let fixture: Awaited<ReturnType<typeof openPool>>;
  before(async () => {
    fixture = await openPool({ threads: 2 });
  });
  after(() => fixture.pool.close());

  test('ranks concurrent requests with different catalogs, verticals and sets of unavailable offers', async () => {
    const { pool } = fixture;
    const random = seededRandom(2);
    const requests = Array.from({ length: 300 }, (_, at) => {
      const catalog = catalogs[at % 3]!;
      const words = Math.ceil(catalog.offers.length / 32);
      const unavailable = at % 4 === 0 ? null : Int32Array.from({ length: words }, () => random() * 2 ** 32);
      return { catalog, unavailable, borrower: randomBorrower(random, catalog.vertical) };
    });
    const rankings = await Promise.all(
      requests.map(({ catalog, ...rest }) => pool.match({ ...requestTo(catalog), ...rest })),
    );
    for (const [at, { catalog, unavailable, borrower: who }] of requests.entries()) {
      assert.deepEqual(rankings[at], expectedRanking(catalog, who, unavailable));
    }
    assert.ok(rankings.filter((ranking) => ranking!.total > 0).length > 50);
    assert.deepEqual([pool.pendingRequestCount, pool.readyThreadCount, fixture.errors], [0, 2, []]);
  });

  test('changing the borrower array after calling pool.match does not affect the ranking', async () => {
    const changing = [...borrower];
    const ranking = fixture.pool.match({ ...request, borrower: changing });
    changing.fill(-1);
    assert.deepEqual(await ranking, expectedRanking(loans));
  });

  test('rejects a request whose ranking fails, ranks the other requests of the batch, and does not log the error message', async () => {
    const damaged = { ...loans, version: 'damaged', tables: { ...loans.tables, rangeFilters: null as never } };
    const [failed, ranked] = await Promise.allSettled(
      [damaged, loans].map((each) => fixture.pool.match(requestTo(each))),
    );
    assert.ok(failed?.status === 'rejected' && ranked?.status === 'fulfilled');
    assert.equal(describeError(failed.reason).message, undefined);
    assert.deepEqual(ranked.value, expectedRanking(loans));
  });

  test('ranks with more catalog versions than a thread caches', async () => {
    const many = Array.from({ length: bounds.matchWorkerCatalogsMax + 4 }, (_, seed) => compileLoans(100 + seed, 20));
    for (const each of [...many, ...many, null]) {
      const versions = each === null ? many : [each];
      const rankings = await Promise.all(versions.map((catalog) => fixture.pool.match(requestTo(catalog))));
      assert.deepEqual(
        rankings,
        versions.map((catalog) => expectedRanking(catalog)),
      );
    }
  });
});

test('a matching thread asks for the tables of a catalog version only if it does not have the tables', () => {
  const batch = encodeMatchBatch({
    requests: catalogs.map(({ version }) => [version, today, ...borrower]),
    unavailable: [],
  });
  const versions = catalogs.map(({ version }) => version);
  const [first, ...others] = catalogs.map(({ version, tables }) => [version, tables] as const);
  assert.deepEqual(matchBatch({ batch, catalogs: new Map() }), { missing: versions });
  assert.deepEqual(matchBatch({ batch, catalogs: new Map([first!]) }), { missing: versions.slice(1) });
  const answer = matchBatch({ batch, catalogs: new Map(others) });
  assert.ok('results' in answer);
  assert.deepEqual(matchBatch({ batch, catalogs: new Map() }), answer);
});

describe('queue of a matcher pool', () => {
  let fixture: Awaited<ReturnType<typeof openPool>>;
  before(async () => {
    fixture = await openPool({ threads: 1 });
  });
  beforeEach(() => void fixture.batches.splice(0));
  after(() => fixture.pool.close());

  test('reports the size of each batch', async () => {
    const { pool, batches } = fixture;
    const count = bounds.matchBatchRequestsMax + 3;
    await Promise.all(Array.from({ length: count }, () => pool.match(request)));
    assert.deepEqual(batches, [bounds.matchBatchRequestsMax, 3]);
  });

  test('while the queue is full, returns null for new requests and still ranks the queued requests', async () => {
    const { pool } = fixture;
    const pending = Array.from({ length: bounds.matchQueueRequestsMax + 10 }, () => pool.match(request));
    assert.equal(pool.pendingRequestCount, bounds.matchQueueRequestsMax);
    const rejected = (await Promise.all(pending)).map((ranking) => ranking === null);
    assert.ok(!rejected.slice(0, -10).includes(true));
    assert.ok(!rejected.slice(-10).includes(false));
  });

  test('does not send a request to a matching thread if the request was cancelled in the queue', async () => {
    const { pool, batches } = fixture;
    const signal = { ended: false };
    const first = pool.match(request);
    await new Promise(setImmediate);
    // The worker is busy with the first request.
    assert.deepEqual(batches, [1]);
    const cancelled = Array.from({ length: 3 * bounds.matchBatchRequestsMax }, () =>
      pool.match({ ...request, signal }),
    );
    const later = [pool.match(request), pool.match({ ...request, signal: { ended: false } })];
    signal.ended = true;
    for (const ranking of await Promise.all([first, ...later])) assert.notEqual(ranking, null);
    assert.deepEqual(batches, [1, 2]);
    assert.ok((await Promise.all(cancelled)).every((ranking) => ranking === null));
    assert.equal(pool.pendingRequestCount, 0);
  });

  test('removes cancelled requests from the front of a full queue', async () => {
    const { pool } = fixture;
    const signal = { ended: false };
    const cancelled = Array.from({ length: 3 }, () => pool.match({ ...request, signal }));
    const accepted = Array.from({ length: bounds.matchQueueRequestsMax - 3 }, () => pool.match(request));
    const refused = pool.match(request);
    signal.ended = true;
    accepted.push(...[1, 2, 3].map(() => pool.match(request)));
    for (const ranking of await Promise.all(accepted)) assert.notEqual(ranking, null);
    assert.deepEqual(await Promise.all([refused, ...cancelled]), [null, null, null, null]);
  });

  test('when the pool closes, returns null for queued requests and ranks the requests in progress', async (context) => {
    // With four threads, Piscina's own `close` terminates the threads that are still busy.
    const { pool, errors, batches, events } = await openPoolFor(context, { threads: 4 });
    const pending = Array.from({ length: 500 }, () => pool.match(request));
    await new Promise(setImmediate);
    const sent = batches.reduce((sum, size) => sum + size, 0);
    await Promise.all([pool.close(), pool.close()]);
    const rankings = await Promise.all(pending);
    assert.ok(sent > 0 && sent < 500);
    assert.deepEqual(
      rankings.map((ranking) => ranking === null),
      rankings.map((_, at) => at >= sent),
    );
    assert.deepEqual([pool.pendingRequestCount, pool.readyThreadCount], [0, 0]);
    assert.equal(await pool.match(request), null);
    assert.deepEqual([errors, events], [[], []]);
  });
});

describe('matcher pool after a worker exits', () => {
  test('ranks every request even if each worker exits once', async (context) => {
    const { pool, errors } = await openPoolFor(context, { threads: 2 });
    const pending = Array.from({ length: 400 }, () => pool.match(request));
    await new Promise(setImmediate);
    await terminate(pool.workers);
    for (const ranking of await Promise.all(pending)) assert.deepEqual(ranking, expectedRanking(loans));
    assert.ok(errors.length > 0);
  });

  test('returns null for a request after two workers exited while ranking the request', async (context) => {
    // A worker that exits before it is ready is replaced only after the time of its batch.
    const { pool } = await openPoolFor(context, { batchTimeoutMs: 10_000 });
    const pending = Array.from({ length: 10 }, () => pool.match(request));
    while (pool.pendingRequestCount > 0) {
      await terminate(pool.workers);
      await new Promise(setImmediate);
    }
    assert.deepEqual(await Promise.all(pending), new Array(10).fill(null));
    assert.notEqual(await pool.match(request), null);
  });

  test('replaces workers that exit while idle', async (context) => {
    const { pool, batches, events, errors } = await openPoolFor(context, { threads: 2 });
    await terminate(pool.workers);
    assert.equal(pool.readyThreadCount, 0);
    for (const catalog of catalogs) {
      const who = randomBorrower(seededRandom(1), catalog.vertical);
      assert.deepEqual(await pool.match({ ...requestTo(catalog), borrower: who }), expectedRanking(catalog, who));
    }
    while (pool.readyThreadCount < 2) await new Promise(setImmediate);
    assert.deepEqual(events.toSorted(), ['exit', 'exit', 'replaced', 'replaced']);
    assert.deepEqual([batches, errors], [[1, 1, 1], []]);
  });

  test('if one of two threads exits and cannot be replaced, the other thread ranks all requests', async (context) => {
    const { pool, events } = await openPoolFor(context, { threads: 2 });
    const allowStarts = preventStarts(context);
    await pool.workers[0]!.terminate();
    while (events.length < 3) {
      assert.notEqual(await pool.match(request), null);
      assert.equal(pool.readyThreadCount, 1);
    }
    allowStarts();
    while (pool.readyThreadCount < 2) assert.notEqual(await pool.match(request), null);
  });

  test('match returns null while no thread can be started', async (context) => {
    const { pool, batches } = await openPoolFor(context, { batchTimeoutMs: 100 });
    const allowStarts = preventStarts(context);
    await terminate(pool.workers);
    assert.equal(await pool.match(request), null);
    assert.deepEqual(batches, [1, 1]);
    allowStarts();
    while ((await pool.match(request)) === null);
    assert.equal(pool.readyThreadCount, 1);
  });

  test('the matcher pool can be closed while a replacement thread starts', async (context) => {
    const { pool, events } = await openPoolFor(context);
    const next = once(process, 'worker');
    await terminate(pool.workers);
    await next;
    const pending = pool.match(request);
    await pool.close();
    assert.equal(await pending, null);
    assert.deepEqual(pool.workers, []);
    assert.deepEqual(events, ['exit']);
  });

  for (const [fault, faultyDate, batchTimeoutMs, expected] of [
    ['does not answer', 19_700_101, 1_500, { message: 'a batch of match requests timed out' }],
    ['runs out of memory', 19_700_102, 60_000, { code: 'ERR_WORKER_OUT_OF_MEMORY' }],
  ] as const) {
    test(`replaces a thread that ${fault}, and returns null for the request after the second attempt`, async (context) => {
      const workerFile = new URL('faulty-match.cts', import.meta.url);
      const { pool, errors, events } = await openPoolFor(context, { workerFile, batchTimeoutMs });
      assert.equal(await pool.match({ ...request, today: faultyDate }), null);
      assert.equal(errors.length, 2);
      while ((await pool.match(request)) === null);
      // Each thread that exits is replaced. A second attempt that times out before its thread is ready ends no thread.
      assert.ok(events.length >= 2);
      assert.deepEqual(
        events,
        Array.from(events, (_, at) => (at % 2 === 0 ? 'exit' : 'replaced')),
      );
      for (const error of errors.slice(0, 2))
        assert.throws(() => {
          throw error;
        }, expected);
    });
  }
});

/** Terminates every worker thread when it is created, until the returned function is called. */
function preventStarts(context: TestContext): () => void {
  const end = (worker: Worker): void => void worker.terminate();
  const stop = () => void process.off('worker', end);
  process.on('worker', end);
  context.after(stop);
  return stop;
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { bounds } from '../../src/bounds.ts';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { describeError } from '../../src/logging/describe-error.ts';
import type { MatchRequest, Ranking } from '../../src/matching/matcher.ts';
import { WorkerPoolMatcher } from '../../src/matching/pool-matcher.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, packed, today } from './loan-fixtures.ts';

const verticals = [personalLoans, equipmentLeases];
const smallOffers = 60;
const textOf = (seed: number, offers = smallOffers) => JSON.stringify(generateCatalog(seed, offers));
const borrower = borrowerOf(goodBorrower);

function openCatalogs() {
  const folder = mkdtempSync(join(tmpdir(), 'matcher-'));
  const file = join(folder, 'offers.json');
  writeFileSync(file, textOf(1));
  const catalogs = new CatalogStore({
    registry: builtInVerticals,
    archiveFolder: folder,
    clock: new ManualClock(),
    catalogs: [
      { vertical: personalLoans, mode: 'live', file },
      { vertical: personalLoans, mode: 'test', text: textOf(2, smallOffers + 1) },
      { vertical: equipmentLeases, mode: 'live', text: equipmentLeaseCatalog('live') },
    ],
  });
  return {
    catalogs,
    /** Replaces the live catalog by a generated catalog. */
    change: (seed: number) => {
      writeFileSync(file, textOf(seed));
      return catalogs.reloadCatalog(1, 'live');
    },
    /** Deletes the archived catalogs, so that a thread can only rank with catalogs that were sent to it. */
    deleteArchive: () => {
      for (const version of catalogs.currentCatalogVersions) catalogs.archive.removeCatalog(version);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

async function openPool(threads: number) {
  const { remove, ...fixture } = openCatalogs();
  const errors: unknown[] = [];
  const batches: number[] = [];
  const pool = await WorkerPoolMatcher.start({
    threads,
    catalogs: fixture.catalogs,
    verticals,
    onThreadError: (error) => errors.push(error),
    onBatchSent: (requests) => batches.push(requests),
  });
  const close = async () => {
    await pool.close();
    remove();
  };
  const live = () => fixture.catalogs.currentCatalog(1, 'live');
  return { ...fixture, pool, errors, batches, live, request: requestTo(live()), close };
}

async function openPoolFor(context: TestContext, threads = 1) {
  const fixture = await openPool(threads);
  context.after(() => fixture.close());
  return fixture;
}

const requestTo = ({ version }: CompiledCatalog): MatchRequest => ({ catalogVersion: version, borrower, today });

function expectedRanking({ version, tables }: CompiledCatalog, who = borrower, unavailable: Int32Array | null = null) {
  return {
    catalogVersion: version,
    ...packed(rankLoans(tables as LoanTables, who, today, unavailable)),
  } satisfies Ranking;
}

const terminate = (workers: readonly Worker[]) => Promise.all(workers.map((worker) => worker.terminate()));

describe('startMatcher', () => {
  test('ranks the offers of a small catalog in the calling thread, and the offers of a larger catalog in a worker', async (context) => {
    const { catalogs, remove } = openCatalogs();
    const matcher = await startMatcher({ threads: 1, inThreadOffersMax: smallOffers, catalogs, verticals });
    context.after(remove);
    const [small, large] = [catalogs.currentCatalog(1, 'live'), catalogs.currentCatalog(1, 'test')];
    assert.deepEqual(matcher.match(requestTo(small)), expectedRanking(small));
    assert.equal(matcher.pendingRequestCount, 0);
    const ranking = matcher.match(requestTo(large));
    assert.ok(ranking instanceof Promise);
    assert.deepEqual([matcher.pendingRequestCount, matcher.readyThreadCount], [1, 1]);
    assert.deepEqual(await ranking, expectedRanking(large));
    await matcher.close();
    for (const catalog of [small, large]) assert.equal(await matcher.match(requestTo(catalog)), null);
  });

  test('without worker threads, ranks the offers of every catalog in the calling thread', async (context) => {
    const { catalogs, remove } = openCatalogs();
    context.after(remove);
    const matcher = await startMatcher({ threads: 0, inThreadOffersMax: 0, catalogs, verticals });
    for (const catalog of catalogs.currentCatalogs) {
      assert.deepEqual(matcher.match(requestTo(catalog)), expectedRanking(catalog));
    }
    assert.throws(() =>
      matcher.match({ ...requestTo(catalogs.currentCatalog(1, 'live')), catalogVersion: '000000000000' }),
    );
    assert.equal(matcher.readyThreadCount, 0);
    await matcher.close();
    assert.equal(matcher.match(requestTo(catalogs.currentCatalog(1, 'live'))), null);
  });
});

describe('matcher pool of two threads', () => {
  let fixture: Awaited<ReturnType<typeof openPool>>;
  before(async () => {
    fixture = await openPool(2);
  });
  after(() => fixture.close());

  test('ranks concurrent requests with different catalogs, verticals and sets of unavailable offers', async () => {
    const { catalogs, pool } = fixture;
    const random = seededRandom(2);
    const requests = Array.from({ length: 300 }, (_, at) => {
      const catalog = catalogs.currentCatalogs[at % 3]!;
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
    const ranking = fixture.pool.match({ ...fixture.request, borrower: changing });
    changing.fill(-1);
    assert.deepEqual(await ranking, expectedRanking(fixture.live()));
  });

  test('a request with an unknown catalog version is rejected, and the error message is not logged', async () => {
    const versions = ['000000000000', '../../secret', fixture.live().version];
    const settled = await Promise.allSettled(
      versions.map((catalogVersion) => fixture.pool.match({ ...fixture.request, catalogVersion })),
    );
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
    for (const result of settled) {
      if (result.status === 'rejected') assert.equal(describeError(result.reason).message, undefined);
    }
  });

  test('during and after a catalog change, requests can be ranked with the old or the new catalog', async () => {
    const old = fixture.live();
    const change = fixture.change(3);
    assert.deepEqual(await fixture.pool.match(requestTo(old)), expectedRanking(old));
    assert.deepEqual(await change, { ok: true, version: fixture.live().version, changed: true, warnings: [] });
    for (const catalog of [old, fixture.live()]) {
      assert.deepEqual(await fixture.pool.match(requestTo(catalog)), expectedRanking(catalog));
    }
  });
});

describe('queue of a matcher pool', () => {
  let fixture: Awaited<ReturnType<typeof openPool>>;
  before(async () => {
    fixture = await openPool(1);
  });
  beforeEach(() => void fixture.batches.splice(0));
  after(() => fixture.close());

  test('reports the size of each batch', async () => {
    const { pool, request, batches } = fixture;
    const count = bounds.matchBatchRequestsMax + 3;
    await Promise.all(Array.from({ length: count }, () => pool.match(request)));
    assert.deepEqual(batches, [bounds.matchBatchRequestsMax, 3]);
  });

  test('while the queue is full, returns null for new requests and still ranks the queued requests', async () => {
    const { pool, request } = fixture;
    const pending = Array.from({ length: bounds.matchQueueRequestsMax + 10 }, () => pool.match(request));
    assert.equal(pool.pendingRequestCount, bounds.matchQueueRequestsMax);
    const rejected = (await Promise.all(pending)).map((ranking) => ranking === null);
    assert.ok(!rejected.slice(0, -10).includes(true));
    assert.ok(!rejected.slice(-10).includes(false));
  });

  test('does not send a request to a matching thread if the request was cancelled in the queue', async () => {
    const { pool, request, batches } = fixture;
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
    const { pool, request } = fixture;
    const signal = { ended: false };
    const cancelled = Array.from({ length: 3 }, () => pool.match({ ...request, signal }));
    const accepted = Array.from({ length: bounds.matchQueueRequestsMax - 3 }, () => pool.match(request));
    const refused = pool.match(request);
    signal.ended = true;
    accepted.push(...[1, 2, 3].map(() => pool.match(request)));
    for (const ranking of await Promise.all(accepted)) assert.notEqual(ranking, null);
    assert.deepEqual(await Promise.all([refused, ...cancelled]), [null, null, null, null]);
  });

  test('returns null for queued requests when the pool closes, and settles requests in progress', async (context) => {
    const { pool, request, errors, change } = await openPoolFor(context);
    const pending = Array.from({ length: 500 }, () => pool.match(request));
    await pending[0];
    await Promise.all([pool.close(), pool.close()]);
    const rankings = await Promise.all(pending);
    assert.ok(rankings[0] !== null && rankings.at(-1) === null);
    assert.deepEqual([pool.pendingRequestCount, pool.readyThreadCount], [0, 0]);
    assert.equal(await pool.match(request), null);
    assert.ok((await change(4)).ok);
    assert.deepEqual(errors, []);
  });
});

describe('matcher pool after a worker exits', () => {
  test('ranks every request even if each worker exits once', async (context) => {
    const { pool, request, live, errors } = await openPoolFor(context, 2);
    const pending = Array.from({ length: 400 }, () => pool.match(request));
    await new Promise(setImmediate);
    await terminate(pool.workers);
    for (const ranking of await Promise.all(pending)) assert.deepEqual(ranking, expectedRanking(live()));
    assert.ok(errors.length > 0);
  });

  test('returns null for a request after two workers exited while ranking the request', async (context) => {
    const { pool, request } = await openPoolFor(context);
    const pending = Array.from({ length: 10 }, () => pool.match(request));
    while (pool.pendingRequestCount > 0) {
      await terminate(pool.workers);
      await new Promise(setImmediate);
    }
    assert.deepEqual(await Promise.all(pending), new Array(10).fill(null));
    assert.notEqual(await pool.match(request), null);
  });

  test('replaces workers that exit while idle, and sends the catalogs to a new worker before any request', async (context) => {
    const { pool, catalogs, errors, batches, deleteArchive } = await openPoolFor(context, 2);
    deleteArchive();
    await terminate(pool.workers);
    for (const catalog of catalogs.currentCatalogs) {
      const who = randomBorrower(seededRandom(1), catalog.vertical);
      assert.deepEqual(await pool.match({ ...requestTo(catalog), borrower: who }), expectedRanking(catalog, who));
    }
    assert.deepEqual(errors, new Array(2).fill(new Error('a matching thread exited')));
    // No request was sent twice.
    assert.deepEqual(batches, [1, 1, 1]);
  });

  test('a catalog that is activated while a replacement thread starts is sent to that thread', async (context) => {
    const { pool, live, change, deleteArchive } = await openPoolFor(context);
    await terminate(pool.workers);
    const [, { ok }] = await Promise.all([once(process, 'worker'), change(3)]);
    assert.ok(ok);
    deleteArchive();
    assert.deepEqual(await pool.match(requestTo(live())), expectedRanking(live()));
  });

  test('sendCatalog fails if a worker exits before the worker has loaded the catalog', async (context) => {
    const { pool, request, live, errors } = await openPoolFor(context);
    const next = once(process, 'worker');
    const exited = terminate(pool.workers);
    await Promise.all([assert.rejects(pool.sendCatalog({ version: 'unlucky', tables: live().tables })), next, exited]);
    assert.notEqual(await pool.match(request), null);
    await assert.rejects(pool.match({ ...request, catalogVersion: 'unlucky' }), /not a catalog version/);
    assert.equal(errors.length, 1);
  });

  test('sendCatalog fails if a worker cannot load the catalog, and the worker continues to run', async (context) => {
    const { pool, request, live, errors } = await openPoolFor(context);
    const [worker] = pool.workers;
    const tables = { ...live().tables, rangeFilters: null } as never;
    await assert.rejects(pool.sendCatalog({ version: 'damaged', tables }), TypeError);
    assert.notEqual(await pool.match(request), null);
    assert.deepEqual(errors, []);
    assert.equal(pool.workers[0], worker);
  });

  test('if one of two threads exits and cannot be replaced, the other thread ranks all requests', async (context) => {
    const { pool, request, errors } = await openPoolFor(context, 2);
    const allowStarts = preventStarts(context);
    await pool.workers[0]!.terminate();
    while (errors.length < 3) {
      assert.notEqual(await pool.match(request), null);
      assert.equal(pool.readyThreadCount, 1);
    }
    allowStarts();
  });

  test('match returns null while no thread can be started', async (context) => {
    const { pool, request, errors, batches } = await openPoolFor(context);
    const allowStarts = preventStarts(context);
    await terminate(pool.workers);
    assert.equal(await pool.match(request), null);
    assert.deepEqual(batches, []);
    assert.ok(errors.length >= 3);
    allowStarts();
    assert.notEqual(await pool.match(request), null);
  });

  test('replaces a worker that exits immediately after it has received the catalogs', async (context) => {
    const { pool, request, catalogs, errors } = await openPoolFor(context);
    const next = once(process, 'worker');
    await terminate(pool.workers);
    const [worker] = (await next) as [Worker];
    let repliesLeft = catalogs.currentCatalogs.length;
    worker.on('message', () => {
      repliesLeft--;
      if (repliesLeft === 0) worker.emit('exit', 1);
    });
    assert.notEqual(await pool.match(request), null);
    assert.equal(errors.length, 2);
  });

  test('the matcher pool can be closed while a replacement thread starts', async (context) => {
    const { pool, request, errors } = await openPoolFor(context);
    const next = once(process, 'worker');
    await terminate(pool.workers);
    await next;
    const pending = pool.match(request);
    await pool.close();
    assert.equal(await pending, null);
    assert.deepEqual(pool.workers, []);
    assert.equal(errors.length, 1);
  });
});

/** Terminates every worker thread when it is created, until the returned function is called. */
function preventStarts(context: TestContext): () => void {
  const end = (worker: Worker): void => void worker.terminate();
  const stop = () => void process.off('worker', end);
  process.on('worker', end);
  context.after(stop);
  return stop;
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { bounds } from '../../src/bounds.ts';
import { type CatalogChange, CatalogStore } from '../../src/catalogs/catalog-store.ts';
import type { Matcher } from '../../src/matching/matcher.ts';
import type { PoolMatcher } from '../../src/matching/pool-matcher.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import type { LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, today } from './borrower-of.ts';
import { packed } from './packed.ts';

const verticals = [personalLoans, equipmentLeases];
const textOf = (seed: number) => JSON.stringify(generateCatalog(seed, 60));

interface Fixture {
  readonly catalogs: CatalogStore;
  readonly matcher: Matcher;
  readonly errors: unknown[];
  /** How many requests each message to a worker carried. */
  readonly batches: number[];
  /** Takes every catalog's file away: whoever was not made ready with a catalog has nowhere to get it. */
  forgetFiles(): void;
  /** Puts the generated catalog of this seed in use for live keys. */
  change(seed: number): Promise<CatalogChange>;
  close(): Promise<void>;
}

async function openFixture(threads: number): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'matcher-'));
  const file = join(folder, 'offers.json');
  writeFileSync(file, textOf(1));
  const catalogs = new CatalogStore({
    archiveFolder: folder,
    clock: new ManualClock(),
    cdnUrl: () => '',
    catalogs: [
      { vertical: personalLoans, mode: 'live', file },
      { vertical: personalLoans, mode: 'test', text: textOf(2) },
      { vertical: equipmentLeases, mode: 'live', text: equipmentLeaseCatalog('live') },
    ],
  });
  const errors: unknown[] = [];
  const batches: number[] = [];
  const matcher = await startMatcher({
    threads,
    inThreadOffersMax: 0,
    catalogs,
    verticals,
    onThreadError: (error) => errors.push(error),
    onBatchSent: (requests) => batches.push(requests),
  });
  const change = (seed: number) => {
    writeFileSync(file, textOf(seed));
    return catalogs.reload(1, 'live');
  };
  const forgetFiles = () => {
    for (const version of catalogs.currentVersions) catalogs.archive.remove(version);
  };
  const close = async () => {
    await matcher.close();
    rmSync(folder, { recursive: true });
  };
  return { catalogs, matcher, errors, batches, forgetFiles, change, close };
}

/** A fixture of one test alone. */
async function fixtureWith(threads: number, context: TestContext): Promise<Fixture> {
  const fixture = await openFixture(threads);
  context.after(() => fixture.close());
  return fixture;
}

for (const { name, threads } of [
  { name: 'the matcher in the calling thread', threads: 0 },
  { name: 'a pool of two', threads: 2 },
]) {
  describe(name, () => {
    let fixture: Fixture;
    before(async () => {
      fixture = await openFixture(threads);
    });
    after(() => fixture.close());

    test('ranks concurrent requests for different catalogs and verticals', async () => {
      const random = seededRandom(threads);
      const requests = Array.from({ length: 300 }, (_, at) => {
        const catalog = fixture.catalogs.findByVersion(fixture.catalogs.currentVersions[at % 3]!)!;
        return { catalog, borrower: randomBorrower(random, catalog.vertical) };
      });
      const rankings = await Promise.all(
        requests.map(({ catalog, borrower }) =>
          fixture.matcher.match({ catalogVersion: catalog.version, borrower, today }),
        ),
      );
      for (const [at, { catalog, borrower }] of requests.entries()) {
        assert.deepEqual(rankings[at], {
          catalogVersion: catalog.version,
          ...packed(rankOffers(catalog.tables, borrower, today)),
        });
      }
      assert.ok(rankings.filter((ranking) => ranking!.total > 0).length > 50);
    });

    test('reads the borrower before it returns', async () => {
      const catalog = fixture.catalogs.current(1, 'live');
      const borrower = borrowerOf(goodBorrower);
      const expected = packed(rankOffers(catalog.tables, borrower, today));
      assert.ok(expected.total > 0);
      const answer = fixture.matcher.match({ catalogVersion: catalog.version, borrower, today });
      borrower.fill(-1);
      assert.deepEqual(await answer, { catalogVersion: catalog.version, ...expected });
    });

    test('rejects only the request with an unknown version', async () => {
      const borrower = borrowerOf(goodBorrower);
      const { version } = fixture.catalogs.current(1, 'live');
      const [bad, worse, good] = await Promise.allSettled(
        ['000000000000', '../../secret', version].map(async (catalogVersion) =>
          fixture.matcher.match({ catalogVersion, borrower, today }),
        ),
      );
      assert.equal(bad!.status, 'rejected');
      assert.equal(worse!.status, 'rejected');
      assert.equal(good!.status, 'fulfilled');
    });

    test('ranks with the old and the new catalog during a catalog change', async () => {
      const borrower = borrowerOf(goodBorrower);
      const old = fixture.catalogs.current(1, 'live');
      const change = fixture.change(3);
      const during = await fixture.matcher.match({ catalogVersion: old.version, borrower, today });
      assert.deepEqual(await change, { ok: true, version: fixture.catalogs.current(1, 'live').version, changed: true });
      for (const catalog of [old, fixture.catalogs.current(1, 'live')]) {
        assert.deepEqual(await fixture.matcher.match({ catalogVersion: catalog.version, borrower, today }), {
          catalogVersion: catalog.version,
          ...packed(rankOffers(catalog.tables, borrower, today)),
        });
      }
      assert.equal(during!.total, rankOffers(old.tables, borrower, today).total);
    });

    test('has no pending requests after all requests are settled', async () => {
      const catalogVersion = fixture.catalogs.current(1, 'live').version;
      const borrower = borrowerOf(goodBorrower);
      await Promise.all(Array.from({ length: 100 }, () => fixture.matcher.match({ catalogVersion, borrower, today })));
      assert.equal(fixture.matcher.pendingCount, 0);
      assert.equal(fixture.matcher.readyThreads, threads);
      assert.deepEqual(fixture.errors, []);
    });

    test('returns null after it is closed, and does not block a catalog change', async (context) => {
      const closed = await fixtureWith(threads, context);
      await closed.matcher.close();
      await closed.matcher.close();
      const catalogVersion = closed.catalogs.current(1, 'live').version;
      assert.equal(await closed.matcher.match({ catalogVersion, borrower: borrowerOf(goodBorrower), today }), null);
      assert.equal(closed.matcher.readyThreads, 0);
      assert.ok((await closed.change(4)).ok);
      assert.deepEqual(closed.errors, []);
    });
  });
}

describe('PoolMatcher', () => {
  test('reports the size of each batch', async (context) => {
    const { catalogs, matcher, batches } = await fixtureWith(1, context);
    const count = bounds.matchBatchRequestsMax + 3;
    const request = { catalogVersion: catalogs.currentVersions[0]!, borrower: borrowerOf(goodBorrower), today };
    await Promise.all(Array.from({ length: count }, () => matcher.match(request)));
    assert.deepEqual(batches, [bounds.matchBatchRequestsMax, 3]);
  });

  test('returns null for a request to a full queue, and ranks all queued requests', async (context) => {
    const fixture = await fixtureWith(1, context);
    const catalogVersion = fixture.catalogs.current(1, 'live').version;
    const borrower = borrowerOf(goodBorrower);
    const pending = Array.from({ length: bounds.matchQueueRequestsMax + 10 }, () =>
      fixture.matcher.match({ catalogVersion, borrower, today }),
    );
    assert.equal(fixture.matcher.pendingCount, bounds.matchQueueRequestsMax);
    const rankings = await Promise.all(pending);
    assert.equal(rankings.filter((ranking) => ranking === null).length, 10);
    assert.equal(rankings.slice(bounds.matchQueueRequestsMax).filter((ranking) => ranking === null).length, 10);
  });

  test('does not send cancelled requests to a thread', async (context) => {
    const { catalogs, matcher, batches } = await fixtureWith(1, context);
    const request = { catalogVersion: catalogs.currentVersions[0]!, borrower: borrowerOf(goodBorrower), today };
    const signal = { ended: false };
    const first = matcher.match(request);
    await new Promise(setImmediate);
    // The worker is busy with the first.
    assert.deepEqual(batches, [1]);
    const cancelled = Array.from({ length: 3 * bounds.matchBatchRequestsMax }, () =>
      matcher.match({ ...request, signal }),
    );
    const later = [matcher.match(request), matcher.match({ ...request, signal: { ended: false } })];
    signal.ended = true;
    for (const ranking of await Promise.all([first, ...later])) assert.notEqual(ranking, null);
    assert.deepEqual(batches, [1, 2]);
    assert.ok((await Promise.all(cancelled)).every((ranking) => ranking === null));
    assert.equal(matcher.pendingCount, 0);
  });

  test('removes cancelled requests from the head of a full queue', async (context) => {
    const { catalogs, matcher } = await fixtureWith(1, context);
    const request = { catalogVersion: catalogs.currentVersions[0]!, borrower: borrowerOf(goodBorrower), today };
    const signal = { ended: false };
    const cancelled = Array.from({ length: 3 }, () => matcher.match({ ...request, signal }));
    const wanted = Array.from({ length: bounds.matchQueueRequestsMax - 3 }, () => matcher.match(request));
    const refused = matcher.match(request);
    signal.ended = true;
    const more = [1, 2, 3].map(() => matcher.match(request));
    for (const ranking of await Promise.all([...wanted, ...more])) assert.notEqual(ranking, null);
    assert.deepEqual(await Promise.all([refused, ...cancelled]), [null, null, null, null]);
  });

  test('returns null for queued requests when the pool closes, and settles requests in progress', async (context) => {
    const fixture = await fixtureWith(1, context);
    const catalogVersion = fixture.catalogs.current(1, 'live').version;
    const borrower = borrowerOf(goodBorrower);
    const pending = Array.from({ length: 500 }, () => fixture.matcher.match({ catalogVersion, borrower, today }));
    await pending[0];
    await fixture.matcher.close();
    const rankings = await Promise.all(pending);
    assert.ok(rankings[0] !== null && rankings.at(-1) === null);
    assert.equal(fixture.matcher.pendingCount, 0);
  });

  test('ranks every request if a thread exits once', async (context) => {
    const fixture = await fixtureWith(2, context);
    const pool = fixture.matcher as PoolMatcher;
    const catalog = fixture.catalogs.current(1, 'live');
    const borrower = borrowerOf(goodBorrower);
    const expected = { catalogVersion: catalog.version, ...packed(rankOffers(catalog.tables, borrower, today)) };
    const pending = Array.from({ length: 400 }, () => pool.match({ catalogVersion: catalog.version, borrower, today }));
    await new Promise(setImmediate);
    await Promise.all(pool.threads.map((thread) => thread.terminate()));
    for (const ranking of await Promise.all(pending)) assert.deepEqual(ranking, expected);
    assert.ok(fixture.errors.length > 0);
  });

  test('returns null for requests whose threads exited twice', async (context) => {
    const fixture = await fixtureWith(1, context);
    const pool = fixture.matcher as PoolMatcher;
    const catalogVersion = fixture.catalogs.current(1, 'live').version;
    const borrower = borrowerOf(goodBorrower);
    const pending = Array.from({ length: 10 }, () => pool.match({ catalogVersion, borrower, today }));
    while (pool.pendingCount > 0) {
      await Promise.all(pool.threads.map((thread) => thread.terminate()));
      await new Promise(setImmediate);
    }
    assert.deepEqual(await Promise.all(pending), new Array(10).fill(null));
    assert.notEqual(await pool.match({ catalogVersion, borrower, today }), null);
  });

  for (const threads of [1, 2]) {
    test(`with ${threads} threads, reports exited idle threads, and sends no batch to a thread that is not ready`, async (context) => {
      const fixture = await fixtureWith(threads, context);
      const pool = fixture.matcher as PoolMatcher;
      fixture.forgetFiles();
      await Promise.all(pool.threads.map((thread) => thread.terminate()));
      for (const catalog of fixture.catalogs.currentCatalogs) {
        const borrower = randomBorrower(seededRandom(1), catalog.vertical);
        assert.deepEqual(await pool.match({ catalogVersion: catalog.version, borrower, today }), {
          catalogVersion: catalog.version,
          ...packed(rankOffers(catalog.tables, borrower, today)),
        });
      }
      assert.deepEqual(fixture.errors, new Array(threads).fill(new Error('a matching thread exited')));
      // None was sent twice.
      assert.deepEqual(fixture.batches, [1, 1, 1]);
    });
  }

  test('prepares a new thread with a catalog that was activated during its start', async (context) => {
    const fixture = await fixtureWith(1, context);
    const pool = fixture.matcher as PoolMatcher;
    await Promise.all(pool.threads.map((thread) => thread.terminate()));
    const [, { ok }] = await Promise.all([nextWorker(), fixture.change(3)]);
    assert.ok(ok);
    fixture.forgetFiles();
    const catalog = fixture.catalogs.current(1, 'live');
    const borrower = borrowerOf(goodBorrower);
    assert.deepEqual(await pool.match({ catalogVersion: catalog.version, borrower, today }), {
      catalogVersion: catalog.version,
      ...packed(rankOffers(catalog.tables, borrower, today)),
    });
  });

  test('rejects a catalog if a thread exits while preparing it', async (context) => {
    const fixture = await fixtureWith(1, context);
    const pool = fixture.matcher as PoolMatcher;
    const { tables, version } = fixture.catalogs.current(1, 'live');
    const next = nextWorker();
    // First, or it might be ready with it before it ends.
    const ended = pool.threads[0]!.terminate();
    await Promise.all([assert.rejects(pool.prepare({ version: 'unlucky', tables })), next, ended]);
    const request = { borrower: borrowerOf(goodBorrower), today };
    assert.notEqual(await pool.match({ ...request, catalogVersion: version }), null);
    await assert.rejects(pool.match({ ...request, catalogVersion: 'unlucky' }), /not a catalog version/);
    assert.equal(fixture.errors.length, 1);
  });

  test('rejects a catalog that a thread cannot prepare, and keeps the thread', async (context) => {
    const fixture = await fixtureWith(1, context);
    const pool = fixture.matcher as PoolMatcher;
    const { tables, version } = fixture.catalogs.current(1, 'live');
    const [thread] = pool.threads;
    const damaged = { ...tables, rangeFilters: null } as unknown as LoanTables;
    await assert.rejects(pool.prepare({ version: 'damaged', tables: damaged }), TypeError);
    assert.notEqual(await pool.match({ catalogVersion: version, borrower: borrowerOf(goodBorrower), today }), null);
    assert.deepEqual(fixture.errors, []);
    assert.equal(pool.threads[0], thread);
  });

  test('uses the other thread while one thread cannot be started', async (context) => {
    const fixture = await fixtureWith(2, context);
    const pool = fixture.matcher as PoolMatcher;
    const catalogVersion = fixture.catalogs.current(1, 'live').version;
    const borrower = borrowerOf(goodBorrower);
    const startAgain = letNoneStart(context);
    await pool.threads[0]!.terminate();
    while (fixture.errors.length < 3) {
      assert.notEqual(await pool.match({ catalogVersion, borrower, today }), null);
      assert.equal(pool.readyThreads, 1);
    }
    startAgain();
  });

  test('returns null while no thread can be started', async (context) => {
    const fixture = await fixtureWith(1, context);
    const pool = fixture.matcher as PoolMatcher;
    const catalogVersion = fixture.catalogs.current(1, 'live').version;
    const borrower = borrowerOf(goodBorrower);
    const startAgain = letNoneStart(context);
    await pool.threads[0]!.terminate();
    assert.equal(await pool.match({ catalogVersion, borrower, today }), null);
    assert.deepEqual(fixture.batches, []);
    assert.ok(fixture.errors.length >= 3);
    startAgain();
    assert.notEqual(await pool.match({ catalogVersion, borrower, today }), null);
  });

  test('closes the pool while a thread is starting', async (context) => {
    const fixture = await fixtureWith(1, context);
    const pool = fixture.matcher as PoolMatcher;
    const catalogVersion = fixture.catalogs.current(1, 'live').version;
    const next = nextWorker();
    await pool.threads[0]!.terminate();
    await next;
    const asked = pool.match({ catalogVersion, borrower: borrowerOf(goodBorrower), today });
    await pool.close();
    assert.equal(await asked, null);
    assert.equal(pool.threads.length, 0);
    assert.equal(fixture.errors.length, 1);
  });
});

/** The next worker thread that is made by anybody. */
async function nextWorker(): Promise<void> {
  await once(process, 'worker');
}

/** Ends every worker thread as it is made, until the function returned is called. */
function letNoneStart(context: TestContext): () => void {
  const end = (worker: Worker): void => void worker.terminate();
  const stop = () => void process.off('worker', end);
  process.on('worker', end);
  context.after(stop);
  return stop;
}

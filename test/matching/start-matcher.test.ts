import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, today } from './borrower-of.ts';
import { packed } from './packed.ts';

const borrower = borrowerOf(goodBorrower);
const smallOffers = 60;

/** The live catalog has so many offers as are still small, the test one has one more. */
async function openFixture(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'split-matcher-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const catalogs = new CatalogStore({
    archiveFolder: folder,
    clock: new ManualClock(),
    cdnUrl: () => '',
    catalogs: [
      { vertical: personalLoans, mode: 'live', text: JSON.stringify(generateCatalog(1, smallOffers)) },
      { vertical: personalLoans, mode: 'test', text: JSON.stringify(generateCatalog(2, smallOffers + 1)) },
    ],
  });
  const options = { threads: 1, inThreadOffersMax: smallOffers, catalogs, verticals: [personalLoans] };
  const matcher = await startMatcher(options);
  context.after(() => matcher.close());
  return { matcher, small: catalogs.current(1, 'live'), large: catalogs.current(1, 'test') };
}

test('ranks a small catalog in the calling thread and a larger one in a worker', async (context) => {
  const { matcher, small, large } = await openFixture(context);
  const atOnce = matcher.match({ catalogVersion: small.version, borrower, today });
  assert.deepEqual(atOnce, { catalogVersion: small.version, ...packed(rankOffers(small.tables, borrower, today)) });
  assert.equal(matcher.pendingCount, 0);

  const later = matcher.match({ catalogVersion: large.version, borrower, today });
  assert.ok(later instanceof Promise);
  assert.equal(matcher.pendingCount, 1);
  assert.equal(matcher.readyThreads, 1);
  assert.deepEqual(await later, {
    catalogVersion: large.version,
    ...packed(rankOffers(large.tables, borrower, today)),
  });
});

test('returns null after it is closed', async (context) => {
  const { matcher, small, large } = await openFixture(context);
  await matcher.close();
  assert.equal(await matcher.match({ catalogVersion: small.version, borrower, today }), null);
  assert.equal(await matcher.match({ catalogVersion: large.version, borrower, today }), null);
});

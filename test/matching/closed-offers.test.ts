import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import type { RankedOffers } from '../../src/matching/matcher.ts';
import { sortOrders } from '../../src/matching/matcher.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { afterwards } from '../support/afterwards.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, today } from './borrower-of.ts';
import { catalogOf, plainOffer } from './one-offer-catalog.ts';
import { packed } from './packed.ts';

const compile = (catalog: LoanCatalog) => compileCatalog(catalog, personalLoans, { mode: 'live', cdnUrl: () => '' });

function bitsOf(offers: readonly number[], { offers: all }: CompiledCatalog): Int32Array {
  const bits = new Int32Array((all.length + 31) >>> 5);
  for (const offer of offers) bits[offer >>> 5]! |= 1 << (offer & 31);
  return bits;
}

/** The ids of the best open offers of each order, as many as an answer may show, and how many match. */
function shown(catalog: CompiledCatalog, { total, orders }: RankedOffers, closed: readonly number[] = []) {
  const places = orders.length / sortOrders.length;
  const open = sortOrders.map((_sort, at) =>
    [...orders.subarray(at * places, (at + 1) * places)]
      .filter((offer) => !closed.includes(offer))
      .slice(0, bounds.offersShownMax)
      .map((offer) => catalog.offers[offer]!.id),
  );
  return { total, open };
}

/** Without these offers; there must be others. */
function without(catalog: LoanCatalog, ids: ReadonlySet<string>): LoanCatalog {
  const lenders = catalog.lenders.map(({ offers, ...lender }) => ({
    ...lender,
    offers: offers.filter(({ id }) => !ids.has(id)),
  }));
  return { ...catalog, lenders: lenders.filter(({ offers }) => offers.length > 0) };
}

test('ranks available offers like a catalog without the unavailable offers', () => {
  const arbitrary = fc.record({
    seed: fc.nat(1_000),
    offers: fc.integer({ min: 2, max: 130 }),
    chosen: fc.array(fc.nat(129), { maxLength: 60 }),
  });
  let compared = 0;
  fc.assert(
    fc.property(arbitrary, ({ seed, offers, chosen }) => {
      const file = generateCatalog(seed, offers);
      const catalog = compile(file);
      // The first stays, since a catalog must have one.
      const closed = chosen.filter((offer) => offer > 0 && offer < offers);
      const rest = compile(without(file, new Set(closed.map((offer) => catalog.offers[offer]!.id))));
      const random = seededRandom(seed);
      for (let count = 0; count < 10; count++) {
        const borrower = randomBorrower(random);
        const ranking = rankOffers(catalog.tables, borrower, today, bitsOf(closed, catalog));
        const expected = shown(rest, rankOffers(rest.tables, borrower, today));
        assert.deepEqual(shown(catalog, ranking, closed), expected);
        compared += ranking.total;
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(compared > 1_000);
});

async function openMatcher(t: TestContext, threads: number) {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const catalogs = new CatalogStore({
    archiveFolder: folder,
    clock: new ManualClock(),
    cdnUrl: () => '',
    catalogs: [
      { vertical: personalLoans, mode: 'live', text: JSON.stringify(generateCatalog(1, 60)) },
      { vertical: personalLoans, mode: 'test', text: JSON.stringify(generateCatalog(2, 33)) },
    ],
  });
  const matcher = await startMatcher({ threads, inThreadOffersMax: 0, catalogs, verticals: [personalLoans] });
  afterwards(t, () => matcher.close());
  return { catalogs: (['live', 'test'] as const).map((mode) => catalogs.current(1, mode)), matcher };
}

for (const threads of [0, 2]) {
  describe(`a matcher with ${threads} threads`, () => {
    test('counts the available offers of each request of a batch', async (t) => {
      const { catalogs, matcher } = await openMatcher(t, threads);
      const random = seededRandom(threads);
      const sets = catalogs.map((catalog) => {
        const some = catalog.offers.map((_, at) => at).filter(() => random() < 0.4);
        return [
          bitsOf(some, catalog),
          null,
          bitsOf([0, 31, 32], catalog),
          bitsOf(
            catalog.offers.map((_, at) => at),
            catalog,
          ),
        ];
      });
      const requests = Array.from({ length: 200 }, (_, at) => {
        const catalog = catalogs[at % 2]!;
        return {
          catalog,
          unavailable: sets[at % 2]![(at >> 1) % 4]!,
          borrower: randomBorrower(random, personalLoans, 0),
        };
      });
      const rankings = await Promise.all(
        requests.map(({ catalog, ...rest }) => matcher.match({ catalogVersion: catalog.version, today, ...rest })),
      );
      for (const [at, { catalog, borrower, unavailable }] of requests.entries()) {
        const expected = rankOffers(catalog.tables, borrower, today, unavailable);
        assert.deepEqual(rankings[at], { catalogVersion: catalog.version, ...packed(expected) });
        if ((at >> 1) % 4 === 3) assert.equal(expected.total, 0);
      }
      const borrower = borrowerOf(goodBorrower);
      const [live] = catalogs;
      const open = rankOffers(live!.tables, borrower, today);
      const [best] = open.orders;
      const fewer = await matcher.match({
        ...{ catalogVersion: live!.version, borrower, today },
        unavailable: bitsOf([best!], live!),
      });
      const { orders } = packed(open);
      assert.deepEqual(fewer, { catalogVersion: live!.version, total: open.total - 1, availableOnly: false, orders });
    });
  });
}

describe('the daily cap in a catalog', () => {
  const faults = (daily_cap: unknown) => {
    const parsed = parseCatalog(JSON.stringify(catalogOf([{ ...plainOffer(), daily_cap } as never])), personalLoans);
    return parsed.ok ? [] : parsed.errors;
  };

  test('a daily cap must be an integer of at least 1', () => {
    for (const cap of [1, 250, 100_000_000]) assert.deepEqual(faults(cap), []);
    for (const cap of [0, -1, 1.5, '5', null, 100_000_001]) {
      assert.equal(faults(cap).length, 1, String(cap));
      assert.match(faults(cap)[0]!, /^lenders\[0\]\.offers\[0\]\.daily_cap: /);
    }
  });

  test('stores daily caps by offer id; a changed cap changes the catalog version', () => {
    const offers = [
      plainOffer({ id: 'b', daily_cap: 5 }),
      plainOffer({ id: 'a' }),
      plainOffer({ id: 'c', daily_cap: 7 }),
    ];
    const capped = compile(catalogOf(offers));
    assert.deepEqual([...capped.dailyCaps].sort(), [
      ['b', 5],
      ['c', 7],
    ]);
    const plain = compile(catalogOf([plainOffer()]));
    assert.equal(plain.dailyCaps.size, 0);
    assert.notEqual(plain.version, compile(catalogOf([plainOffer({ daily_cap: 1 })])).version);
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { type SortOrder, sortOrders } from '../../src/matching/matcher.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import type { LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { afterwards } from '../support/afterwards.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, today } from './borrower-of.ts';
import { catalogOf, plainBand, plainOffer } from './one-offer-catalog.ts';

const borrower = borrowerOf({ ...goodBorrower, loan_term_months: 48 });

function orderOf(offers: readonly LoanOffer[], sort: SortOrder): string[] {
  const { offers: compiled, tables } = compileCatalog(catalogOf(offers), personalLoans, {
    mode: 'live',
    cdnUrl: () => '',
  });
  const { total, orders } = rankOffers(tables, borrower, today);
  const at = sortOrders.indexOf(sort) * total;
  return [...orders.subarray(at, at + total)].map((offer) => compiled[offer]!.id);
}

/** What an order may go by, from so few values that most offers are equal in something and many in everything. */
const content = fc
  .record({
    rate: fc.constantFrom(8, 8.001, 9),
    width: fc.constantFrom(2, 2.001, 3),
    fee: fc.constantFrom(0, 3),
    most: fc.constantFrom(20_000, 40_000),
    terms: fc.constantFrom([36], [48], [24, 60]),
    limited: fc.boolean(),
    payout: fc.constantFrom(50, 100),
    confirmed: fc.constantFrom(0.05, 0.1),
    approved: fc.constantFrom(0.5, 0.6),
    stars: fc.constantFrom(3, 4),
  })
  .map(
    ({ rate, width, fee, most, terms, limited, payout, confirmed, approved, stars }): Partial<LoanOffer> => ({
      amount: { min: 1_000, max: most },
      term_months: [...terms],
      payout_usd: payout,
      stars,
      ...(limited && { max_debt_to_income_percent: 35 }),
      bands: {
        '700-749': plainBand({
          note_rate_percent: { min: rate, max: rate + width },
          origination_fee_percent: fee,
          confirm_rate: confirmed,
          approval_likelihood: approved,
        }),
      },
    }),
  );
const ids = (count: number) =>
  fc.uniqueArray(fc.stringMatching(/^[a-z0-9_-]{1,4}$/), { minLength: count, maxLength: count });
const offersOf = (count: number) =>
  fc
    .tuple(ids(count), fc.array(content, { minLength: count, maxLength: count }))
    .map(([names, contents]) => names.map((id, at) => plainOffer({ ...contents[at]!, id })));

for (const sort of sortOrders) {
  test(`${sort}: one of two offers always comes first, whichever the file names first`, () => {
    fc.assert(
      fc.property(offersOf(2), ([one, other]) => {
        const order = orderOf([one!, other!], sort);
        assert.equal(order.length, 2);
        assert.deepEqual(orderOf([other!, one!], sort), order);
      }),
      { numRuns: 300 },
    );
  });

  test(`${sort}: what comes before an offer comes before all that the offer comes before`, () => {
    fc.assert(
      fc.property(offersOf(5), (offers) => {
        const before = (one: LoanOffer, other: LoanOffer) => orderOf([one, other], sort)[0] === one.id;
        for (const first of offers) {
          for (const second of offers) {
            if (first === second || !before(first, second)) continue;
            for (const third of offers) {
              if (third === first || third === second || !before(second, third)) continue;
              assert.ok(before(first, third), `${first.id}, ${second.id}, ${third.id}`);
            }
          }
        }
        // So there is one way to put them all in order, and that is how they are ranked together.
        const expected = [...offers].sort((one, other) => (before(one, other) ? -1 : 1)).map(({ id }) => id);
        assert.deepEqual(orderOf(offers, sort), expected);
      }),
      { numRuns: 40 },
    );
  });

  test(`${sort}: offers alike in everything come in the order of their ids`, () => {
    fc.assert(
      fc.property(ids(12), content, content, content, (names, ...contents) => {
        const texts = names.map((_id, at) => JSON.stringify(contents[at % 3]));
        const order = orderOf(
          names.map((id, at) => plainOffer({ ...contents[at % 3]!, id })),
          sort,
        );
        for (const text of new Set(texts)) {
          const alike = names.filter((_id, at) => texts[at] === text);
          assert.deepEqual(
            order.filter((id) => alike.includes(id)),
            alike.sort(),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
}

test('the matcher in the calling thread and the pool answer alike, and every time, where most offers are equal', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orders-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const [offers] = fc.sample(offersOf(60), { numRuns: 1, seed: 5 }) as [LoanOffer[]];
  const creditBands = ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'];
  for (const offer of offers) {
    const band = offer.bands['700-749']!;
    offer.bands = Object.fromEntries(creditBands.map((name) => [name, band]));
  }
  const catalogs = new CatalogStore({
    archiveFolder: folder,
    clock: new ManualClock(),
    cdnUrl: () => '',
    catalogs: [{ vertical: personalLoans, mode: 'live', text: JSON.stringify(catalogOf(offers)) }],
  });
  const verticals = [personalLoans];
  const matchers = [
    await startMatcher({ threads: 0, catalogs, verticals }),
    await startMatcher({ threads: 1, inThreadOffersMax: 0, catalogs, verticals }),
  ];
  for (const matcher of matchers) afterwards(t, () => matcher.close());
  const catalogVersion = catalogs.current(personalLoans.number, 'live').version;
  const random = seededRandom(1);
  let matched = 0;
  for (let i = 0; i < 100; i++) {
    const someone = randomBorrower(random, personalLoans, 0.1);
    const request = { catalogVersion, borrower: someone, today };
    const rankings = await Promise.all([...matchers, ...matchers].map((matcher) => matcher.match(request)));
    matched += rankings[0]!.total;
    for (const ranking of rankings) assert.deepEqual(ranking, rankings[0]);
  }
  assert.ok(matched > 1_000, `only ${matched} offers were ranked`);
});

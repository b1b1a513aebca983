import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { type SortOrder, sortOrders } from '../../src/matching/matcher.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import type { LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
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

/** Members that orders depend on, from few values, so that many offers are equal. */
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

for (const sort of sortOrders) {
  test(`${sort} ranks equal offers in the order of their ids`, () => {
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

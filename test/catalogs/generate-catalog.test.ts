import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateCatalog } from '../../bench/catalogs/generate-catalog.ts';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';

const offersOf = (catalog: LoanCatalog) => catalog.lenders.flatMap(({ offers }) => offers);

for (const vertical of [personalLoans, equipmentLeases]) {
  describe(`generateCatalog for ${vertical.segment}`, () => {
    test('generated catalogs are valid and have the requested numbers of offers and lenders', () => {
      for (const [seed, offers, lenders] of [
        [1, 1, 1],
        [2, 10, 10],
        [3, 100, 7],
        [4, 500, undefined],
      ] as const) {
        const catalog = generateCatalog({ seed, offers, vertical, ...(lenders === undefined ? {} : { lenders }) });
        const parsed = parseCatalog(JSON.stringify(catalog), vertical);
        assert.ok(parsed.ok, parsed.ok ? '' : parsed.errors.join('\n'));
        assert.equal(offersOf(catalog).length, offers);
        assert.equal(catalog.lenders.length, lenders ?? offers / 2);
      }
    });

    test('generated catalogs use every member of the format that the vertical supports', () => {
      const text = JSON.stringify(generateCatalog({ seed: 1, offers: 300, vertical }));
      const { roles, creditScores } = vertical;
      for (const member of [
        ...['"min_age"', '"max_apr_percent"', '"min_amount"', '"in"', '"not_in"', '"min"', '"max"', '"terms"'],
        ...['"max_debt_to_income_percent"', '"payout_model"', '"confirm_rate"', '"daily_cap"'],
        ...(roles.coBorrower === undefined ? [] : ['_applications":"required"', '_applications":"not_accepted"']),
        ...(creditScores === undefined ? [] : ['"min_credit_score"']),
      ]) {
        assert.ok(text.includes(member), member);
      }
      const catalog = JSON.parse(text) as LoanCatalog;
      assert.ok(catalog.lenders.some(({ state_rules }) => state_rules !== undefined));
      assert.ok(offersOf(catalog).some(({ state_rules }) => state_rules !== undefined));
    });
  });
}

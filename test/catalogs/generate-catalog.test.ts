import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateCatalog } from '../../bench/catalogs/generate-catalog.ts';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';

for (const vertical of [personalLoans, equipmentLeases]) {
  test(`a generated catalog of ${vertical.segment} is valid and uses every property of the catalog format`, () => {
    const catalog = generateCatalog({ seed: 1, offers: 300, vertical, lenders: 70 });
    const text = JSON.stringify(catalog);
    const parsed = parseCatalog(text, builtInVerticals.withProduct(vertical));
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.errors.join('\n'));
    const offers = catalog.lenders.flatMap((lender) => lender.offers);
    assert.deepEqual([offers.length, catalog.lenders.length], [300, 70]);
    const { roles, creditScores } = vertical;
    for (const member of [
      ...['"min_age"', '"max_apr_percent"', '"min_amount"', '"in"', '"not_in"', '"min"', '"max"', '"terms"'],
      ...['"max_debt_to_income_percent"', '"payout_model"', '"confirm_rate"', '"daily_cap"'],
      ...(roles.coBorrower === undefined ? [] : ['_applications":"required"', '_applications":"not_accepted"']),
      ...(creditScores === undefined ? [] : ['"min_credit_score"']),
    ]) {
      assert.ok(text.includes(member), member);
    }
    for (const parts of [catalog.lenders, offers]) assert.ok(parts.some((part) => part.state_rules !== undefined));
  });
}

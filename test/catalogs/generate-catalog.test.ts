import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogGenerators } from '../../bench/catalogs/catalog-generators.ts';
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

/** Members and values that the generated catalogs of each vertical contain. */
const expectedWords = {
  'credit-cards':
    'annual_fee_first_year penalty_apr intro_purchase_apr intro_transfer_apr transfer_apr bonus security_deposit_min daily_cap in ' +
    'not_in min min_age',
  mortgage: 'conventional fha va usda jumbo adjustable max_debt_to_income_percent',
  banking:
    'marginal whole_balance fee_waived_from early_withdrawal_penalty_days term_months daily_cap introductory steps paid_within_days ' +
    'minimum_deposit direct_deposit new_customer min_age ncua fdic quarterly annual',
  'find-advisor': 'fee_tiers fee_usd hours_per_year estimated_annual_fee daily_cap min_age has_advisor',
};

for (const [segment, words] of Object.entries(expectedWords)) {
  test(`generated catalogs of ${segment} are valid, reproducible, and use every optional member`, () => {
    const vertical = builtInVerticals.verticals.find((candidate) => candidate.segment === segment)!;
    for (const seed of [1, 2, 3]) {
      const generate = () => catalogGenerators[segment]!({ seed, offers: 600, lenders: 40, vertical });
      const catalog = generate();
      const text = JSON.stringify(catalog);
      assert.equal(JSON.stringify(generate()), text);
      const parsed = parseCatalog(text, builtInVerticals.withProduct(vertical));
      assert.deepEqual(parsed.ok ? [] : parsed.errors, []);
      assert.deepEqual([catalog.lenders.length, catalog.lenders.flatMap(({ offers }) => offers).length], [40, 600]);
      for (const word of words.split(' ')) assert.ok(text.includes(`"${word}"`), word);
    }
  });
}

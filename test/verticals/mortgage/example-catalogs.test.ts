import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import { getRateType, type MortgageCatalog, type MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import { listOffers, readBuiltInCatalog } from '../built-in-catalogs.ts';
import { borrowerOf, buyer, mortgageCatalogOf } from './mortgage-fixtures.ts';
import { referenceMortgages } from './reference-mortgages.ts';

describe('the example catalog of mortgages', () => {
  const catalog = readBuiltInCatalog<MortgageCatalog>(mortgage, 'example');
  const offers = listOffers(catalog);

  test('has at least 60 offers of 20 lenders with different NMLS ids', () => {
    assert.ok(offers.length >= 60 && catalog.lenders.length >= 20);
    assert.equal(new Set(catalog.lenders.map(({ nmls_id }) => nmls_id)).size, catalog.lenders.length);
  });

  test('has fixed and adjustable loans, and loans of every type', () => {
    const count = (kind: string) =>
      offers.filter((each) => ([each.loan_type, getRateType(each)] as string[]).includes(kind)).length;
    for (const kind of ['fixed', 'adjustable', 'conventional', 'fha', 'va', 'jumbo']) {
      assert.ok(count(kind) >= 5, `${kind}: ${count(kind)}`);
    }
    assert.ok(count('usda') >= 1);
  });

  test('names the lender and its NMLS id in the text of each offer', () => {
    for (const { name, nmls_id, offers: ofLender } of catalog.lenders) {
      for (const { id, legal } of ofLender) assert.ok(legal.includes(`of ${name}, NMLS ${nmls_id}`), id);
    }
  });

  test('has legal texts that state the rate, APR and payments of the example loan', () => {
    const numberOf = (text: string) => Number(text.replaceAll(',', ''));
    let examples = 0;
    for (const offer of offers) {
      const { id, legal, loan_type } = offer;
      if (offer.adjustable !== undefined) {
        assert.match(legal, /Payments can rise after \d+ months\./, id);
        continue;
      }
      const example =
        /Example: ([\d,]+) USD for a home of ([\d,]+) USD, credit score 750 to 799, over (\d+) months: rate ([\d.]+) %, APR ([\d.]+) %, ([\d,.]+) USD a month for principal and interest(?: and ([\d.]+) USD for (?:mortgage insurance|the annual fee) in the first year)?\. /.exec(
          legal,
        );
      assert.ok(example !== null, `${id}: ${legal}`);
      const [amount, home, term, ...figures] = example.slice(1).map((text) => numberOf(text ?? '0'));
      const borrower = borrowerOf({
        ...buyer,
        property_value: home!,
        down_payment: home! - amount!,
        annual_income: 1_000_000,
        loan_term_months: term!,
      });
      const [match] = referenceMortgages(mortgageCatalogOf([{ ...offer, criteria: [] }]), borrower);
      const { rate, apr, principalAndInterest, premium } = match!;
      assert.deepEqual([match!.term, ...figures], [term, rate, apr, principalAndInterest, premium], id);
      if (loan_type === 'fha' || loan_type === 'usda') {
        assert.match(legal, /The upfront (premium|fee) of [\d.]+ % is added to the loan; the annual \1 is /, id);
      }
      examples++;
    }
    assert.ok(examples >= 50, `${examples} examples`);
  });

  test('has loan-to-value ratios, premiums and credit bands that the market has', () => {
    const accepts = (offer: MortgageOffer, field: string, value: unknown) =>
      offer.criteria.every(
        (each) => each.field !== field || (each.in?.includes(value) ?? !each.not_in!.includes(value)),
      );
    const cashOut = offers.filter((offer) => accepts(offer, 'loan_purpose', 'cash_out'));
    assert.ok(cashOut.length >= 10, `${cashOut.length} cash-out loans`);
    for (const offer of offers) {
      const { id, loan_type: type } = offer;
      const highest = offer.ltv_bands.at(-1)!.max_ltv_percent;
      if (cashOut.includes(offer)) {
        assert.ok(highest <= (type === 'va' ? 90 : 80), id);
        assert.ok(!accepts(offer, 'loan_purpose', 'purchase'), `${id} has the price of a purchase`);
      }
      if (accepts(offer, 'occupancy', 'second_home')) assert.ok(highest <= 90, id);
      if (type === 'conventional') assert.equal(offer.bands['300-579'], undefined, id);
      if (type === 'va' && offer.ltv_bands.some((band) => band.upfront_premium_percent !== undefined)) {
        assert.ok(!accepts(offer, 'loan_purpose', 'refinance'), `${id} has the fee table of purchases`);
      }
      if (type === 'fha' && offer.terms['180'] !== undefined && highest > 90) {
        const premium = offer.terms['180'].annual_premium_percent! + offer.ltv_bands.at(-1)!.annual_premium_percent!;
        assert.equal(premium, 0.4, id);
      }
    }
  });
});

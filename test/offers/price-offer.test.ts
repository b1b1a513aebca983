import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMatchTables } from '../../src/offers/match-tables.ts';
import { newApplicant, newOfferPrice, priceOffer, readApplicant } from '../../src/offers/price-offer.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { borrowerOf, goodBorrower } from './borrower-of.ts';
import { catalogOf, plainBand, plainOffer } from './one-offer-catalog.ts';

test('an amount whose payment just fits is among the amounts the borrower can get, to the last bit', () => {
  // At no interest over 12 months, one amount in six comes back a hair too low from the division.
  const offer = plainOffer({
    max_debt_to_income_percent: 100,
    term_months: [12],
    bands: { '700-749': plainBand({ note_rate_percent: { min: 0, max: 0 } }) },
  });
  const tables = compileMatchTables(catalogOf([offer]), personalLoans);
  const applicant = newApplicant();
  const price = newOfferPrice();
  assert.ok(readApplicant(tables, borrowerOf(goodBorrower), applicant));
  assert.ok(priceOffer(tables, 0, applicant, price));
  const factor = tables.paymentFactor[price.slot]!;
  applicant.monthlyDebt = 0;
  for (let amount = 1_000; amount < 2_000; amount++) {
    applicant.amount = amount;
    applicant.monthlyIncome = amount * factor;
    assert.ok(priceOffer(tables, 0, applicant, price));
    assert.equal(price.amountMax, amount);
  }
});

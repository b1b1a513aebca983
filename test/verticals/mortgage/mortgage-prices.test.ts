import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateMortgageCatalog } from '../../../bench/catalogs/generate-mortgage-catalog.ts';
import { compileCatalog } from '../../../src/catalogs/compile-catalog.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { type FieldVector, findFieldIndex, getChoiceValues } from '../../../src/verticals/field-vector.ts';
import { monthlyPaymentPerDollar } from '../../../src/verticals/loan-math.ts';
import { PaymentStream, solveAnnualPercentageRate } from '../../../src/verticals/mortgage/annual-percentage-rate.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import type { MortgageTables } from '../../../src/verticals/mortgage/mortgage-tables.ts';
import { listOfferPrices, type MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import { priceMortgages } from '../../../src/verticals/mortgage/offer-view.ts';
import { rankMortgages } from '../../../src/verticals/mortgage/rank-mortgages.ts';
import { computeRecommendationScore } from '../../../src/verticals/mortgage/recommendation-score.ts';
import { randomBorrower, seededRandom } from '../../support/random-catalog.ts';

const today = 20_260_801;
const field = (name: string) => findFieldIndex(mortgage, name);

/** A random borrower whose figures are in the ranges of most offers. */
function drawBorrower(random: () => number): FieldVector {
  const value = 150_000 + Math.floor(random() * 600) * 1_000;
  return randomBorrower(random, mortgage)
    .with(field('loan_purpose'), Math.floor(random() * 2))
    .with(field('property_value'), value)
    .with(field('down_payment'), Math.floor(value * (0.03 + 0.4 * random())))
    .with(field('mortgage_balance'), Math.floor(value * (0.5 + 0.45 * random())))
    .with(field('annual_income'), 60_000 + Math.floor(random() * 300) * 1_000)
    .with(field('monthly_debt_payments'), Math.floor(random() * 1_000));
}

function compile(seed: number, offers: number) {
  const catalog = generateMortgageCatalog({ seed, offers, vertical: mortgage });
  const compiled = compileCatalog(catalog, mortgage, { mode: 'live' });
  return { compiled, tables: compiled.tables as MortgageTables };
}

/** Finds by bisection the APR at which the payments are worth `financed`. `payments[i]` is paid after `i + 1` months. */
function bisectAprPercent(financed: number, payments: readonly number[]): number {
  let [low, high] = [0, 0.1];
  for (let step = 0; step < 100; step++) {
    const rate = (low + high) / 2;
    let value = 0;
    for (let at = payments.length - 1; at >= 0; at--) value = (value + payments[at]!) / (1 + rate);
    if (value > financed) low = rate;
    else high = rate;
  }
  return low * 1_200;
}

test('computes the published APRs and payments', () => {
  const aprOf = (first: number, rest: number) => {
    const stream = new PaymentStream();
    stream.clear();
    stream.add(first, 1, 0);
    stream.add(rest, 23, 1);
    return solveAnnualPercentageRate(5_000, stream).toFixed(2);
  };
  assert.deepEqual([aprOf(230, 230), aprOf(250, 230)], ['9.69', '10.08']);
  assert.equal((162_000 * monthlyPaymentPerDollar(3.875, 360)).toFixed(2), '761.78');
});

test('solves the APR of random streams, as bisection does', () => {
  const random = seededRandom(2);
  for (let draw = 0; draw < 300; draw++) {
    const [early, late] = [1 + Math.floor(random() * 60), 1 + Math.floor(random() * 300)];
    const [first, second] = [500 + random() * 2_000, 500 + random() * 2_000];
    const payments = [...Array(early).fill(first), ...Array(late).fill(second)] as number[];
    const financed = payments.reduce((sum, each) => sum + each, 0) * (0.3 + 0.65 * random());
    const stream = new PaymentStream();
    stream.clear();
    stream.add(first, early, 0);
    stream.add(second, late, early);
    const expected = bisectAprPercent(financed, payments);
    if (expected > 100) continue;
    assert.ok(Math.abs(solveAnnualPercentageRate(financed, stream) - expected) < 1e-6, `${expected}`);
  }
});

test('the figures of fixed loans equal a simulation month by month', () => {
  const random = seededRandom(5);
  let compared = 0;
  let insured = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const { compiled, tables } = compile(seed, 90);
    for (let draw = 0; draw < 25; draw++) {
      const borrower = drawBorrower(random);
      const { orders } = rankMortgages(tables, borrower, today, null);
      for (const { index, values } of priceMortgages(compiled, [...new Set(orders)], borrower)) {
        const offer = compiled.offers[index]!.source as MortgageOffer;
        if (offer.adjustable !== undefined || offer.loan_type === 'fha' || offer.loan_type === 'usda') continue;
        const [apr, term, payment, , , rate, , , amount, ltv, principalAndInterest, premium, premiumMonths, cost] =
          values as number[];
        const value = borrower[field('property_value')]!;
        const band = getChoiceValues(mortgage, 'credit_score_range')[borrower[field('credit_score_range')]!]!;
        const ltvBand = offer.ltv_bands.findIndex(({ max_ltv_percent: max }) => amount! * 100 <= max * value);
        const { price } = listOfferPrices(offer).find(
          (each) => each.creditBand === band && each.ltvBand === ltvBand && each.term === String(term),
        )!;
        const upfront = (amount! * price.upfront_premium_percent) / 100_000;
        const financed = amount! + upfront;
        const exactPayment = financed * monthlyPaymentPerDollar(rate!, term!);
        const monthlyPremium = ltv! > 80 ? (amount! * price.annual_premium_percent) / 1_200_000 : 0;
        const closing =
          (amount! * price.points_percent) / 100_000 +
          price.lender_fees_usd +
          (financed * rate! * price.prepaid_interest_days) / 36_500;
        const payments: number[] = [];
        let balance = financed;
        let months = 0;
        let fiveYears = closing + upfront;
        for (let month = 1; month <= term!; month++) {
          const hasPremium = monthlyPremium > 0 && balance > 0.78 * value;
          if (hasPremium) months++;
          payments.push(exactPayment + (hasPremium ? monthlyPremium : 0));
          balance = balance * (1 + rate! / 1_200) - exactPayment;
          if (month <= 60) fiveYears += payments.at(-1)!;
          if (month === 60) fiveYears -= financed - balance;
        }
        assert.ok(Math.abs(principalAndInterest! - exactPayment) <= 0.0051);
        assert.ok(Math.abs(payment! - payments[0]!) <= 0.0101);
        assert.ok(Math.abs(premium! - monthlyPremium) <= 0.0051);
        assert.ok(Math.abs(premiumMonths! - months) <= 0, `${offer.id}: ${premiumMonths} instead of ${months} months`);
        assert.ok(Math.abs(cost! - fiveYears) <= 0.0101, `${offer.id}: ${cost} instead of ${fiveYears}`);
        assert.ok(Math.abs(apr! - bisectAprPercent(amount! - closing, payments)) <= 0.0051);
        assert.ok(apr! >= rate! - 0.005);
        compared++;
        if (months > 0) insured++;
      }
    }
  }
  assert.ok(compared > 500 && insured > 20, `${compared} loans, ${insured} insured`);
});

test('ranks random catalogs as a reference that prices and sorts every offer', () => {
  const random = seededRandom(6);
  let compared = 0;
  for (let seed = 21; seed <= 28; seed++) {
    const { compiled, tables } = compile(seed, 120);
    for (let draw = 0; draw < 20; draw++) {
      const borrower = drawBorrower(random);
      const isAvailable = (index: number) => {
        const { total } = rankMortgages(tables, borrower, today, onlyOffer(index, compiled.offers.length));
        return total === 1;
      };
      const matches = compiled.offers.flatMap((_offer, index) => {
        if (!isAvailable(index)) return [];
        const [{ values }] = priceMortgages(compiled, [index], borrower) as unknown as [{ values: readonly number[] }];
        const fixed = tables.fixedScore[index * tables.bandCount + borrower[field('credit_score_range')]!]!;
        const costCents = Math.round(values[13]! * 100);
        const score = computeRecommendationScore(fixed, values[8]!, costCents);
        return [{ index, apr: values[0]!, largest: values[4]!, costUsd: Math.round(costCents / 100), score }];
      });
      const sorted = (compare: (one: (typeof matches)[0], other: (typeof matches)[0]) => number) =>
        [...matches]
          .sort((one, other) => compare(one, other) || one.index - other.index)
          .slice(0, tables.orderLength)
          .map(({ index }) => index);
      const recommended = sorted((one, other) => other.score - one.score);
      const { total, orders } = rankMortgages(tables, borrower, today, null);
      assert.equal(total, matches.length);
      assert.deepEqual(
        [...orders],
        [
          ...recommended,
          ...sorted((one, other) => one.apr - other.apr),
          ...sorted((one, other) => other.largest - one.largest || one.costUsd - other.costUsd),
          ...recommended,
        ],
      );
      compared += matches.length;
    }
  }
  assert.ok(compared > 500, `${compared} offers`);
});

/** Returns the bit set of all offers except one, as unavailable offers. */
function onlyOffer(index: number, count: number): Int32Array {
  const bits = new Int32Array((count + 31) >>> 5).fill(-1);
  bits[index >>> 5]! &= ~(1 << (index & 31));
  return bits;
}

test('renders the same offers as text and as objects, and ZIP code and age change nothing', () => {
  const random = seededRandom(7);
  const { compiled, tables } = compile(3, 90);
  const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });
  const renderer = compiled.offerRenderer(urls.logos);
  let rendered = 0;
  for (let draw = 0; draw < 50; draw++) {
    const borrower = drawBorrower(random).with(field('birthdate'), 19_800_101);
    const other = borrower.with(field('birthdate'), 19_500_101).with(field('address_zip'), 90_210);
    const texts = [borrower, other].map((each) => {
      const { orders } = rankMortgages(tables, each, today, null);
      const offers = priceMortgages(compiled, orders.slice(0, 20), each);
      const list = { catalog: compiled, offers, subId: 'sub_1', clickToken: 'token' };
      const text = renderer.renderOffersJson(list, urls);
      assert.equal(text, JSON.stringify(renderer.createOfferViews(list, urls)));
      rendered += offers.length;
      return text;
    });
    assert.equal(texts[0], texts[1]);
  }
  assert.ok(rendered > 100);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countAvailableOffers } from '../../../src/matching/eligibility.ts';
import { createUnavailableOffers } from '../../../src/matching/matcher.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { getChoiceValues } from '../../../src/verticals/field-vector.ts';
import { monthlyPaymentPerDollar } from '../../../src/verticals/loan-math.ts';
import { PaymentStream, solveAnnualPercentageRate } from '../../../src/verticals/mortgage/annual-percentage-rate.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import { listOfferPrices, type MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import { priceMortgages } from '../../../src/verticals/mortgage/offer-view.ts';
import type { Price } from '../../../src/verticals/mortgage/price-parts.ts';
import { rankMortgages } from '../../../src/verticals/mortgage/rank-mortgages.ts';
import { computeRecommendationScore } from '../../../src/verticals/mortgage/recommendation-score.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import {
  compileMortgages,
  drawBorrower,
  field,
  generateMortgages,
  mortgageCatalogOf,
  plainMortgage,
  today,
} from './mortgage-fixtures.ts';

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

/** Yearly rate in percent for each month of a loan, under the rules of docs/verticals/mortgage.md#adjustable-loans. */
function listMonthlyRates({ adjustable }: MortgageOffer, initialRate: number, termMonths: number): number[] {
  let rate = initialRate;
  return Array.from({ length: termMonths }, (_, month) => {
    if (adjustable === undefined || month < adjustable.fixed_months) return rate;
    const { fixed_months, adjustment_months, index_percent, margin_percent, caps_percent } = adjustable;
    if ((month - fixed_months) % adjustment_months !== 0) return rate;
    const cap = month === fixed_months ? caps_percent.first : caps_percent.periodic;
    const indexed = index_percent + margin_percent;
    if (indexed > rate) rate = Math.min(indexed, rate + cap, initialRate + caps_percent.lifetime);
    else rate = Math.max(indexed, rate - cap);
    return rate;
  });
}

interface Loan {
  readonly offer: MortgageOffer;
  readonly price: Price;
  readonly amount: number;
  /** Value of the home. */
  readonly value: number;
  readonly rate: number;
  readonly termMonths: number;
}

/** Computes the figures of a loan month by month. */
function simulateLoan({ offer, price, amount, value, rate, termMonths }: Loan) {
  const upfront = (amount * price.upfront_premium_percent) / 100_000;
  const financed = amount + upfront;
  const closing =
    (amount * price.points_percent) / 100_000 +
    price.lender_fees_usd +
    (financed * rate * price.prepaid_interest_days) / 36_500;
  const balances: number[] = [];
  const principalAndInterest: number[] = [];
  let balance = financed;
  let scheduled = 0;
  let before: number | null = null;
  for (const [month, current] of listMonthlyRates(offer, rate, termMonths).entries()) {
    const monthly = current / 1_200;
    if (current !== before) scheduled = (balance * monthly) / (1 - (1 + monthly) ** (month - termMonths));
    before = current;
    balances.push(balance);
    principalAndInterest.push(scheduled);
    balance = balance * (1 + monthly) - scheduled;
  }
  const annual = price.annual_premium_percent / 100_000;
  const isPrivate = offer.loan_type === 'conventional' || offer.loan_type === 'jumbo';
  const premiums = balances.map((owed, month) => {
    if (isPrivate) return amount > 0.8 * value && owed > 0.78 * value ? (amount * annual) / 12 : 0;
    if (offer.loan_type === 'fha' && amount <= 0.9 * value && month >= 11 * 12) return 0;
    const year = balances.slice(month - (month % 12), month - (month % 12) + 12);
    const averageBalance = year.reduce((sum, each) => sum + each, 0) / 12;
    return (((amount * averageBalance) / financed) * annual) / 12;
  });
  const payments = principalAndInterest.map((each, month) => each + premiums[month]!);
  const paidIn60 = payments.slice(0, 60).reduce((sum, each) => sum + each, 0);
  return {
    principalAndInterest: principalAndInterest[0]!,
    premium: premiums[0]!,
    premiumMonths: premiums.filter((premium) => premium > 0).length,
    costOverFiveYears: paidIn60 + closing + upfront - (financed - balances[60]!),
    aprPercent: bisectAprPercent(amount - closing, payments),
  };
}

test('the figures of all kinds of loans equal a simulation month by month', () => {
  const random = seededRandom(5);
  const compared = new Map<string, number>();
  for (let seed = 1; seed <= 12; seed++) {
    const compiled = compileMortgages(generateMortgages(seed, 90));
    const { tables } = compiled;
    for (let draw = 0; draw < 25; draw++) {
      const borrower = drawBorrower(random);
      const { orders } = rankMortgages(tables, borrower, today, null);
      for (const { index, values } of priceMortgages(compiled, [...new Set(orders)], borrower)) {
        const offer = compiled.offers[index]!.source as MortgageOffer;
        const [apr, term, payment, , , rate, , , amount, , principalAndInterest, premium, premiumMonths, cost] =
          values as number[];
        const value = borrower[field('property_value')]!;
        const band = getChoiceValues(mortgage, 'credit_score_range')[borrower[field('credit_score_range')]!]!;
        const ltvBand = offer.ltv_bands.findIndex(({ max_ltv_percent: max }) => amount! * 100 <= max * value);
        const { price } = listOfferPrices(offer).find(
          (each) => each.creditBand === band && each.ltvBand === ltvBand && each.term === String(term),
        )!;
        const loan = simulateLoan({ offer, price, amount: amount!, value, rate: rate!, termMonths: term! });
        const assertClose = (name: string, actual: number, expected: number, tolerance: number) =>
          assert.ok(Math.abs(actual - expected) <= tolerance, `${offer.id}: ${name} ${actual} instead of ${expected}`);
        assertClose('principal_and_interest', principalAndInterest!, loan.principalAndInterest, 0.0051);
        assertClose('mortgage_insurance', premium!, loan.premium, 0.0051);
        assertClose('monthly_payment_estimate', payment!, loan.principalAndInterest + loan.premium, 0.0101);
        assert.equal(premiumMonths, loan.premiumMonths, offer.id);
        assertClose('cost_over_five_years', cost!, loan.costOverFiveYears, 0.0101);
        assertClose('APR', apr!, loan.aprPercent, 0.0051);
        const isFixed = offer.adjustable === undefined;
        if (isFixed) assert.ok(apr! >= rate! - 0.005, `${offer.id}: APR ${apr} below the rate ${rate}`);
        const insured =
          loan.premiumMonths === 0 ? '' : loan.premiumMonths < term! ? ', insured' : ', insured to the end';
        const kind = `${isFixed ? 'fixed' : 'adjustable'} ${offer.loan_type}${insured}`;
        compared.set(kind, (compared.get(kind) ?? 0) + 1);
      }
    }
  }
  const kinds = ['conventional', 'conventional, insured', 'jumbo', 'va', 'fha, insured', 'fha, insured to the end'];
  for (const kind of [...kinds, 'usda, insured to the end'].map((each) => `fixed ${each}`)) {
    assert.ok(compared.get(kind)! >= 10, `${kind}: ${compared.get(kind)}`);
  }
  for (const kind of ['conventional', 'conventional, insured', 'jumbo'].map((each) => `adjustable ${each}`)) {
    assert.ok(compared.get(kind)! >= 10, `${kind}: ${compared.get(kind)}`);
  }
});

test('an adjustable loan reaches its caps in several steps, upwards and downwards', () => {
  for (const [indexPercent, lastRate] of [
    [9, 11.5],
    [0.5, 3.25],
  ] as const) {
    const adjustable = {
      fixed_months: 60,
      adjustment_months: 6,
      index_percent: indexPercent,
      margin_percent: 2.75,
      caps_percent: { first: 1.5, periodic: 1, lifetime: 5 },
    } as const;
    const offer = plainMortgage({ adjustable });
    assert.equal(listMonthlyRates(offer, 6.5, 360).at(-1), lastRate);
    const compiled = compileMortgages(mortgageCatalogOf([offer]));
    const borrower = drawBorrower(seededRandom(1))
      .with(field('loan_purpose'), 0)
      .with(field('property_value'), 400_000)
      .with(field('down_payment'), 100_000)
      .with(field('credit_score_range'), getChoiceValues(mortgage, 'credit_score_range').indexOf('750-799'))
      .with(field('loan_term_months'), 360);
    const [{ values }] = priceMortgages(compiled, [0], borrower) as unknown as [{ values: readonly number[] }];
    const { price } = listOfferPrices(offer)[0]!;
    const loan = simulateLoan({ offer, price, amount: 300_000, value: 400_000, rate: 6.5, termMonths: 360 });
    assert.ok(Math.abs(values[0]! - loan.aprPercent) <= 0.0051, `${values[0]} instead of ${loan.aprPercent}`);
  }
});

test('ranks random catalogs as a reference that prices and sorts every offer', () => {
  const random = seededRandom(6);
  let compared = 0;
  for (let seed = 21; seed <= 28; seed++) {
    const compiled = compileMortgages(generateMortgages(seed, 120));
    const { tables } = compiled;
    for (let draw = 0; draw < 20; draw++) {
      const borrower = drawBorrower(random);
      const isAvailable = (index: number) => {
        const others = createUnavailableOffers(onlyOffer(index, compiled.offers.length));
        return (
          countAvailableOffers(tables, rankMortgages(tables, borrower, today, null).total, borrower, today, others) ===
          1
        );
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

test('renders the same offers as text and as objects', () => {
  const random = seededRandom(7);
  const compiled = compileMortgages(generateMortgages(3, 90));
  const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });
  const renderer = compiled.offerRenderer(urls.logos);
  let rendered = 0;
  for (let draw = 0; draw < 50; draw++) {
    const borrower = drawBorrower(random);
    const { orders } = rankMortgages(compiled.tables, borrower, today, null);
    const offers = priceMortgages(compiled, orders.slice(0, 20), borrower);
    const list = { catalog: compiled, offers, subId: 'sub_1', clickToken: 'token' };
    assert.equal(renderer.renderOffersJson(list, urls), JSON.stringify(renderer.createOfferViews(list, urls)));
    rendered += offers.length;
  }
  assert.ok(rendered > 100);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FieldVector } from '../../../src/domain/field-vector.ts';
import { createPricingRanker } from '../../../src/matching/pricing-ranker.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import type { MortgageTables } from '../../../src/verticals/mortgage/mortgage-tables.ts';
import type { MortgageCatalog, MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import type { MortgageOfferView } from '../../../src/verticals/mortgage/offer-view.ts';
import { rankMortgages } from '../../../src/verticals/mortgage/rank-mortgages.ts';
import {
  computeLoanIndependentScore,
  computeRecommendationScore,
} from '../../../src/verticals/mortgage/recommendation-score.ts';
import { compareWithReference, explainReasons } from '../../matching/priced-rankings.ts';
import { type Random, seededRandom } from '../../support/random-catalog.ts';
import {
  borrowerOf,
  buyer,
  compileMortgages,
  drawBorrower,
  field,
  generateMortgages,
  mortgageCatalogOf,
  plainMortgage,
  today,
  viewOffers,
} from './mortgage-fixtures.ts';
import { mortgageOrders, type ReferenceMortgage, referenceMortgages } from './reference-mortgages.ts';

/**
 * Generates a catalog. In every second catalog, few offers have criteria, so that orders are longer than an answer. In every third catalog,
 * rates are so high that the balance reaches 78 % of the value after the midpoint of the term.
 */
function drawCatalog(seed: number, count: number): MortgageCatalog {
  const catalog = generateMortgages(seed, count);
  if (seed % 3 === 0) {
    const terms = catalog.lenders.flatMap(({ offers }) => offers.flatMap((offer) => Object.values(offer.terms)));
    for (const term of terms) term.rate_percent += 8;
  }
  if (seed % 2 === 0) return catalog;
  const random = seededRandom(seed);
  for (const offer of catalog.lenders.flatMap(({ offers }) => offers)) {
    if (offer.loan_type !== 'va') offer.criteria = offer.criteria.filter(() => random() < 0.2);
  }
  return catalog;
}

/** Draws a borrower, rarely without a required field. */
function drawIncompleteBorrower(random: Random): FieldVector {
  const borrower = drawBorrower(random);
  if (random() < 0.05) borrower[field(mortgage.required[Math.floor(random() * mortgage.required.length)]!)] = -1;
  return borrower;
}

function figuresOf({ mortgage: figures, ...view }: MortgageOfferView) {
  return {
    ...{ apr_range: view.apr_range, payment_term_months: view.payment_term_months, term_months: view.term_months },
    payment: view.monthly_payment_estimate,
    loan_amount_range: view.loan_amount_range,
    figures,
  };
}

function expectedFigures(match: ReferenceMortgage, nmlsId: string) {
  const { offer } = match;
  return {
    apr_range: { min: match.apr, max: match.apr },
    payment_term_months: match.term,
    term_months: match.availableTerms,
    payment: match.payment,
    loan_amount_range: { min: offer.amount.min, max: match.largestLoan },
    figures: {
      loan_type: offer.loan_type,
      rate_type: offer.adjustable === undefined ? 'fixed' : 'adjustable',
      fixed_months: offer.adjustable?.fixed_months ?? null,
      rate: match.rate,
      points_percent: match.points,
      lender_fees: match.fees,
      loan_amount: match.loan,
      ltv_percent: match.ltvPercent,
      principal_and_interest: match.principalAndInterest,
      mortgage_insurance: match.premium,
      mortgage_insurance_months: match.premiumMonths,
      upfront_premium: match.upfront,
      adjustable: expectedAdjustment(match),
      cost_over_five_years: match.costOverFiveYears,
      lock_days: offer.lock_days,
      nmls_id: nmlsId,
    },
  };
}

function expectedAdjustment({ offer: { adjustable }, months }: ReferenceMortgage) {
  if (adjustable === undefined) return null;
  const { fixed_months: _, ...rule } = adjustable;
  return {
    ...rule,
    fully_indexed_rate: Number((adjustable.index_percent + adjustable.margin_percent).toFixed(3)),
    payments: months
      .map(({ rate, payment }, at) => ({ from_month: at + 1, rate: Number(rate.toFixed(3)), payment }))
      .filter(({ rate, payment }, at) => rate !== months[at - 1]?.rate || payment !== months[at - 1]?.payment),
  };
}

test('ranks and prices random catalogs like a reference that computes every offer month by month', async () => {
  const seen = new Map<string, number>();
  const count = (kind: string) => seen.set(kind, (seen.get(kind) ?? 0) + 1);
  await compareWithReference({
    seed: 18,
    numRuns: 100,
    offersMax: 300,
    today,
    rank: rankMortgages,
    compare: mortgageOrders,
    drawCatalog,
    compile: compileMortgages,
    drawBorrower: drawIncompleteBorrower,
    findMatches: referenceMortgages,
    checkFigures(compiled, shown, borrower, matches, file) {
      const nmlsIds = new Map(file.lenders.flatMap((lender) => lender.offers.map(({ id }) => [id, lender.nmls_id])));
      const value = borrower[field('property_value')]!;
      for (const view of viewOffers(compiled, shown, borrower)) {
        const match = matches.get(view.svc_offer_id)!;
        assert.deepEqual(figuresOf(view), expectedFigures(match, nmlsIds.get(match.id)!), match.id);
        const { offer, premiumMonths, term } = match;
        const insured = premiumMonths === 0 ? '' : premiumMonths < term ? ', insured' : ', insured to the end';
        if (premiumMonths === term / 2) count('insured to the midpoint');
        count(`${offer.adjustable === undefined ? 'fixed' : 'adjustable'} ${offer.loan_type}${insured}`);
        count(`purpose ${borrower[field('loan_purpose')]}`);
        if (match.ltvPercent === 80) count('80 %');
        if (match.ltvPercent === 80 && match.loan > 0.8 * value) count('truncated to 80 %');
        if (match.comesLater) count('not 360 months');
        count(`${view.mortgage.adjustable?.payments.length ?? 0} payments`);
        if (match.availableTerms.length < Object.keys(offer.terms).length) count('fewer terms');
        if (match.largestLoan < Math.min(offer.amount.max, value)) count('limited loan');
      }
    },
  });
  const kinds = [
    ...['conventional', 'conventional, insured', 'jumbo', 'va', 'fha, insured', 'fha, insured to the end'].map(
      (each) => `fixed ${each}`,
    ),
    ...['conventional', 'conventional, insured', 'jumbo'].map((each) => `adjustable ${each}`),
    ...['fixed usda, insured to the end', 'purpose 0', 'purpose 1', 'purpose 2', '80 %', 'fewer terms', 'limited loan'],
    ...['insured to the midpoint', 'truncated to 80 %', 'not 360 months', '2 payments', '3 payments', '4 payments'],
    ...['adjustable fha, insured', 'adjustable va'],
  ];
  for (const kind of kinds) assert.ok((seen.get(kind) ?? 0) >= 10, `${kind}: ${seen.get(kind)}`);
});

/** Returns the first offer of a catalog of one offer, or undefined if the borrower does not get the offer. */
function viewOf(offer: MortgageOffer, values: Parameters<typeof borrowerOf>[0]): MortgageOfferView | undefined {
  const compiled = compileMortgages(mortgageCatalogOf([offer]));
  const borrower = borrowerOf(values);
  const { total } = rankMortgages(compiled.tables, borrower, today, null);
  return total === 0 ? undefined : viewOffers(compiled, [0], borrower)[0];
}

describe('limits are inclusive', () => {
  const loanOf = (down_payment: number, offer: MortgageOffer) =>
    viewOf(offer, { ...buyer, down_payment })?.mortgage.loan_amount;

  test('the smallest and the largest amount', () => {
    const offer = plainMortgage({ amount: { min: 200_000, max: 300_000 } });
    assert.deepEqual(
      [200_001, 200_000, 100_000, 99_999].map((down) => loanOf(down, offer)),
      [undefined, 200_000, 300_000, undefined],
    );
  });

  test('the loan-to-value ratio, after the digits behind the second decimal are dropped', () => {
    const ratioOf = (loan: number) => {
      const view = viewOf(plainMortgage(), { ...buyer, property_value: 500_000, down_payment: 500_000 - loan });
      return view && [view.mortgage.ltv_percent, view.loan_amount_range!.max];
    };
    // 400,001 USD are 80.0002 %, 400,049 USD are 80.0098 %.
    assert.deepEqual([400_000, 400_001, 400_049, 400_050].map(ratioOf), [...Array(3).fill([80, 400_049]), undefined]);
  });

  test('the debt-to-income ratio', () => {
    const offer = plainMortgage({ max_debt_to_income_percent: 40, terms: { '120': { rate_percent: 6 } } });
    // 240,000 USD over 10 years at 6 % are 2,664.49 USD a month, and 40 % of a twelfth of 140,000 USD are 4,666.67 USD.
    const paymentWith = (monthly_debt_payments: number) =>
      viewOf(offer, { ...buyer, down_payment: 160_000, monthly_debt_payments })?.monthly_payment_estimate;
    assert.deepEqual([paymentWith(2_002), paymentWith(2_003)], [2_664.49, undefined]);
  });

  test('the ratio of 90 % above which FHA premiums last for the whole term', () => {
    const fha = plainMortgage({
      loan_type: 'fha',
      ltv_bands: [{ max_ltv_percent: 96.5, annual_premium_percent: 0.5 }],
      bands: { '750-799': { max_ltv_percent: 96.5, approval_likelihood: 0.8, confirm_rate: 0.05 } },
    });
    const monthsOf = (down_payment: number) =>
      viewOf(fha, { ...buyer, down_payment })!.mortgage.mortgage_insurance_months;
    // 360,001 USD are 90.0003 %, 360,040 USD are 90.01 %.
    assert.deepEqual([40_000, 39_999, 39_961, 39_960].map(monthsOf), [132, 132, 132, 360]);
  });
});

describe('private mortgage insurance', () => {
  /** An insured loan with a rate. */
  const insured = (rate_percent: number) =>
    plainMortgage({
      terms: { '360': { rate_percent }, '240': { rate_percent } },
      ltv_bands: [{ max_ltv_percent: 80 }, { max_ltv_percent: 97, annual_premium_percent: 0.6 }],
      bands: { '750-799': { max_ltv_percent: 97, approval_likelihood: 0.8, confirm_rate: 0.05 } },
    });
  const insuranceOf = (offer: MortgageOffer, loan: number, loan_term_months = 360) => {
    const view = viewOf(offer, { ...buyer, property_value: 200_000, down_payment: 200_000 - loan, loan_term_months })!;
    return [view.mortgage.mortgage_insurance, view.mortgage.mortgage_insurance_months];
  };

  // The example of docs/verticals/mortgage.md#mortgage-insurance.
  test('ends at 78 % of the value, or at the midpoint of the term if that is earlier', () => {
    assert.deepEqual(insuranceOf(insured(6.5), 190_000), [95, 135]);
    assert.deepEqual(insuranceOf(insured(9.625), 194_000), [97, 180]);
    assert.deepEqual(insuranceOf(insured(9.125), 194_000), [97, 177]);
    assert.deepEqual(insuranceOf(insured(15), 194_000, 240), [97, 120]);
  });
});

test('explains every reason why a mortgage does not match', async () => {
  const compiled = compileMortgages(
    mortgageCatalogOf([
      plainMortgage({ id: 'plain' }),
      plainMortgage({ id: 'limited', max_debt_to_income_percent: 40 }),
      plainMortgage({ id: 'small', amount: { min: 50_000, max: 100_000 } }),
      plainMortgage({ id: 'large', amount: { min: 400_000, max: 700_000 } }),
    ]),
  );
  const explain = (values: Parameters<typeof borrowerOf>[0]) =>
    explainReasons(compiled, borrowerOf({ ...buyer, ...values }), today);
  const amounts = ['amount_too_high down_payment 1', 'amount_too_low down_payment 1'];
  assert.deepEqual(await explain({}), [2, ...amounts]);
  assert.deepEqual(await explain({ monthly_debt_payments: null }), [
    ...[1, ...amounts, 'not_told monthly_debt_payments 1'],
  ]);
  assert.deepEqual(await explain({ annual_income: null }), [1, ...amounts, 'not_told annual_income 1']);
  assert.deepEqual(await explain({ monthly_debt_payments: 4_000 }), [
    ...[1, ...amounts, 'debt_to_income monthly_debt_payments 1'],
  ]);
  assert.deepEqual(await explain({ down_payment: 79_000 }), [0, 'loan_to_value_too_high down_payment 4', ...amounts]);
  const cashOut = { loan_purpose: 'cash_out', mortgage_balance: 300_000, cash_out_amount: 21_000, down_payment: null };
  assert.equal((await explain(cashOut))[1], 'loan_to_value_too_high cash_out_amount 4');
  assert.deepEqual(await explain({ ...cashOut, cash_out_amount: null }), [0, 'not_told cash_out_amount 4']);
});

// The example of docs/verticals/mortgage.md#sort-orders.
test('computes the scores of the documented example', () => {
  const scoreOf = (costUsd: number, approval: number, stars: number) =>
    computeRecommendationScore(computeLoanIndependentScore(approval, stars), 320_000, costUsd * 100);
  assert.deepEqual(
    [scoreOf(96_000, 0.8, 5), scoreOf(99_200, 0.8, 5), scoreOf(104_000, 0.6, 4), scoreOf(96_000, 0.7, 3)],
    [650_000, 640_000, 537_500, 550_000],
  );
  assert.deepEqual([scoreOf(0, 1, 5), scoreOf(192_000, 0, 1), scoreOf(300_000, 0, 1)], [1_000_000, 0, 0]);
});

test('orders by exact keys for any lower bounds, and computes the exact keys of an offer at most once', () => {
  const offers = Array.from({ length: 100 }, (_, at) => plainMortgage({ id: `offer-${String(at).padStart(3, '0')}` }));
  const { tables } = compileMortgages(mortgageCatalogOf(offers));
  const random = seededRandom(4);
  for (let draw = 0; draw < 50; draw++) {
    const drawKeys = () => offers.map(() => Math.floor(random() * 40));
    const [aprs, amounts] = [drawKeys(), drawKeys()];
    const drawGap = () => (random() < 0.5 ? 0 : Math.floor(random() * 20));
    const computed: number[] = [];
    const rank = createPricingRanker<MortgageTables, object>({
      readApplicant: () => ({}),
      computeSortKeys(_tables, offer, _applicant, keys) {
        Object.assign(keys, { recommended: offer, revenue: offer });
        keys.lowestApr = aprs[offer]! - drawGap();
        keys.highestAmount = amounts[offer]! - drawGap();
        return true;
      },
      computeAprKeys(_tables, offer, _applicant, keys) {
        computed.push(offer);
        keys.lowestApr = aprs[offer]!;
        keys.highestAmount = amounts[offer]!;
      },
    });
    const { orders } = rank(tables, borrowerOf(buyer), today, null);
    const sorted = (keys: readonly number[]) =>
      [...keys.keys()].sort((one, other) => keys[one]! - keys[other]! || one - other).slice(0, tables.orderLength);
    const byNumber = [...offers.keys()].slice(0, tables.orderLength);
    assert.deepEqual([...orders], [...byNumber, ...sorted(aprs), ...sorted(amounts), ...byNumber]);
    assert.equal(new Set(computed).size, computed.length);
    assert.ok(computed.length < offers.length, 'some offers need no exact keys');
  }
});

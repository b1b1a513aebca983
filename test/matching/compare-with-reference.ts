import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { absentValue, findFieldIndex } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { calculateLoanPrices } from '../../src/verticals/personal-loans/offer-view.ts';
import type { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { generateCatalog, type Random, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { compileLoans, today } from './loan-fixtures.ts';
import { compareRanking, drawUnavailable } from './priced-rankings.ts';
import { loanOrders, type ReferenceMatch, referenceMatches } from './reference-matcher.ts';

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });

/** What a comparison draws: everything else follows from it. */
export interface Draw {
  readonly catalogSeed: number;
  readonly offers: number;
  readonly market: Market;
  readonly borrowerSeed: number;
}

/**
 * `varied` catalogs are as generated. In all others offers ask for little, so that many match and the orders are walked: in
 * `crowded` ones offers are much alike, in `alike` ones they differ in nothing but how much debt they allow, in
 * `split` ones every state has rules of its own, in `fine` ones hardly two offers begin or end at the same amount or
 * ask for the same income, and in `free` ones nothing costs interest, so that payments are exactly what debts leave room for.
 */
const markets = ['varied', 'crowded', 'alike', 'split', 'fine', 'free'] as const;
type Market = (typeof markets)[number];

export const draws: fc.Arbitrary<Draw> = fc.record({
  catalogSeed: fc.nat(),
  offers: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 90 }) },
    { weight: 3, arbitrary: fc.integer({ min: 91, max: 300 }) },
    { weight: 1, arbitrary: fc.integer({ min: 301, max: 900 }) },
  ),
  market: fc.constantFrom(...markets),
  borrowerSeed: fc.nat(),
});

/**
 * Ranks `borrowers` random borrowers by a random catalog and throws where total, orders or what is answered of an offer are not those of
 * the plain rules. Answers how many matches were compared.
 */
export async function compareWithReference(
  rank: typeof rankLoans,
  vertical: Vertical,
  draw: Draw,
  borrowers: number,
): Promise<number> {
  const catalog = catalogOf(draw, vertical);
  // The rules know no caps: they tell the ranker that offers may close.
  if (draw.catalogSeed % 2 === 0) catalog.lenders[0]!.offers[0]!.daily_cap = 1;
  const hasCaps = catalog.lenders.some(({ offers }) => offers.some(({ daily_cap }) => daily_cap !== undefined));
  const compiled = compileLoans(catalog, 'live', vertical);
  assert.equal(compiled.tables.orderLength, hasCaps ? bounds.offersRankedMax : bounds.offersShownMax);
  const random = seededRandom(draw.borrowerSeed);
  let compared = 0;
  for (let i = 0; i < borrowers; i++) {
    const borrower = drawBorrower(random, vertical);
    if (draw.market === 'free') spendToTheLimit(borrower, catalog, random, vertical);
    const unavailable = drawUnavailable(random, compiled.offers.length);
    const expected = referenceMatches(catalog, vertical, borrower, today);
    const comparison = { compiled, borrower, today, unavailable, expected, rank, compare: loanOrders, random };
    compareAnswers(compiled, borrower, await compareRanking(comparison), expected);
    compared += expected.length;
  }
  return compared;
}

/** What is answered of every offer in one of the orders: rates, payment, amounts and terms. */
function compareAnswers(
  compiled: CompiledCatalog,
  borrower: number[],
  shown: readonly number[],
  plain: readonly ReferenceMatch[],
): void {
  const quotes = new Map(plain.map(({ id, quote }) => [id, quote]));
  for (let from = 0; from < shown.length; from += bounds.offersShownMax) {
    const some = Uint16Array.from(shown.slice(from, from + bounds.offersShownMax));
    const offers = calculateLoanPrices(compiled, some, borrower);
    const answered = compiled
      .offerRenderer(urls.logos)
      .createOfferViews({ catalog: compiled, offers, subId: 'sub', clickToken: 'v' }, urls);
    for (const { svc_offer_id, apr_range, payment_term_months, monthly_payment_estimate, ...terms } of answered) {
      const { loan_amount_range, term_months } = terms;
      const quote = { apr_range, payment_term_months, monthly_payment_estimate, loan_amount_range, term_months };
      assert.deepEqual(quote, quotes.get(svc_offer_id), svc_offer_id);
    }
    assert.equal(answered.length, some.length);
  }
}

function catalogOf({ catalogSeed, offers, market }: Draw, vertical: Vertical): LoanCatalog {
  const catalog = generateCatalog(catalogSeed, offers, vertical);
  if (market === 'varied') return catalog;
  const random = seededRandom(catalogSeed);
  const changed = {
    crowded: (offer: LoanOffer) => crowdedOffer(offer, random),
    alike: (offer: LoanOffer) => alikeOffer(offer, random),
    split: (offer: LoanOffer) => crowdedOffer(offer, random),
    fine: (offer: LoanOffer) => fineOffer(offer, vertical, random),
    free: (offer: LoanOffer) => freeOffer(offer, random),
  }[market];
  const lenders = catalog.lenders.map((lender) => ({ ...lender, offers: lender.offers.map(changed) }));
  const rules = market === 'split' ? splitRules(vertical, random) : catalog.state_rules;
  return { ...catalog, state_rules: rules, lenders };
}

function crowdedOffer(offer: LoanOffer, random: Random): LoanOffer {
  return {
    ...offer,
    stars: Math.round(offer.stars),
    criteria: offer.criteria.filter(() => random() < 0.2),
    amount: { min: 500, max: 100_000 },
    payout_usd: Math.round(offer.payout_usd / 100) * 100,
    bands: changeBands(offer, (band) => ({
      note_rate_percent: {
        min: Math.floor(band.note_rate_percent.min),
        max: Math.min(36, Math.ceil(band.note_rate_percent.max)),
      },
      approval_likelihood: Math.round(band.approval_likelihood * 4) / 4,
      confirm_rate: 0.05,
      max_amount: Math.ceil(band.max_amount / 25_000) * 25_000,
    })),
  };
}

function alikeOffer(offer: LoanOffer, random: Random): LoanOffer {
  const { id, features, prequalification, landing_url, payout_usd } = offer;
  const band = {
    note_rate_percent: { min: 9, max: 12 },
    origination_fee_percent: 0,
    approval_likelihood: 0.5,
    confirm_rate: 0.05,
    max_amount: 100_000,
  };
  return {
    id,
    stars: 4,
    features,
    prequalification,
    landing_url,
    payout_usd,
    amount: { min: 500, max: 100_000 },
    criteria: [],
    term_months: [24, 36, 48, 60],
    max_debt_to_income_percent: random() < 0.5 ? 25 : 40,
    bands: Object.fromEntries(Object.keys(offer.bands).map((name) => [name, band])),
  };
}

function fineOffer(offer: LoanOffer, vertical: Vertical, random: Random): LoanOffer {
  const max = 20_000 + Math.floor(random() * 160) * 500;
  return {
    ...offer,
    criteria: [{ field: vertical.roles.annualIncome!, min: Math.floor(random() * 200) * 500 }],
    amount: { min: 500 + Math.floor(random() * 60) * 500, max },
    bands: changeBands(offer, () => ({ max_amount: max - Math.floor(random() * 20) * 500 })),
  };
}

function freeOffer(offer: LoanOffer, random: Random): LoanOffer {
  const alike = alikeOffer(offer, random);
  return {
    ...alike,
    // Over 105 and 210 months some payments come out a last bit above what they are on paper.
    term_months: [20, 60, 105, 210],
    max_debt_to_income_percent: 5 + Math.floor(random() * 240) / 4,
    bands: changeBands(alike, () => ({ note_rate_percent: { min: 0, max: 0 } })),
  };
}

/** Gives the borrower an income, debts and an amount whose payment over one of the terms is all that some offer allows. */
function spendToTheLimit(borrower: number[], catalog: LoanCatalog, random: Random, vertical: Vertical): void {
  const { amount, annualIncome, monthlyDebt } = vertical.roles;
  if (monthlyDebt === undefined) return;
  const offers = catalog.lenders.flatMap((lender) => lender.offers);
  const offer = offers[Math.floor(random() * offers.length)]!;
  const months = offer.term_months[Math.floor(random() * offer.term_months.length)]!;
  // Of 240 USD a year, or 20 a month, a quarter of a percent is a twentieth of a dollar.
  const quarters = offer.max_debt_to_income_percent! * 4;
  const debt = Math.floor(random() * 2_000);
  // By fours, so that the amount is whole over 105 months, too.
  const incomes = 4 * Math.ceil((1_000 + random() * 8_000 + debt * 20) / quarters / 4);
  borrower[findFieldIndex(vertical, annualIncome)] = incomes * 240;
  borrower[findFieldIndex(vertical, monthlyDebt)] = debt;
  borrower[findFieldIndex(vertical, amount)] = ((incomes * quarters - debt * 20) * months) / 20;
}

function changeBands(
  offer: LoanOffer,
  change: (band: LoanOffer['bands'][string]) => Partial<LoanOffer['bands'][string]>,
): LoanOffer['bands'] {
  return Object.fromEntries(Object.entries(offer.bands).map(([name, band]) => [name, { ...band, ...change(band) }]));
}

function splitRules(vertical: Vertical, random: Random): LoanCatalog['state_rules'] {
  const field = vertical.fields.find(({ name }) => name === vertical.roles.state);
  assert.equal(field?.kind, 'choice');
  return Object.fromEntries(
    field.values.map((state) => [
      state,
      { max_apr_percent: 10 + Math.floor(random() * 27), min_amount: 500 + Math.floor(random() * 10) * 1_000 },
    ]),
  );
}

/** As a rule anybody; sometimes without one of the required fields, at the very edge of what criteria ask for, or in modest debt. */
function drawBorrower(random: Random, vertical: Vertical): number[] {
  const borrower = randomBorrower(random, vertical, random() < 0.5 ? 0.2 : 0);
  if (random() < 0.03) borrower[Math.floor(random() * borrower.length)] = absentValue;
  for (const [at, field] of vertical.fields.entries()) {
    if (field.kind !== 'integer' || borrower[at] === absentValue || random() < 0.6) continue;
    const edge = Math.round(borrower[at]! / 500) * 500 + Math.floor(random() * 3) - 1;
    borrower[at] = Math.min(field.max, Math.max(field.min, edge));
  }
  const { annualIncome, monthlyDebt } = vertical.roles;
  const income = borrower[findFieldIndex(vertical, annualIncome)]!;
  if (monthlyDebt !== undefined && random() < 0.5) {
    borrower[findFieldIndex(vertical, monthlyDebt)] = Math.floor((Math.max(0, income) / 12) * random() * 0.4);
  }
  return borrower;
}

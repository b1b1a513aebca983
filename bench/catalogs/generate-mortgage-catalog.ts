import { getChoiceValues } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';
import type { MortgageCatalog, MortgageLender, MortgageOffer } from '../../src/verticals/mortgage/offer-schema.ts';
import type { PricePart } from '../../src/verticals/mortgage/price-parts.ts';
import { pickRandomByWeight } from '../population/random.ts';
import type { GenerateCatalogOptions } from './generate-catalog.ts';
import { uniqueLenderName } from './lender-kinds.ts';
import { type RandomSource, randomBoolean, randomElement, randomInteger, seededRandom } from './seeded-random.ts';

const nameEndings = ['Home Loans', 'Mortgage', 'Savings Bank', 'Credit Union', 'Home Lending', 'Bank'];

type LoanType = MortgageOffer['loan_type'];

const loanTypeShares: readonly (readonly [LoanType, number])[] = [
  ['conventional', 0.5],
  ['fha', 0.17],
  ['va', 0.13],
  ['usda', 0.05],
  ['jumbo', 0.15],
];

const termSets = [[360], [360, 180], [360, 240, 180, 120], [360, 300, 240, 180, 120], [180, 120], [300, 240]];

/** Upper ends of the loan-to-value bands of each loan type, in percent. */
const ltvBandsByType: Readonly<Record<LoanType, readonly number[]>> = {
  conventional: [60, 70, 75, 80, 85, 90, 95, 97],
  fha: [80, 90, 95, 96.5],
  va: [90, 95, 100],
  usda: [80, 100],
  jumbo: [60, 70, 75, 80, 85, 90],
};

/**
 * Generates a valid catalog of fictional mortgage lenders. The same arguments give the same catalog. Each optional member of the catalog
 * format is used by some of the offers. By default, a lender has three offers.
 */
export function generateMortgageCatalog({ seed, offers, lenders, vertical }: GenerateCatalogOptions): MortgageCatalog {
  const random = seededRandom(seed);
  const count = Math.min(offers, lenders ?? Math.ceil(offers / 3));
  const names = new Set<string>();
  return {
    format: 1,
    vertical: vertical.segment,
    disclosure: 'Made-up loans of made-up lenders. We are paid for leads; the order does not depend on it.',
    max_age_days: null,
    state_rules: { AL: { min_age: 19 }, MS: { min_age: 21 } },
    lenders: Array.from({ length: count }, (_, at) => {
      // Number of offers of this lender. The offers are divided among the lenders as evenly as possible.
      const share = Math.floor(((at + 1) * offers) / count) - Math.floor((at * offers) / count);
      return randomLender(random, vertical, share, names, at);
    }),
  };
}

function randomLender(
  random: RandomSource,
  vertical: Vertical,
  offers: number,
  names: Set<string>,
  number: number,
): MortgageLender {
  const name = uniqueLenderName(random, { nameEndings }, names);
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const states = randomStates(random, vertical);
  /** Difference of the lender's rates from the market, in eighths of a percent. */
  const dearness = randomInteger(random, -3, 4);
  return {
    name,
    logo: `${slug}.svg`,
    nmls_id: String(99_000_000 + number),
    offers: Array.from({ length: offers }, (_, at) =>
      randomOffer(random, vertical, { id: `${slug}-${at + 1}`, slug, states, dearness }),
    ),
  };
}

interface OfferOrigin {
  readonly id: string;
  readonly slug: string;
  readonly states: OfferCriterion | null;
  readonly dearness: number;
}

function randomOffer(
  random: RandomSource,
  vertical: Vertical,
  { id, slug, states, dearness }: OfferOrigin,
): MortgageOffer {
  const loanType = pickRandomByWeight(random, loanTypeShares);
  const isAdjustable = loanType !== 'usda' && randomBoolean(random, 0.25);
  const terms = isAdjustable ? [360, 300].slice(0, randomInteger(random, 1, 2)) : randomElement(random, termSets);
  const isJumbo = loanType === 'jumbo';
  const use = randomUse(random, loanType);
  return {
    id,
    stars: randomInteger(random, 30, 50) / 10,
    features: ['online_application', 'rate_match', 'free_float_down'].filter(() => randomBoolean(random, 0.4)),
    prequalification: randomBoolean(random, 0.7),
    landing_url: `https://${slug}.example/apply?offer=${id}&click={click_id}`,
    legal: `Made-up loan ${id}. Not an offer to lend.`,
    terms_url: `https://${slug}.example/terms/${id}`,
    as_of: '2026-07-01',
    loan_type: loanType,
    ...(isAdjustable ? { adjustable: randomAdjustment(random) } : {}),
    amount: isJumbo
      ? { min: 832_751, max: randomInteger(random, 15, 50) * 100_000 }
      : { min: randomInteger(random, 5, 15) * 10_000, max: loanType === 'fha' ? 541_287 : 832_750 },
    criteria: randomCriteria(random, loanType, states, use),
    ...(randomBoolean(random, 0.8) ? { max_debt_to_income_percent: randomInteger(random, 36, 57) } : {}),
    payout_usd: randomInteger(random, 4, 20) * 10,
    ...(randomBoolean(random, 0.05) ? { daily_cap: randomInteger(random, 1, 40) * 25 } : {}),
    lock_days: randomElement(random, [30, 45, 60]),
    terms: Object.fromEntries(
      terms.map((months) => [months, randomTermPrice(random, loanType, months, dearness - (isAdjustable ? 4 : 0))]),
    ),
    ltv_bands: randomLtvBands(random, loanType, use),
    bands: randomCreditBands(random, vertical, loanType, use),
  };
}

/** Use of a loan. Cash-out loans, and loans for homes that are not primary homes, have lower loan-to-value ratios. */
interface LoanUse {
  readonly purposes: readonly string[];
  readonly isPrimaryOnly: boolean;
  /** Upper ends of the loan-to-value bands, in percent. */
  readonly ltvBands: readonly number[];
}

function randomUse(random: RandomSource, loanType: LoanType): LoanUse {
  const isGovernment = loanType === 'fha' || loanType === 'va' || loanType === 'usda';
  const isPrimaryOnly = isGovernment || randomBoolean(random, 0.5);
  const isCashOut = loanType !== 'usda' && randomBoolean(random, 0.15);
  const ltvMax = isCashOut ? (loanType === 'va' ? 90 : 80) : isPrimaryOnly ? 100 : 90;
  const ltvBands = ltvBandsByType[loanType].filter((max) => max <= ltvMax);
  if (isCashOut) return { purposes: ['cash_out'], isPrimaryOnly, ltvBands };
  // The funding fee of a VA loan depends on the down payment only for a purchase.
  const isForOne = loanType === 'va' || randomBoolean(random, 0.2);
  const purposes = ['purchase', 'refinance'];
  return { purposes: isForOne ? [randomElement(random, purposes)] : purposes, isPrimaryOnly, ltvBands };
}

function randomAdjustment(random: RandomSource): NonNullable<MortgageOffer['adjustable']> {
  return {
    fixed_months: randomElement(random, [60, 84, 120] as const),
    adjustment_months: randomBoolean(random, 0.85) ? 6 : 12,
    index_percent: 4.2,
    margin_percent: randomInteger(random, 9, 12) / 4,
    caps_percent: { first: randomBoolean(random, 0.5) ? 2 : 5, periodic: randomInteger(random, 1, 2), lifetime: 5 },
  };
}

function randomTermPrice(random: RandomSource, loanType: LoanType, months: number, eighths: number) {
  const typeEighths = { conventional: 0, fha: -2, va: -3, usda: -2, jumbo: 1 }[loanType];
  const termEighths = Math.round((months - 360) / 40);
  return {
    rate_percent: (52 + eighths + typeEighths + termEighths + randomInteger(random, -1, 1)) / 8,
    points_percent: randomInteger(random, 0, 10) / 8,
    lender_fees_usd: randomInteger(random, 0, 20) * 100,
    prepaid_interest_days: 15,
    ...(loanType === 'fha' ? { upfront_premium_percent: 1.75, annual_premium_percent: 0.5 } : {}),
    ...(loanType === 'va' ? { upfront_premium_percent: 1.25 } : {}),
    ...(loanType === 'usda' ? { upfront_premium_percent: 1, annual_premium_percent: 0.35 } : {}),
    ...(loanType === 'conventional' || loanType === 'jumbo' ? { annual_premium_percent: 0.2 } : {}),
  };
}

function randomLtvBands(
  random: RandomSource,
  loanType: LoanType,
  { ltvBands, purposes }: LoanUse,
): MortgageOffer['ltv_bands'] {
  const all = ltvBandsByType[loanType];
  const last = all.length - 1;
  return ltvBands
    .filter((max, at) => at === ltvBands.length - 1 || max === 80 || randomBoolean(random, 0.6))
    .map((max_ltv_percent) => {
      const place = all.indexOf(max_ltv_percent);
      const part = randomLtvPart(random, loanType, place, last);
      if (purposes.includes('cash_out')) part.rate_percent! += 0.25;
      if (loanType === 'va' && !purposes.includes('purchase')) part.upfront_premium_percent = 0.9;
      return { max_ltv_percent, ...part };
    });
}

function randomLtvPart(random: RandomSource, loanType: LoanType, place: number, last: number): PricePart {
  const part = { rate_percent: (place - last + randomInteger(random, 0, 1)) / 8 };
  if (loanType === 'va') return { ...part, upfront_premium_percent: [0, 0.25, 0.9][place]! };
  if (loanType === 'fha' && place === last) return { ...part, annual_premium_percent: 0.05 };
  return loanType === 'conventional' && place > 3 ? { ...part, annual_premium_percent: (place - 3) / 10 } : part;
}

function randomCreditBands(
  random: RandomSource,
  vertical: Vertical,
  loanType: LoanType,
  { ltvBands }: LoanUse,
): MortgageOffer['bands'] {
  const names = getChoiceValues(vertical, vertical.roles.creditBand);
  const worst = { conventional: 2, fha: 1, va: 1, usda: 2, jumbo: 4 }[loanType] + randomInteger(random, 0, 1);
  const highest = ltvBands.at(-1)!;
  return Object.fromEntries(
    names.slice(worst).map((name, at) => {
      const quality = (worst + at) / (names.length - 1);
      const isPrivate = loanType === 'conventional' || loanType === 'jumbo';
      return [
        name,
        {
          max_ltv_percent: quality > 0.6 ? highest : Math.min(highest, randomElement(random, [80, 90, highest])),
          rate_percent: Math.round(8 * (1 - quality)) / 8,
          points_percent: randomInteger(random, 0, 2) / 8,
          ...(isPrivate ? { annual_premium_percent: Math.round(10 * (1 - quality)) / 10 } : {}),
          approval_likelihood: Math.round(100 * (0.3 + 0.55 * quality + 0.1 * random())) / 100,
          confirm_rate: Math.round(1_000 * (0.02 + 0.06 * quality)) / 1_000,
        },
      ];
    }),
  );
}

function randomStates(random: RandomSource, vertical: Vertical): OfferCriterion | null {
  const states = getChoiceValues(vertical, vertical.roles.state);
  const share = random();
  if (share < 0.3) return null;
  if (share < 0.6) return { field: 'state', not_in: [randomElement(random, states), 'GU', 'AS'] };
  return { field: 'state', in: ['CA', 'TX', ...states.filter(() => randomBoolean(random, 0.4))] };
}

function randomCriteria(
  random: RandomSource,
  loanType: LoanType,
  states: OfferCriterion | null,
  { purposes, isPrimaryOnly }: LoanUse,
): OfferCriterion[] {
  const criteria: OfferCriterion[] = states === null ? [] : [states];
  criteria.push({ field: 'loan_purpose', in: [...purposes] });
  if (isPrimaryOnly) criteria.push({ field: 'occupancy', in: ['primary'] });
  else if (randomBoolean(random, 0.4)) criteria.push({ field: 'occupancy', not_in: ['investment'] });
  if (loanType === 'va') criteria.push({ field: 'veteran', in: [true] });
  if (randomBoolean(random, 0.3)) criteria.push({ field: 'property_type', not_in: ['manufactured'] });
  if (randomBoolean(random, 0.03)) criteria.push({ field: 'first_time_buyer', in: [true] });
  if (randomBoolean(random, 0.3)) criteria.push({ field: 'annual_income', min: randomInteger(random, 3, 12) * 10_000 });
  if (randomBoolean(random, 0.05)) criteria.push({ field: 'birthdate', min_age: randomInteger(random, 16, 18) });
  return criteria;
}

import { roundHalfUp } from '../../src/domain/money.ts';
import { usStateCodes } from '../../src/domain/us-states.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';
import { computeTierYields, type InterestRules } from '../../src/verticals/banking/annual-yield.ts';
import { banking } from '../../src/verticals/banking/banking.ts';
import type { DepositCatalog, DepositOffer } from '../../src/verticals/banking/offer-schema.ts';
import { pickRandomByWeight, type WeightedTable } from '../population/random.ts';
import { uniqueLenderName } from './lender-kinds.ts';
import { type RandomSource, randomBoolean, randomElement, randomInteger, seededRandom } from './seeded-random.ts';

interface GenerateBankingCatalogOptions {
  readonly seed: number;
  /** Number of offers; at most `bounds.catalogOffersMax`. */
  readonly offers: number;
  /** Number of lenders, from 1 to the number of offers; the default is one lender for every four offers. */
  readonly lenders?: number;
}

type DepositLender = DepositCatalog['lenders'][number];

interface Institution {
  readonly nameEndings: readonly string[];
  readonly insurer: DepositOffer['insured_by'];
  /** Share of the states that the institution serves. */
  readonly reach: number;
  /** Highest usual interest rate in percent. */
  readonly topRate: number;
}

/** Kinds of institutions, with their shares in percent. */
const institutions: WeightedTable<Institution> = [
  [{ nameEndings: ['Direct', 'Online Bank'], insurer: 'fdic', reach: 0.96, topRate: 4.6 }, 25],
  [{ nameEndings: ['Bank', 'Trust', 'Savings'], insurer: 'fdic', reach: 0.35, topRate: 3.2 }, 40],
  [{ nameEndings: ['Credit Union', 'Federal Credit Union'], insurer: 'ncua', reach: 0.15, topRate: 4 }, 35],
];

const accountNames = { savings: 'Savings', checking: 'Checking', money_market: 'Money Market', cd: 'CD' };

const productShares: WeightedTable<keyof typeof accountNames> = [
  ['savings', 32],
  ['checking', 24],
  ['money_market', 16],
  ['cd', 28],
];

const cdTerms = banking.fields.flatMap((field) => (field.kind === 'integer_choice' ? field.values : []));

/** Generates a valid catalog of fictional banks and credit unions. The same arguments give the same catalog. */
export function generateBankingCatalog({ seed, offers, lenders }: GenerateBankingCatalogOptions): DepositCatalog {
  const random = seededRandom(seed);
  const count = Math.min(offers, lenders ?? Math.ceil(offers / 4));
  const names = new Set<string>();
  return {
    format: 1,
    vertical: banking.segment,
    disclosure: 'Made-up offers of made-up banks. We are paid for clicks; the recommended order does not depend on it.',
    max_age_days: null,
    state_rules: { AL: { min_age: 19 }, MS: { min_age: 21 } },
    lenders: Array.from({ length: count }, (_, at) => {
      const share = Math.floor(((at + 1) * offers) / count) - Math.floor((at * offers) / count);
      return randomLender(random, share, names);
    }),
  };
}

function randomLender(random: RandomSource, offers: number, names: Set<string>): DepositLender {
  const kind = pickRandomByWeight(random, institutions);
  const name = uniqueLenderName(random, kind, names);
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const states = usStateCodes.filter(() => randomBoolean(random, kind.reach));
  const criteria = [{ field: 'state', in: states.length === 0 ? [randomElement(random, usStateCodes)] : states }];
  const certificate = String(randomInteger(random, 900_000, 999_999));
  return {
    name,
    logo: `${slug}.svg`,
    offers: Array.from({ length: offers }, (_, at) => ({
      ...randomOffer(random, kind, name, slug, at + 1),
      criteria: [...(kind.reach > 0.9 ? [] : criteria), ...randomCriteria(random)],
      certificate_number: certificate,
    })),
  };
}

function randomOffer(
  random: RandomSource,
  kind: Institution,
  lender: string,
  slug: string,
  number: number,
): Omit<DepositOffer, 'criteria' | 'certificate_number'> {
  const id = `${slug}-${number}`;
  const product_type = pickRandomByWeight(random, productShares);
  const isCd = product_type === 'cd';
  const monthly_fee = !isCd && randomBoolean(random, 0.3) ? randomElement(random, [4.95, 5, 8, 12, 25]) : 0;
  const minimum_deposit = randomElement(random, isCd ? [0, 500, 1_000, 2_500, 10_000] : [0, 0, 5, 25, 100, 1_000]);
  const topRate = product_type === 'checking' && randomBoolean(random, 0.8) ? 0.5 : kind.topRate;
  const rules: InterestRules & Pick<DepositOffer, 'steps'> = {
    compounding: randomElement(random, ['daily', 'daily', 'monthly', 'quarterly', 'annual']),
    tier_method: randomBoolean(random, 0.25) ? 'marginal' : 'whole_balance',
    tiers: randomTiers(random, topRate),
    ...(isCd && { term_months: randomElement(random, cdTerms) }),
  };
  if (isCd && randomBoolean(random, 0.15)) Object.assign(rules, randomSteps(random, rules));
  if ((product_type === 'savings' || product_type === 'money_market') && randomBoolean(random, 0.15)) {
    const introductory = { rate: randomRate(random, topRate), months: randomElement(random, [2, 3, 6, 12]) };
    Object.assign(rules, { introductory, tier_method: 'whole_balance' });
  }
  return {
    id,
    name: `${accountNames[product_type]} ${number}`,
    stars: randomInteger(random, 30, 50) / 10,
    features: monthly_fee === 0 ? ['no_monthly_fee'] : [],
    prequalification: true,
    landing_url: `https://${slug}.example/open?offer=${id}&click={click_id}`,
    legal: `${lender} pays the annual percentage yield (APY) shown as of 2025-11-01. Fees may reduce earnings.`,
    terms_url: `https://${slug}.example/terms/${id}`,
    as_of: '2025-11-01',
    payout_usd: randomInteger(random, 4, 60) / 4,
    ...(randomBoolean(random, 0.08) && { daily_cap: randomInteger(random, 1, 40) * 25 }),
    product_type,
    ...rules,
    tiers: createTiersWithYields(rules),
    minimum_deposit,
    minimum_balance_for_apy: randomBoolean(random, 0.3) ? randomElement(random, [100, 1_000, 2_500]) : 0,
    monthly_fee,
    ...(monthly_fee > 0 &&
      randomBoolean(random, 0.8) && { fee_waived_from: randomElement(random, [300, 1_500, 10_000]) }),
    ...(isCd && randomBoolean(random, 0.9) && { early_withdrawal_penalty_days: randomElement(random, [30, 90, 180]) }),
    ...(!isCd && randomBoolean(random, 0.25) && { bonus: randomBonus(random) }),
    insured_by: kind.insurer,
    variable: !isCd,
  };
}

/** Returns the tiers of an offer with the annual percentage yields that the catalog must state. */
export function createTiersWithYields(rules: InterestRules): DepositOffer['tiers'] {
  const yields = computeTierYields(rules);
  return rules.tiers.map(({ from, rate }, at) => ({ from, rate, apy: roundHalfUp(yields[at]!, 2) }));
}

function randomRate(random: RandomSource, topRate: number): number {
  return randomInteger(random, 0, topRate * 100) / 100;
}

/** Returns a single tier and rates that rise by a quarter of a percent in equal parts of the term. */
function randomSteps(random: RandomSource, { tiers, term_months = 12 }: InterestRules) {
  const first = tiers[0]!.rate;
  const count = randomElement(random, [2, 3]);
  const steps = Array.from({ length: count }, (_, at) => ({
    from_month: Math.floor((term_months * at) / count) + 1,
    rate: first + at / 4,
  }));
  return { tiers: [{ from: 0, rate: first }], steps };
}

function randomTiers(random: RandomSource, topRate: number): InterestRules['tiers'] {
  const count = randomElement(random, [1, 1, 1, 2, 3, 4]);
  const starts = [0, 2_500, 10_000, 25_000, 50_000, 100_000, 250_000];
  const first = randomInteger(random, 1, starts.length - count);
  const rates = Array.from({ length: count }, () => randomRate(random, topRate));
  // Rates usually rise with the balance; one offer in ten pays its highest rate on small balances.
  rates.sort((one, other) => (randomBoolean(random, 0.1) ? other - one : one - other));
  return rates.map((rate, at) => ({ from: at === 0 ? 0 : starts[first + at - 1]!, rate }));
}

function randomBonus(random: RandomSource): NonNullable<DepositOffer['bonus']> {
  const needsDirectDeposit = randomBoolean(random, 0.6);
  return {
    amount: randomInteger(random, 1, 12) * 50,
    requirement: needsDirectDeposit ? 'Set up a direct deposit' : 'Keep the deposit for 30 days',
    days: randomElement(random, [30, 60, 90, 120]),
    paid_within_days: 60,
    ...(!needsDirectDeposit && { minimum_deposit: randomElement(random, [5_000, 15_000, 25_000]) }),
    ...(needsDirectDeposit && { direct_deposit: true as const }),
    ...(randomBoolean(random, 0.8) && { new_customer: true as const }),
  };
}

function randomCriteria(random: RandomSource): OfferCriterion[] {
  const criteria: OfferCriterion[] = [];
  if (randomBoolean(random, 0.08)) criteria.push({ field: 'direct_deposit', in: [true] });
  if (randomBoolean(random, 0.08)) criteria.push({ field: 'new_customer', in: [true] });
  if (randomBoolean(random, 0.04)) criteria.push({ field: 'birthdate', min_age: randomElement(random, [21, 55, 62]) });
  if (randomBoolean(random, 0.04)) criteria.push({ field: 'deposit_amount', max: 250_000 });
  return criteria;
}

import { getChoiceValues } from '../../src/domain/field-vector.ts';
import { getContractAge } from '../../src/domain/us-states.ts';
import type { PocketField, Vertical } from '../../src/domain/vertical.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';
import type {
  LoanCatalog,
  LoanCreditBand,
  LoanLender,
  LoanOffer,
} from '../../src/verticals/personal-loans/offer-schema.ts';
import { pickRandomByWeight } from '../population/random.ts';
import { type LenderKind, lenderKinds, uniqueLenderName } from './lender-kinds.ts';
import { type RandomSource, randomBoolean, randomElement, randomInteger, seededRandom } from './seeded-random.ts';

const weightedLenderKinds = lenderKinds.map((kind) => [kind, kind.share] as const);

export interface GenerateCatalogOptions {
  readonly seed: number;
  /** Number of offers; at most `bounds.catalogOffersMax`. */
  readonly offers: number;
  /** Number of lenders, from 1 to the number of offers; the default is one lender for every two offers. */
  readonly lenders?: number;
  readonly vertical: Vertical;
}

/**
 * Generates a valid catalog of fictional lenders. The same arguments give the same catalog. The catalog uses each optional member of the
 * catalog format about as often as real catalogs do. Each kind of lender has its own criteria and prices. `vertical.roles` must name the
 * fields for the amount, the term and other properties of a loan.
 */
export function generateCatalog({ seed, offers, lenders, vertical }: GenerateCatalogOptions): LoanCatalog {
  const random = seededRandom(seed);
  // Daily caps use a separate random sequence, so that the rest of the catalog does not depend on the caps.
  const capRandom = seededRandom(~seed);
  const count = Math.min(offers, lenders ?? Math.ceil(offers / 2));
  const names = new Set<string>();
  return {
    format: 1,
    vertical: vertical.segment,
    disclosure:
      'Made-up offers of made-up lenders. We are paid by some of them; the recommended order does not depend on it.',
    max_apr_percent: 36,
    state_rules: randomStateRules(random, vertical, 0.2, true),
    lenders: Array.from({ length: count }, (_, at) => {
      // Number of offers of this lender. The offers are divided among the lenders as evenly as possible.
      const share = Math.floor(((at + 1) * offers) / count) - Math.floor((at * offers) / count);
      return addDailyCaps(capRandom, randomLender(random, vertical, share, names));
    }),
  };
}

function randomLender(random: RandomSource, vertical: Vertical, offers: number, names: Set<string>): LoanLender {
  const kind = pickRandomByWeight(random, weightedLenderKinds);
  const name = uniqueLenderName(random, kind, names);
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const states = randomStateCriterion(random, kind, vertical);
  return {
    name,
    logo: `${slug}.svg`,
    ...(randomBoolean(random, 0.15) ? { state_rules: randomStateRules(random, vertical, 0.05, false) } : {}),
    offers: Array.from({ length: offers }, (_, at) =>
      randomOffer(random, vertical, kind, `${slug}-${at + 1}`, slug, states),
    ),
  };
}

function addDailyCaps(random: RandomSource, lender: LoanLender): LoanLender {
  const offers = lender.offers.map((offer) =>
    randomBoolean(random, 0.1) ? { ...offer, daily_cap: randomInteger(random, 1, 40) * 25 } : offer,
  );
  return { ...lender, offers };
}

function randomOffer(
  random: RandomSource,
  vertical: Vertical,
  kind: LenderKind,
  id: string,
  slug: string,
  states: OfferCriterion | null,
): LoanOffer {
  const { roles } = vertical;
  const bandNames = getChoiceValues(vertical, roles.creditBand);
  const [easiest, hardest] = kind.worstBandPosition;
  const worst = Math.round((easiest + (hardest - easiest) * random()) * (bandNames.length - 1));
  const best = randomBoolean(random, 0.12) ? randomInteger(random, worst, bandNames.length - 1) : bandNames.length - 1;
  const amount = randomAmountRange(random, vertical, kind);
  const term_months = randomTerms(random, vertical);
  const model = randomBoolean(random, 0.1) ? otherPayoutModel(vertical.revenueModel) : null;
  const perLead = (model ?? vertical.revenueModel) === 'cost_per_lead';
  const joint = roles.coBorrower === undefined ? 1 : random();
  const pricing = { kind, bandNames, amount, term_months, perLead, base: randomInteger(random, -300, 300) / 100 };
  return {
    id,
    stars: randomInteger(random, 30, 50) / 10,
    features: kind.features.filter(() => randomBoolean(random, 0.35)),
    prequalification: randomBoolean(random, kind.prequalificationShare),
    landing_url: `https://${slug}.example/apply?offer=${id}&click={click_id}`,
    amount,
    term_months,
    criteria: [
      ...(states === null ? [] : [states]),
      ...vertical.fields.flatMap((field) => randomCriteria(random, field, vertical)),
    ],
    ...randomCreditMinimum(random, vertical, worst),
    ...(roles.monthlyDebt !== undefined && randomBoolean(random, 0.5)
      ? { max_debt_to_income_percent: randomInteger(random, 7, 12) * 5 }
      : {}),
    ...(joint < 0.08 ? { joint_applications: 'required' as const } : {}),
    ...(joint >= 0.08 && joint < 0.25 ? { joint_applications: 'not_accepted' as const } : {}),
    ...(randomBoolean(random, 0.06) ? { state_rules: randomStateRules(random, vertical, 0.05, false) } : {}),
    ...(model === null ? {} : { payout_model: model }),
    payout_usd: perLead ? randomInteger(random, 4, 30) * 10 : randomInteger(random, 4, 40) / 4,
    bands: Object.fromEntries(
      bandNames.slice(worst, best + 1).map((name, at) => [name, randomBand(random, pricing, worst + at)]),
    ),
  };
}

interface OfferPricing {
  readonly kind: LenderKind;
  readonly bandNames: readonly string[];
  readonly amount: LoanOffer['amount'];
  readonly term_months: readonly number[];
  readonly perLead: boolean;
  /** Percentage points to add to the usual note rate (interest rate without fees) of the lender kind; may be negative. */
  readonly base: number;
}

function randomBand(
  random: RandomSource,
  { kind, bandNames, amount, term_months, perLead, base }: OfferPricing,
  band: number,
): LoanCreditBand {
  /** Position of the credit band, from 0 (worst) to 1 (best). */
  const quality = bandNames.length === 1 ? 1 : band / (bandNames.length - 1);
  const fee = kind.feePercent === 0 ? 0 : roundToHundredths(kind.feePercent * (1.2 - 0.6 * quality));
  const lowest = Math.max(3.99, roundToHundredths(kind.bestRatePercent + base + 22 * (1 - quality) ** 1.2));
  const width = randomInteger(random, 2, 8) + (1 - quality) * 2;
  const min = Math.min(lowest, 31.99);
  // Subtracts the fee from the maximum note rate, so that the APR, which includes the fee, rarely exceeds 36 %.
  const max = Math.max(min, Math.min(roundToHundredths(min + width), roundToHundredths(35.99 - fee)));
  const most = Math.round((amount.max * (0.4 + 0.6 * quality)) / 500) * 500;
  return {
    note_rate_percent: { min, max },
    origination_fee_percent: fee,
    ...randomTermPrices(random, term_months, { min, max }, fee),
    approval_likelihood: roundToHundredths(Math.min(0.95, 0.15 + 0.65 * quality + randomInteger(random, 0, 15) / 100)),
    ...(perLead ? { confirm_rate: Math.round(1_000 * (0.01 + 0.05 * quality)) / 1_000 } : {}),
    max_amount: Math.max(amount.min, most),
  };
}

/** Returns loan terms with different prices: longer loan terms often have higher rates, and the shortest term sometimes has a lower fee. */
function randomTermPrices(
  random: RandomSource,
  terms: readonly number[],
  { min, max }: { min: number; max: number },
  fee: number,
): Pick<LoanCreditBand, 'terms'> {
  if (terms.length < 2 || !randomBoolean(random, 0.25)) return {};
  const longest = Math.max(...terms);
  const shortest = Math.min(...terms);
  const dearer = randomInteger(random, 1, 6) / 4;
  return {
    terms: {
      [longest]: {
        note_rate_percent: {
          min: roundToHundredths(Math.min(36, min + dearer)),
          max: roundToHundredths(Math.min(36, max + dearer)),
        },
      },
      ...(fee > 0 && randomBoolean(random, 0.5)
        ? { [shortest]: { origination_fee_percent: roundToHundredths(fee * 0.75) } }
        : {}),
    },
  };
}

function randomAmountRange(
  random: RandomSource,
  vertical: Vertical,
  { minAmountUsdRange, maxAmountUsdRange }: LenderKind,
): LoanOffer['amount'] {
  const field = vertical.fields.find(({ name }) => name === vertical.roles.amount);
  const [least, most] = field?.kind === 'integer' ? [Math.max(1, field.min), field.max] : [1_000, 100_000];
  const draw = ([low, high]: readonly [number, number], atLeast: number) =>
    Math.min(most, Math.max(atLeast, randomInteger(random, low / 500, high / 500) * 500));
  const min = draw(minAmountUsdRange, least);
  const max = draw(maxAmountUsdRange, min);
  return { min, max };
}

/** Returns the loan terms of an offer in months. About 10 % of the offers include a loan term that borrowers cannot request. */
function randomTerms(random: RandomSource, vertical: Vertical): number[] {
  const field = vertical.fields.find(({ name }) => name === vertical.roles.term);
  const asked = field?.kind === 'integer_choice' ? field.values : [12, 24, 36, 48, 60];
  const terms = asked.filter(() => randomBoolean(random, 0.6));
  if (randomBoolean(random, 0.1)) terms.push(randomElement(random, [6, 18, 30, 72]));
  return terms.length === 0 ? [36] : terms.sort((one, other) => one - other);
}

/** Returns the criterion that limits an offer to the US states of the lender; null if the lender serves all states. */
function randomStateCriterion(random: RandomSource, { reach }: LenderKind, vertical: Vertical): OfferCriterion | null {
  const { state: field } = vertical.roles;
  const states = getChoiceValues(vertical, field);
  if (reach === 'nationwide') {
    const without = states.filter(() => randomBoolean(random, 0.08));
    return without.length === 0 || without.length === states.length ? null : { field, not_in: without };
  }
  const share = reach === 'regional' ? 0.3 : 0.12;
  const within = states.filter(() => randomBoolean(random, share));
  return { field, in: within.length === 0 ? [randomElement(random, states)] : within };
}

function randomStateRules(
  random: RandomSource,
  vertical: Vertical,
  share: number,
  withAges: boolean,
): Record<string, { max_apr_percent?: number; min_amount?: number; min_age?: number }> {
  const states = getChoiceValues(vertical, vertical.roles.state).filter(() => randomBoolean(random, share));
  return Object.fromEntries(
    states.map((state) => [
      state,
      {
        ...(randomBoolean(random, 0.6)
          ? { max_apr_percent: randomElement(random, [17, 21, 24, 24.5, 25, 30, 33, 36]) }
          : {}),
        ...(randomBoolean(random, 0.5) ? { min_amount: randomInteger(random, 1, 6) * 1_000 + 1 } : {}),
        ...(withAges && vertical.roles.birthdate !== undefined && randomBoolean(random, 0.3)
          ? { min_age: Math.min(randomElement(random, [19, 21]), getContractAge(state) ?? 21) }
          : {}),
      },
    ]),
  );
}

/**
 * For 40 % of the offers, returns a random minimum credit score; for the other offers, returns an empty object. The minimum score is within
 * the worst credit band that the offer accepts. Only verticals with `creditScores` have minimum scores.
 */
function randomCreditMinimum(
  random: RandomSource,
  { creditScores }: Vertical,
  worst: number,
): Pick<LoanOffer, 'min_credit_score'> {
  const scores = creditScores?.[worst];
  if (scores === undefined || !randomBoolean(random, 0.4)) return {};
  return { min_credit_score: scores.min + Math.floor(((scores.max - scores.min) * random()) / 10) * 10 };
}

function randomCriteria(random: RandomSource, field: PocketField, vertical: Vertical): OfferCriterion[] {
  const { roles, neverMatched } = vertical;
  const { name } = field;
  if (name === roles.annualIncome) {
    return randomBoolean(random, 0.8) ? [{ field: name, min: randomInteger(random, 6, 30) * 2_000 }] : [];
  }
  if (neverMatched?.includes(name) || [roles.state, roles.creditBand, roles.amount].includes(name)) return [];
  switch (field.kind) {
    case 'choice':
      return randomBoolean(random, 0.07) ? [randomChoiceCriterion(random, name, field.values)] : [];
    case 'integer_choice':
      return randomBoolean(random, 0.02) ? [{ field: name, not_in: [randomElement(random, field.values)] }] : [];
    case 'boolean':
      return randomBoolean(random, 0.02) ? [{ field: name, in: [randomBoolean(random, 0.5)] }] : [];
    case 'integer':
      return randomBoolean(random, 0.03) ? [{ field: name, max: randomInteger(random, 10, 60) * 100 }] : [];
    case 'birthdate':
      return randomBoolean(random, 0.06) ? [{ field: name, min_age: randomInteger(random, 16, 18) }] : [];
    case 'digits':
      return [];
  }
}

function randomChoiceCriterion(random: RandomSource, field: string, values: readonly string[]): OfferCriterion {
  const some = values.filter(() => randomBoolean(random, 0.3));
  const few = some.length === 0 || some.length === values.length ? [randomElement(random, values)] : some;
  // Criteria that accept employed borrowers also accept retired borrowers (docs/contract.md#fairness).
  if (values.includes('retired')) return { field, in: [...new Set([...few, 'employed', 'retired'])] };
  return randomBoolean(random, 0.5) || few.length === values.length ? { field, in: few } : { field, not_in: few };
}

function otherPayoutModel(model: Vertical['revenueModel']): Vertical['revenueModel'] {
  return model === 'cost_per_lead' ? 'cost_per_click' : 'cost_per_lead';
}

function roundToHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

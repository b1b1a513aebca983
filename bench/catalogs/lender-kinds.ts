import { type RandomSource, randomElement } from './seeded-random.ts';

/** Properties of a kind of lender in generated catalogs. */
export interface LenderKind {
  /** Share of the lenders in a catalog that belong to this lender kind, from 0 to 1. */
  readonly share: number;
  readonly nameEndings: readonly string[];
  readonly reach: 'nationwide' | 'regional' | 'local';
  /** Range from which the lowest accepted credit band of an offer is chosen; 0 is the worst credit band and 1 the best. */
  readonly worstBandPosition: readonly [number, number];
  /** Lowest note rate of the best credit band, in percent per year. */
  readonly bestRatePercent: number;
  /** Origination fee in percent for the middle credit band; 0 if the lender charges no fees. */
  readonly feePercent: number;
  /** Range from which the minimum loan amount of an offer is chosen, in USD. */
  readonly minAmountUsdRange: readonly [number, number];
  readonly maxAmountUsdRange: readonly [number, number];
  /** Share of offers with a soft credit check. */
  readonly prequalificationShare: number;
  readonly features: readonly string[];
}

export const lenderKinds: readonly LenderKind[] = [
  {
    share: 0.22,
    nameEndings: ['Online Bank', 'Direct', 'Prime'],
    reach: 'nationwide',
    worstBandPosition: [0.4, 0.7],
    bestRatePercent: 7,
    feePercent: 0,
    minAmountUsdRange: [2_000, 10_000],
    maxAmountUsdRange: [50_000, 100_000],
    prequalificationShare: 0.9,
    features: ['no_origination_fee', 'autopay_discount', 'rate_match', 'mobile_app', 'unemployment_protection'],
  },
  {
    share: 0.26,
    nameEndings: ['Lending', 'Finance', 'Capital', 'Peer'],
    reach: 'nationwide',
    worstBandPosition: [0.2, 0.5],
    bestRatePercent: 9,
    feePercent: 4.5,
    minAmountUsdRange: [1_000, 5_000],
    maxAmountUsdRange: [30_000, 75_000],
    prequalificationShare: 0.95,
    features: [
      'fast_funding',
      'direct_pay',
      'fixed_rate',
      'credit_monitoring',
      'change_due_date',
      'no_prepayment_penalty',
    ],
  },
  {
    share: 0.12,
    nameEndings: ['Installment', 'Loan Company', 'Credit Builders'],
    reach: 'regional',
    worstBandPosition: [0, 0.2],
    bestRatePercent: 17,
    feePercent: 6,
    minAmountUsdRange: [1_000, 2_000],
    maxAmountUsdRange: [5_000, 20_000],
    prequalificationShare: 0.9,
    features: ['builds_credit', 'same_day_funding', 'fast_funding', 'branch_support'],
  },
  {
    share: 0.2,
    nameEndings: ['Bank', 'Bancorp', 'Trust', 'Savings'],
    reach: 'regional',
    worstBandPosition: [0.4, 0.7],
    bestRatePercent: 7.5,
    feePercent: 0,
    minAmountUsdRange: [2_000, 5_000],
    maxAmountUsdRange: [25_000, 75_000],
    prequalificationShare: 0.3,
    features: ['branch_support', 'fixed_rate', 'autopay_discount', 'no_late_fee', 'joint_applications'],
  },
  {
    share: 0.2,
    nameEndings: ['Credit Union', 'Federal Credit Union', 'Community Credit'],
    reach: 'local',
    worstBandPosition: [0.2, 0.6],
    bestRatePercent: 6.5,
    feePercent: 0,
    minAmountUsdRange: [1_000, 2_000],
    maxAmountUsdRange: [15_000, 50_000],
    prequalificationShare: 0.2,
    features: ['member_dividend', 'no_origination_fee', 'financial_coaching', 'fixed_rate', 'no_late_fee'],
  },
];

/** Returns a unique lender name and adds it to `taken`. */
export function uniqueLenderName(
  random: RandomSource,
  { nameEndings }: Pick<LenderKind, 'nameEndings'>,
  taken: Set<string>,
): string {
  const name = `${randomElement(random, firstWords)} ${randomElement(random, secondWords)} ${randomElement(random, nameEndings)}`;
  let unique = name;
  for (let number = 2; taken.has(unique); number++) unique = `${name} ${number}`;
  taken.add(unique);
  return unique;
}

// biome-ignore format: several words per line keep the list short
const firstWords = [
  'Amber', 'Alder', 'Ash', 'Birch', 'Blue', 'Bright', 'Cedar', 'Clear', 'Copper', 'Coral', 'Crescent', 'Eagle', 'Elm',
  'Ever', 'Fern', 'First', 'Flint', 'Golden', 'Granite', 'Green', 'Harbor', 'Hazel', 'High', 'Iron', 'Juniper', 'Lake',
  'Laurel', 'Lone', 'Maple', 'Meadow', 'Mill', 'North', 'Oak', 'Opal', 'Pine', 'Prairie', 'Quarry', 'Red', 'River',
  'Sage', 'Silver', 'South', 'Spruce', 'Stone', 'Summit', 'Timber', 'Valley', 'West', 'White', 'Willow',
];
// biome-ignore format: several words per line keep the list short
const secondWords = [
  'Bay', 'Bend', 'Bluff', 'Branch', 'Bridge', 'Brook', 'Canyon', 'Cove', 'Creek', 'Crossing', 'Dale', 'Falls', 'Field',
  'Ford', 'Forge', 'Gate', 'Glen', 'Grove', 'Harbor', 'Hearth', 'Hill', 'Hollow', 'Junction', 'Landing', 'Light',
  'March', 'Mesa', 'Peak', 'Point', 'Port', 'Reach', 'Ridge', 'Rock', 'Row', 'Shore', 'Spring', 'Station', 'Street',
  'Trail', 'View', 'Vista', 'Water', 'Way', 'Wood',
];

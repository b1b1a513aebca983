import { usStateCodes } from '../../src/domain/us-states.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';
import { findAdvisor } from '../../src/verticals/find-advisor/find-advisor.ts';
import {
  type AdvisorCatalog,
  type AdvisorOffer,
  credentials,
  feeModels,
  meetingKinds,
} from '../../src/verticals/find-advisor/offer-schema.ts';
import { uniqueLenderName } from './lender-kinds.ts';
import { type RandomSource, randomBoolean, randomElement, randomInteger, seededRandom } from './seeded-random.ts';

interface GenerateFindAdvisorCatalogOptions {
  readonly seed: number;
  /** Number of offers; at most `bounds.catalogOffersMax`. */
  readonly offers: number;
  /** Number of firms, from 1 to the number of offers; the default is one firm for every two advisors. */
  readonly lenders?: number;
}

type Fees = Pick<AdvisorOffer, 'fee_model' | 'fee_tiers' | 'fee_usd' | 'hours_per_year' | 'estimated_annual_fee'>;

const topics = findAdvisor.fields.flatMap(({ name, ...field }) =>
  name === 'advice_topic' && 'values' in field ? field.values.map(String) : [],
);

/** Generates a valid catalog of fictional advisors. The same arguments give the same catalog. */
export function generateFindAdvisorCatalog({
  seed,
  offers,
  lenders = Math.ceil(offers / 2),
}: GenerateFindAdvisorCatalogOptions): AdvisorCatalog {
  const random = seededRandom(seed);
  const count = Math.min(offers, lenders);
  const names = new Set<string>();
  return {
    format: 1,
    vertical: findAdvisor.segment,
    disclosure: 'Made-up advisors of made-up firms, who pay us for each introduction.',
    max_age_days: null,
    state_rules: { AL: { min_age: 19 }, MS: { min_age: 21 } },
    lenders: Array.from({ length: count }, (_, at) => {
      const share = Math.floor(((at + 1) * offers) / count) - Math.floor((at * offers) / count);
      const name = uniqueLenderName(random, { nameEndings: ['Advisers', 'Wealth', 'Planning'] }, names);
      const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      return {
        name,
        logo: `${slug}.svg`,
        offers: Array.from({ length: share }, (_, number) => randomAdvisor(random, name, slug, number + 1)),
      };
    }),
  };
}

function randomAdvisor(random: RandomSource, firm: string, slug: string, number: number): AdvisorOffer {
  const id = `${slug}-${number}`;
  const fees = randomFees(random);
  const isBroker = fees.fee_model === 'commission';
  return {
    id,
    name: `Advisor ${number}`,
    stars: randomInteger(random, 30, 50) / 10,
    features: [],
    prequalification: true,
    landing_url: `https://${slug}.example/meet?offer=${id}&click={click_id}`,
    legal: `${firm} charges the fees shown as of 2025-11-01. Investing involves risk.`,
    terms_url: `https://${slug}.example/fees`,
    as_of: '2025-11-01',
    compensation_disclosure: `${firm} pays us for this introduction, whether or not you hire the advisor.`,
    criteria: [randomStates(random), ...randomCriteria(random)],
    payout_usd: randomInteger(random, 4, 40) * 10,
    confirm_rate: randomInteger(random, 2, 20) / 100,
    ...(randomBoolean(random, 0.08) && { daily_cap: randomInteger(random, 1, 40) * 25 }),
    firm_type: isBroker ? 'broker_dealer' : randomElement(random, ['ria', 'dual']),
    fiduciary: !isBroker,
    credentials: credentials.filter(() => randomBoolean(random, 0.3)),
    ...fees,
    minimum_assets: randomElement(random, [0, 0, 0, 50_000, 100_000, 250_000, 1_000_000]),
    services: randomServices(random),
    meeting: randomElement(random, meetingKinds),
    years: randomInteger(random, 1, 35),
    crd_number: String(randomInteger(random, 990_000_000, 999_999_999)),
    disclosures_url: `https://${slug}.example/form-crs`,
    has_disclosures: randomBoolean(random, 0.1),
  };
}

function randomFees(random: RandomSource): Fees {
  // Half of the advisors charge a percentage of the assets.
  const fee_model = randomBoolean(random, 0.4) ? 'percent_of_assets' : randomElement(random, feeModels);
  switch (fee_model) {
    case 'percent_of_assets':
      return { fee_model, fee_tiers: randomFeeTiers(random) };
    case 'flat':
      return { fee_model, fee_usd: randomInteger(random, 10, 75) * 100 };
    case 'hourly':
      return {
        fee_model,
        fee_usd: randomInteger(random, 300, 1_000) / 2,
        hours_per_year: randomInteger(random, 2, 12),
      };
    case 'commission':
      return { fee_model, estimated_annual_fee: randomInteger(random, 4_000, 25_000) / 10 };
  }
}

function randomFeeTiers(random: RandomSource): NonNullable<AdvisorOffer['fee_tiers']> {
  const starts = [0, 100_000, 500_000, 1_000_000, 5_000_000].slice(0, randomInteger(random, 1, 5));
  // Percentages fall with the assets, in steps of an eighth of a percent.
  const first = randomInteger(random, 6, 12);
  return starts.map((from, at) => ({ from, percent: Math.max(2, first - at * randomInteger(random, 1, 2)) / 8 }));
}

/** Returns one to five topics in random order. */
function randomServices(random: RandomSource): string[] {
  const left = [...topics];
  return Array.from(
    { length: randomInteger(random, 1, 5) },
    () => left.splice(randomInteger(random, 0, left.length - 1), 1)[0]!,
  );
}

function randomStates(random: RandomSource): OfferCriterion {
  if (randomBoolean(random, 0.5)) return { field: 'state', not_in: ['AS', 'GU', 'MP', 'PR', 'VI'] };
  const states = usStateCodes.filter(() => randomBoolean(random, 0.2));
  return { field: 'state', in: states.length === 0 ? ['CA'] : states };
}

function randomCriteria(random: RandomSource): OfferCriterion[] {
  const criteria: OfferCriterion[] = [];
  if (randomBoolean(random, 0.08)) criteria.push({ field: 'timeline', in: ['now', 'three_months'] });
  if (randomBoolean(random, 0.08)) criteria.push({ field: 'has_advisor', in: [false] });
  if (randomBoolean(random, 0.04)) criteria.push({ field: 'birthdate', min_age: randomElement(random, [21, 50, 62]) });
  if (randomBoolean(random, 0.04)) criteria.push({ field: 'investable_assets', max: 2_000_000 });
  return criteria;
}

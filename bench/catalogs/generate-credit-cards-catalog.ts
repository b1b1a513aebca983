import { getChoiceValues } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';
import {
  balanceComputationMethods,
  baseRewardCategory,
  type CardCatalog,
  type CardOffer,
  type CreditBandTerms,
  purposeFieldName,
} from '../../src/verticals/credit-cards/offer-schema.ts';
import type { GenerateCatalogOptions } from './generate-catalog.ts';
import { uniqueLenderName } from './lender-kinds.ts';
import { type RandomSource, randomBoolean, randomElement, randomInteger, seededRandom } from './seeded-random.ts';

const nameEndings = ['Bank', 'Card Company', 'Credit Union', 'National Bank', 'Savings Bank', 'Card Services'];
const nameBeginnings = ['Everyday', 'Voyage', 'Clear Balance', 'First Step', 'Platinum'];
const categories = ['dining', 'groceries', 'gas', 'travel', 'streaming', 'drugstores', 'transit', 'utilities'];

/**
 * Generates a valid catalog of fictional card issuers. The same arguments give the same catalog. Each optional member of the catalog format is
 * used by some of the cards. By default, an issuer has three cards.
 */
export function generateCreditCardsCatalog({ seed, offers, lenders, vertical }: GenerateCatalogOptions): CardCatalog {
  const random = seededRandom(seed);
  const count = Math.min(offers, lenders ?? Math.ceil(offers / 3));
  const names = new Set<string>();
  return {
    format: 1,
    vertical: vertical.segment,
    disclosure:
      'Made-up cards of made-up issuers. We are paid for clicks; the recommended order does not depend on it.',
    max_age_days: null,
    state_rules: { AL: { min_age: 19 }, MS: { min_age: 21 } },
    lenders: Array.from({ length: count }, (_, at) => {
      // Number of cards of this issuer. The cards are divided among the issuers as evenly as possible.
      const share = Math.floor(((at + 1) * offers) / count) - Math.floor((at * offers) / count);
      const name = uniqueLenderName(random, { nameEndings }, names);
      const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      const states = randomStates(random, vertical);
      return {
        name,
        logo: `${slug}.svg`,
        offers: Array.from({ length: share }, (_each, card) => randomCard(random, vertical, slug, card + 1, states)),
      };
    }),
  };
}

function randomCard(
  random: RandomSource,
  vertical: Vertical,
  slug: string,
  number: number,
  states: OfferCriterion | null,
): CardOffer {
  const purposes = getChoiceValues(vertical, purposeFieldName).filter(() => randomBoolean(random, 0.28));
  const annualFee = randomBoolean(random, 0.35) ? randomElement(random, [29, 39.5, 49, 75, 95, 99, 150, 250, 550]) : 0;
  const bands = randomBands(random, getChoiceValues(vertical, vertical.roles.creditBand));
  const highest = Math.max(...Object.values(bands).map(({ purchase_apr }) => purchase_apr.max));
  const fee = (): CardOffer['transfer_fee'] => ({
    percent: randomInteger(random, 0, 10) / 2,
    min: randomInteger(random, 0, 20) / 2,
  });
  const sometimes = <Part extends Partial<CardOffer>>(probability: number, createPart: () => Part) =>
    randomBoolean(random, probability) ? createPart() : {};
  return {
    id: `${slug}-${number}`,
    name: `${nameBeginnings[number % nameBeginnings.length]} Card ${number}`,
    stars: randomInteger(random, 30, 50) / 10,
    features: ['generated'],
    prequalification: randomBoolean(random, 0.7),
    landing_url: `https://${slug}.example/cards/${number}?click={click_id}`,
    terms_url: `https://${slug}.example/cards/${number}/terms`,
    legal: 'A generated card of a made-up issuer.',
    as_of: `2026-0${randomInteger(random, 1, 4)}-${randomInteger(random, 10, 28)}`,
    purposes: purposes.length === 0 ? [randomElement(random, getChoiceValues(vertical, purposeFieldName))] : purposes,
    criteria: randomCriteria(random, states),
    payout_usd: randomInteger(random, 4, 60) / 4,
    ...sometimes(0.1, () => ({ daily_cap: randomInteger(random, 1, 40) * 25 })),
    annual_fee: annualFee,
    ...sometimes(annualFee > 0 ? 0.4 : 0.02, () => ({
      annual_fee_first_year: randomElement(random, [0, annualFee, 25]),
    })),
    ...sometimes(0.35, () => ({ intro_purchase_apr: randomIntro(random) })),
    ...sometimes(0.35, () => ({ intro_transfer_apr: randomIntro(random) })),
    cash_advance_apr: randomElement(random, [24.99, 27.49, 29.99]),
    ...sometimes(0.2, () => ({ penalty_apr: Math.max(29.99, highest) })),
    minimum_interest_charge: randomElement(random, [0, 0.5, 1, 1.5, 2]),
    transfer_fee: fee(),
    cash_advance_fee: fee(),
    foreign_transaction_fee_percent: randomElement(random, [0, 1, 2.7, 3]),
    late_fee_max: randomInteger(random, 0, 40),
    returned_payment_fee_max: randomInteger(random, 0, 40),
    grace_period_days: randomElement(random, [0, 21, 25]),
    balance_method: randomElement(random, balanceComputationMethods),
    rewards: [
      { category: baseRewardCategory, percent: randomInteger(random, 0, 8) / 4 },
      ...categories
        .filter(() => randomBoolean(random, 0.15))
        .map((category) => ({ category, percent: randomInteger(random, 2, 12) / 2 })),
    ],
    ...sometimes(0.5, () => ({
      bonus: {
        value: randomInteger(random, 1, 20) * 50,
        spend: randomInteger(random, 0, 40) * 125,
        months: randomInteger(random, 1, 12),
      },
    })),
    variable: !slug.endsWith('credit-union'),
    ...sometimes(0.1, () => randomDeposit(random)),
    bands,
  };
}

/** Returns the prices of a card for consecutive credit bands, which usually include the best credit band. */
function randomBands(random: RandomSource, names: readonly string[]): Record<string, CreditBandTerms> {
  const worst = randomInteger(random, 0, names.length - 2);
  const best = randomBoolean(random, 0.15) ? randomInteger(random, worst, names.length - 1) : names.length - 1;
  const base = randomInteger(random, 12, 20);
  const hasTransferApr = randomBoolean(random, 0.25);
  return Object.fromEntries(
    names.slice(worst, best + 1).map((name, at) => {
      const min = base + (best - worst - at) * 1.75 - 0.01;
      const range = (more: number) => ({
        min: cents(min + more),
        max: cents(min + more + randomInteger(random, 0, 12) / 4),
      });
      const quality = (worst + at + 1) / names.length;
      return [
        name,
        {
          purchase_apr: range(0),
          ...(hasTransferApr ? { transfer_apr: range(0.5) } : {}),
          approval_likelihood: cents(0.1 + 0.75 * quality + randomInteger(random, -5, 10) / 100),
        },
      ];
    }),
  );
}

function randomIntro(random: RandomSource): NonNullable<CardOffer['intro_purchase_apr']> {
  const percent = randomBoolean(random, 0.75) ? 0 : randomElement(random, [0.99, 1.99, 2.99, 3.99, 5.25]);
  return { percent, months: randomInteger(random, 6, 21) };
}

/** Returns the deposits of a secured card. */
function randomDeposit(random: RandomSource): Pick<CardOffer, 'security_deposit_min' | 'security_deposit_max'> {
  return {
    security_deposit_min: randomElement(random, [49, 200, 250, 300]),
    security_deposit_max: randomElement(random, [500, 1_000, 2_500, 5_000]),
  };
}

/** Returns the criterion that limits the cards of an issuer to some states; null if the issuer serves all states. */
function randomStates(random: RandomSource, vertical: Vertical): OfferCriterion | null {
  const { state: field } = vertical.roles;
  const states = getChoiceValues(vertical, field);
  if (randomBoolean(random, 0.6)) return null;
  const listed = states.filter(() => randomBoolean(random, 0.25));
  if (listed.length === 0) return null;
  return randomBoolean(random, 0.5) ? { field, in: listed } : { field, not_in: listed };
}

function randomCriteria(random: RandomSource, states: OfferCriterion | null): OfferCriterion[] {
  const criteria: readonly [probability: number, criterion: OfferCriterion][] = [
    [0.85, { field: 'annual_income', min: randomInteger(random, 2, 45) * 2_000 }],
    [0.07, { field: 'birthdate', min_age: 18 }],
    [0.06, { field: 'citizenship_status', in: ['citizen', 'perm_resident'] }],
    [0.04, { field: 'employment_status', not_in: ['other'] }],
  ];
  return [
    ...(states === null ? [] : [states]),
    ...criteria.filter(([probability]) => randomBoolean(random, probability)).map(([, criterion]) => criterion),
  ];
}

function cents(value: number): number {
  return Math.round(value * 100) / 100;
}

import { findFieldIndex, getChoiceValues } from '../../domain/field-vector.ts';
import { usdToMicros } from '../../domain/money.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  indexFirstItems,
  listOffersSortedById,
  type MatchTables,
} from '../../matching/match-tables.ts';
import type { AdvisorCatalog, AdvisorOffer } from './offer-schema.ts';
import { computeTopicScore, computeVisitorIndependentScore } from './recommendation-score.ts';

/**
 * Tables that only catalogs of advisors have. Tables of tiers contain the tiers of all offers, one offer after the other; an advisor without
 * fee tiers has one tier with a constant fee. Fees are in thousandths of a cent, so that all fees are whole numbers.
 */
export interface AdvisorTables extends MatchTables {
  /** Positions of pocket fields in the field vector. */
  readonly fields: { readonly adviceTopic: number; readonly investableAssets: number };
  /** Number of topics of advice. */
  readonly topicCount: number;
  /** Index of the first tier of each offer in the tables of tiers, followed by the total number of tiers. */
  readonly firstTier: Uint32Array;
  /** Assets in USD from which the tier applies. */
  readonly tierFrom: Float64Array;
  /** Annual fee for assets at the beginning of the tier. */
  readonly tierBase: Float64Array;
  /** Annual fee for each USD above the beginning of the tier, which is the percentage of the tier in thousandths. */
  readonly tierRate: Float64Array;
  /** Smallest assets of a client, in USD. */
  readonly minimumAssets: Float64Array;
  /** Payout of an accepted lead in micro-dollars. */
  readonly payoutMicros: Float64Array;
  /** Result of `computeTopicScore` by offer and topic. */
  readonly topicScore: Float64Array;
  /** Result of `computeVisitorIndependentScore` by offer. */
  readonly fixedScore: Float64Array;
}

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileAdvisorTables(catalog: AdvisorCatalog, vertical: Vertical): AdvisorTables {
  const offers = listOffersSortedById<AdvisorCatalog['lenders'][number]>(catalog).map(({ offer }) => offer);
  const common = compileCommonTables(offers, catalog.state_rules, vertical, fieldRules);
  const perOffer = (read: (offer: AdvisorOffer) => number) => Float64Array.from(offers, read);
  const topics = getChoiceValues(vertical, 'advice_topic');
  const payoutMicros = perOffer(({ payout_usd }) => usdToMicros(payout_usd));
  // A click is worth the payout of a lead times the share of clicks that become accepted leads.
  common.expectedRevenueMicros.set(offers.map(({ confirm_rate }, at) => Math.round(payoutMicros[at]! * confirm_rate)));
  return {
    ...common,
    fields: {
      adviceTopic: findFieldIndex(vertical, 'advice_topic'),
      investableAssets: findFieldIndex(vertical, 'investable_assets'),
    },
    topicCount: topics.length,
    ...compileTiers(offers),
    minimumAssets: perOffer(({ minimum_assets }) => minimum_assets),
    payoutMicros,
    topicScore: Float64Array.from(
      offers.flatMap(({ services }) =>
        topics.map((topic) => computeTopicScore(services.indexOf(topic), topics.length)),
      ),
    ),
    fixedScore: perOffer(({ credentials, stars }) => computeVisitorIndependentScore(credentials.length, stars)),
  };
}

function compileTiers(offers: readonly AdvisorOffer[]) {
  const tiersByOffer = offers.map(listFeeTiers);
  const tiers = tiersByOffer.flat();
  return {
    firstTier: indexFirstItems(tiersByOffer),
    tierFrom: Float64Array.from(tiers, ({ from }) => from),
    tierBase: Float64Array.from(tiers, ({ base }) => base),
    tierRate: Float64Array.from(tiers, ({ rate }) => rate),
  };
}

/** Lists the tiers of an offer as the tables contain them. A constant fee is one tier. */
function listFeeTiers({ fee_tiers, fee_usd = 0, hours_per_year = 1, estimated_annual_fee = fee_usd }: AdvisorOffer) {
  if (fee_tiers === undefined) {
    return [{ from: 0, base: Math.round(estimated_annual_fee * 100) * hours_per_year * 1_000, rate: 0 }];
  }
  /** Fee for assets at the beginning of the current tier. */
  let base = 0;
  return fee_tiers.map(({ from, percent }, at) => {
    const tier = { from, base, rate: Math.round(percent * 1_000) };
    base += ((fee_tiers[at + 1]?.from ?? from) - from) * tier.rate;
    return tier;
  });
}

/**
 * Rules that apply in addition to the criteria of offers: the advisor offers the topic, and meets visitors as the visitor prefers. A visitor
 * without a preference gets all advisors.
 */
const fieldRules: readonly ChoiceFieldRule<AdvisorOffer>[] = [
  { field: 'advice_topic', admits: ({ services }, value) => services.includes(value as string) },
  {
    field: 'meeting_preference',
    admits: ({ meeting }, value) =>
      value === undefined || value === 'either' || meeting === 'both' || value === meeting,
  },
];

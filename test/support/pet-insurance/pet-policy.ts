import Type, { type Static } from 'typebox';
import { commonOfferSchemas, offerDisclosureSchemas, strictObject } from '../../../src/catalogs/catalog-schema.ts';
import { computeCatalogStatistics, summarizeGroup } from '../../../src/catalogs/catalog-statistics.ts';
import type { VerticalProduct } from '../../../src/catalogs/product.ts';
import { absentValue } from '../../../src/domain/field-vector.ts';
import { usdToMicros } from '../../../src/domain/money.ts';
import { compileCommonTables, listOffersSortedById, type MatchTables } from '../../../src/matching/match-tables.ts';
import { createPricingRanker } from '../../../src/matching/pricing-ranker.ts';
import {
  TemplateOfferRenderer,
  type TemplatePricedOffer,
} from '../../../src/verticals/common/template-offer-renderer.ts';
import { petInsurance } from './pet-insurance.ts';

const usd = Type.Integer({ minimum: 1, maximum: 100_000 });
const policyMembers = { monthly_premium: usd, cover: usd, premium_per_year_of_age: usd };
const offer = Type.Object({ ...commonOfferSchemas, ...offerDisclosureSchemas, ...policyMembers }, strictObject);
type PolicyOffer = Static<typeof offer>;

interface PolicyTables extends MatchTables {
  readonly premium: Float64Array;
  readonly premiumPerYear: Float64Array;
  readonly cover: Float64Array;
}

const agePosition = petInsurance.fields.findIndex(({ name }) => name === 'age_years');

const premiumAt = (tables: PolicyTables, index: number, age: number) =>
  tables.premium[index]! + tables.premiumPerYear[index]! * age;

/** Policies whose monthly premium rises with the age of the pet. The cheapest policy is recommended. */
export const petPolicy: VerticalProduct = {
  requiredRoles: [],
  schema: { fileMembers: {}, lenderMembers: {}, offer },
  validateOffer({ cover, monthly_premium }: PolicyOffer, path, _vertical, errors) {
    if (cover <= monthly_premium) errors.add([...path, 'cover'], 'must exceed monthly_premium');
  },
  compileCatalogTables(catalog, vertical): PolicyTables {
    const offers = listOffersSortedById(catalog).map((numbered) => numbered.offer as PolicyOffer);
    const common = compileCommonTables(offers, undefined, vertical, []);
    return {
      ...common,
      expectedRevenueMicros: Float64Array.from(offers, ({ payout_usd }) => usdToMicros(payout_usd)),
      premium: Float64Array.from(offers, ({ monthly_premium }) => monthly_premium),
      premiumPerYear: Float64Array.from(offers, ({ premium_per_year_of_age }) => premium_per_year_of_age),
      cover: Float64Array.from(offers, ({ cover }) => cover),
    };
  },
  computeStatistics(catalog, vertical) {
    const tables = petPolicy.compileCatalogTables(catalog, vertical);
    return computeCatalogStatistics<PolicyOffer>(catalog, vertical, tables, {
      groupedBy: 'all',
      summarizeGroups: (offers) => [
        summarizeGroup('all', offers, { monthly_premium: ({ monthly_premium }) => monthly_premium }),
      ],
      usage: {},
    });
  },
  needsOfferSource: true,
  createOfferRenderer: (...options) =>
    new TemplateOfferRenderer(options, ({ source }, _slot, [premium]) => ({
      apr_range: null,
      payment_term_months: null,
      monthly_payment_estimate: premium as number,
      loan_amount_range: null,
      term_months: [],
      policy: { monthly_premium: premium, cover: (source as PolicyOffer).cover },
    })),
  offerViewMembers: { policy: Type.Object({ monthly_premium: usd, cover: usd }) },
  nullOfferMembers: ['apr_range', 'payment_term_months', 'loan_amount_range'],
  sortOrderDescriptions: { recommended: 'lowest premium first', highest_amount: 'highest `policy.cover` first' },
  rankOffers: createPricingRanker<PolicyTables, number>({
    readApplicant: (_tables, borrower) => (borrower[agePosition] === absentValue ? null : borrower[agePosition]!),
    computeSortKeys(tables, index, age, keys) {
      keys.recommended = premiumAt(tables, index, age);
      keys.lowestApr = keys.recommended;
      keys.highestAmount = -tables.cover[index]!;
      keys.revenue = -tables.expectedRevenueMicros[index]!;
      return true;
    },
  }),
  priceOffers: ({ tables }, indexes, borrower): TemplatePricedOffer[] =>
    Array.from(indexes, (index) => ({
      index,
      slot: index,
      values: [premiumAt(tables as PolicyTables, index, borrower[agePosition]!)],
    })),
  createAvailabilityCheck: (_tables, borrower) => (borrower[agePosition] === absentValue ? null : () => true),
  createMismatchFinder: () => () => {},
};

import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { offerIdPattern } from '../catalogs/catalog-schema.ts';
import type { OfferView } from '../catalogs/offer-view.ts';
import type { VerticalProduct, VerticalWithProduct } from '../catalogs/product.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import type { MatchExplanation } from '../matching/explain-offers.ts';
import { mismatchReasons } from '../matching/product-ranking.ts';
import {
  defineSchema,
  isoDateSchema,
  nonNegativeIntegerSchema,
  stringEnum,
  subIdSchema,
  timestampSchema,
  urlSchema,
  usdSchema,
} from './schema-parts.ts';

const numberRangeSchema = (value: TSchema, description: string) =>
  Type.Unsafe<{ min: number; max: number }>(Type.Object({ min: value, max: value }, { description }));

const legalSchema = Type.String({ description: "The lender's own disclosure. Show it with the offer." });
const termsUrlSchema = urlSchema('Page of the lender with the terms. Link to it from the offer.');
const asOfSchema = isoDateSchema('Date on which the lender confirmed the figures.');

/** Figures of loans. In a vertical whose product has no such figure, the member is null. */
const loanFigures = {
  apr_range: numberRangeSchema(Type.Number(), 'Annual percentage rates for this borrower.'),
  payment_term_months: Type.Integer({ description: 'Term in months of the monthly payment. Show both together.' }),
  monthly_payment_estimate: usdSchema('Estimated monthly payment for the requested amount over that term'),
  loan_amount_range: numberRangeSchema(Type.Integer(), 'The amounts that this borrower can get, in USD.'),
};

const anyOfferSchema = defineSchema<OfferView>()(
  Type.Object(
    {
      svc_offer_id: Type.String({ pattern: offerIdPattern, description: 'The id of the offer.' }),
      lender_name: Type.String({ description: 'Name of the lender.' }),
      logo_url: urlSchema('An SVG image, which may be cached forever: a changed logo gets another URL.'),
      apr_range: nullableSchema(loanFigures.apr_range),
      payment_term_months: nullableSchema(loanFigures.payment_term_months),
      monthly_payment_estimate: nullableSchema(loanFigures.monthly_payment_estimate),
      svc_star_rating: Type.Number({ description: 'Editorial rating in stars.' }),
      features: Type.Array(Type.String(), { description: 'Features of the offer, as tags.' }),
      prequalification: Type.Boolean({ description: 'Whether a rate needs no hard credit inquiry.' }),
      legal: Type.Optional(legalSchema),
      terms_url: Type.Optional(termsUrlSchema),
      as_of: Type.Optional(asOfSchema),
      click_url: urlSchema('Redirects to the lender and attributes the click, see `followClick`. Use it unchanged.'),
      loan_amount_range: nullableSchema(loanFigures.loan_amount_range),
      term_months: Type.Array(Type.Integer(), { description: 'The terms available to this borrower, in months.' }),
      position: Type.Integer({ minimum: 1, maximum: bounds.offersShownMax, description: 'Position in this response.' }),
    },
    { title: 'Offer' },
  ),
);

const nullSchema = Type.Unsafe<null>({
  type: 'null',
  description: 'Always null, as an exception of this vertical: the product has no such figure.',
});

/** Creates the schema of an offer of one vertical, in which each member has the types that the vertical's product uses. */
function createOfferSchema(product: VerticalProduct): typeof anyOfferSchema {
  const { offerViewMembers, nullOfferMembers } = product;
  const properties: Record<string, TSchema> = { ...anyOfferSchema.properties };
  for (const [name, schema] of Object.entries(loanFigures)) {
    properties[name] = nullOfferMembers.some((member) => member === name) ? nullSchema : schema;
  }
  if (nullOfferMembers.includes('payment_term_months')) {
    properties.term_months = Type.Array(Type.Integer(), {
      maxItems: 0,
      description: 'Always empty, as an exception of this vertical: the product has no terms.',
    });
  }
  if (Object.keys(offerViewMembers).length > 0) {
    Object.assign(properties, { legal: legalSchema, terms_url: termsUrlSchema, as_of: asOfSchema });
  }
  return Type.Object({ ...properties, ...offerViewMembers }, { title: 'Offer' }) as unknown as typeof anyOfferSchema;
}

export const explanationSchema = defineSchema<MatchExplanation>()(
  Type.Object(
    {
      offers_in_catalog: nonNegativeIntegerSchema('All offers of the catalog: `matched` plus `not_matched`.'),
      matched: nonNegativeIntegerSchema('The same as `total_offers`.'),
      not_matched: nonNegativeIntegerSchema('Offers with at least one mismatch reason.'),
      reasons: Type.Array(
        Type.Object({
          reason: stringEnum(mismatchReasons),
          field: nullableSchema(Type.String({ description: 'Pocket field of the reason, or `null`.' })),
          offers: nonNegativeIntegerSchema('Offers with this reason, alone or with others.'),
          alone: nonNegativeIntegerSchema('Offers with this reason only.'),
        }),
        { description: 'Sorted by `offers`, descending.' },
      ),
    },
    { title: 'Explanation' },
  ),
);

/** Returns the schemas of the members that all responses with offers have in common. */
export const offersProperties = ({ vertical, product }: VerticalWithProduct) => ({
  sub_id: subIdSchema,
  match_quality: stringEnum(['high', 'partial', 'none'], {
    description: '`high` with three offers and `match_readiness` `high`, `none` without offers, or `partial`.',
  }),
  offers: Type.Array(createOfferSchema(product), {
    maxItems: bounds.offersShownMax,
    description: 'The best offers, in order.',
  }),
  total_offers: nonNegativeIntegerSchema('All matching offers, including those not shown.'),
  generated_at: timestampSchema('When this response was created'),
  sort: stringEnum(vertical.sortOrders ?? sortOrderNames, { description: 'The order of the offers.' }),
  catalog_version: Type.String({ description: 'Version of the offer catalog.' }),
  disclosure: Type.String({ description: 'Show it next to the offers.' }),
});

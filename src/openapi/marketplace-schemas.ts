import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { offerIdPattern } from '../catalogs/identifiers.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import { type MatchExplanation, mismatchReasons } from '../matching/explain-offers.ts';
import { sortOrderNames } from '../matching/matcher.ts';
import type { WidgetEmbedResponse } from '../operations/embed-widget.ts';
import type { MarketplaceResponse } from '../operations/get-marketplace.ts';
import type { WidgetOffersResponse } from '../operations/show-widget-offers.ts';
import type { OfferView } from '../verticals/personal-loans/offer-view.ts';
import { type WidgetBeaconBody, widgetEventIdPattern } from '../widgets/widget-beacon.ts';
import {
  defineSchema,
  ignoredParametersProperty,
  nonNegativeIntegerSchema,
  nullableSchema,
  stringEnum,
  subIdSchema,
  timestampSchema,
  urlSchema,
  usdSchema,
  widgetLoadIdSchema,
} from './schema-parts.ts';

const offerSchema = defineSchema<OfferView>()(
  Type.Object(
    {
      svc_offer_id: Type.String({ pattern: offerIdPattern, description: 'The id of the offer.' }),
      lender_name: Type.String({ description: 'Name of the lender.' }),
      logo_url: urlSchema('An SVG image, which may be cached forever: a changed logo gets another URL.'),
      apr_range: Type.Object(
        { min: Type.Number(), max: Type.Number() },
        { description: 'Annual percentage rates for this borrower.' },
      ),
      payment_term_months: Type.Integer({ description: 'Term in months of the monthly payment. Show both together.' }),
      monthly_payment_estimate: usdSchema('Estimated monthly payment for the requested amount over that term'),
      svc_star_rating: Type.Number({ description: 'Editorial rating in stars.' }),
      features: Type.Array(Type.String(), { description: 'Features of the offer, as tags.' }),
      prequalification: Type.Boolean({ description: 'Whether a rate needs no hard credit inquiry.' }),
      click_url: urlSchema('Redirects to the lender and attributes the click, see `followClick`. Use it unchanged.'),
      loan_amount_range: Type.Object(
        { min: Type.Integer(), max: Type.Integer() },
        { description: 'The amounts that this borrower can get, in USD.' },
      ),
      term_months: Type.Array(Type.Integer(), { description: 'The terms available to this borrower, in months.' }),
      position: Type.Integer({ minimum: 1, maximum: bounds.offersShownMax, description: 'Position in this response.' }),
    },
    { title: 'Offer' },
  ),
);

const explanationSchema = defineSchema<MatchExplanation>()(
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

/** Schemas of the members that all responses with offers have in common. */
const offersProperties = {
  sub_id: subIdSchema,
  match_quality: stringEnum(['high', 'partial', 'none'], {
    description: '`high` with three offers and `match_readiness` `high`, `none` without offers, or `partial`.',
  }),
  offers: Type.Array(offerSchema, { maxItems: bounds.offersShownMax, description: 'The best offers, in order.' }),
  total_offers: nonNegativeIntegerSchema('All matching offers, including those not shown.'),
  generated_at: timestampSchema('When this response was created'),
  sort: stringEnum(sortOrderNames, { description: 'The order of the offers.' }),
  catalog_version: Type.String({ description: 'Version of the offer catalog.' }),
  disclosure: Type.String({ description: 'Show it next to the offers.' }),
};

export const marketplaceResponseSchema = defineSchema<MarketplaceResponse>()(
  Type.Object(
    { ...offersProperties, explain: Type.Optional(explanationSchema), ...ignoredParametersProperty },
    { title: 'Marketplace' },
  ),
);

export const widgetOffersSchema = defineSchema<WidgetOffersResponse>()(
  Type.Object(
    {
      loan_amount: Type.Integer({ description: 'The requested amount in USD.' }),
      expires_at: timestampSchema('When session and token expire'),
      ...offersProperties,
    },
    { title: 'WidgetOffers' },
  ),
);

export const widgetEmbedSchema = defineSchema<WidgetEmbedResponse>()(
  Type.Object(
    {
      sub_id: subIdSchema,
      format: stringEnum(['iframe', 'js']),
      html: Type.String({ description: 'Embed code for your page. Use it unchanged.' }),
      src: urlSchema('URL of the iframe page, or of the script.'),
      token: Type.String({ description: 'Gives access to the widget of this session only.' }),
      expires_at: timestampSchema('When session and token expire'),
      ...ignoredParametersProperty,
    },
    { title: 'WidgetEmbed' },
  ),
);

export const widgetBeaconSchema = defineSchema<WidgetBeaconBody>()(
  Type.Object(
    {
      load: widgetLoadIdSchema,
      events: Type.Array(
        Type.Object({
          event_id: Type.String({ pattern: widgetEventIdPattern, description: 'A known id is not counted again.' }),
          type: stringEnum(widgetEventTypes, { description: 'Type of the event.' }),
          svc_offer_id: Type.Optional(
            nullableSchema(Type.String({ pattern: offerIdPattern, description: 'The offer, for types `offer_*`.' })),
          ),
        }),
        { minItems: 1, maxItems: bounds.widgetEventsPerBatchMax },
      ),
    },
    { title: 'WidgetBeacon' },
  ),
);

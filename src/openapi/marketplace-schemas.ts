import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { offerIdPattern } from '../catalogs/identifiers.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import { type Explanation, mismatchReasons } from '../matching/explain-offers.ts';
import { sortOrders } from '../matching/matcher.ts';
import type { WidgetEmbedView } from '../operations/embed-widget.ts';
import type { MarketplaceView } from '../operations/marketplace-view.ts';
import type { WidgetOffersView } from '../operations/show-widget-offers.ts';
import type { OfferView } from '../verticals/personal-loans/offer-view.ts';
import { type WidgetBeaconBody, widgetEventIdPattern } from '../widgets/widget-beacon.ts';
import {
  countSchema,
  ignoredProperty,
  nullable,
  schemaFor,
  stringEnum,
  subIdSchema,
  timestampSchema,
  urlSchema,
  usdSchema,
  widgetLoadIdSchema,
} from './schema-parts.ts';

const offerSchema = schemaFor<OfferView>()(
  Type.Object(
    {
      svc_offer_id: Type.String({ pattern: offerIdPattern, description: 'The id of the offer.' }),
      lender_name: Type.String({ description: 'Who makes the offer.' }),
      logo_url: urlSchema(
        'An SVG image of the lender. Pages of any origin may show it, and caches may keep it for ever: a changed logo has another address.',
      ),
      apr_range: Type.Object(
        { min: Type.Number(), max: Type.Number() },
        { description: 'Annual percentage rates for this borrower, in percent.' },
      ),
      payment_term_months: Type.Integer({ description: 'The term that the monthly payment is for. Name both.' }),
      monthly_payment_estimate: usdSchema('What the amount asked for costs a month over that term, about'),
      svc_star_rating: Type.Number({ description: 'Our editorial rating, in stars.' }),
      features: Type.Array(Type.String(), { description: 'What is special about the offer, as tags.' }),
      prequalification: Type.Boolean({ description: 'Whether the lender tells a rate without a hard credit inquiry.' }),
      click_url: urlSchema(
        'Where the borrower goes from here. Use it exactly as it is: the click and its revenue are attributed by it. It redirects to the lender, see `followClick`.',
      ),
      loan_amount_range: Type.Object(
        { min: Type.Integer(), max: Type.Integer() },
        { description: 'What this borrower can get, in USD.' },
      ),
      term_months: Type.Array(Type.Integer(), { description: 'The terms open to this borrower.' }),
      position: Type.Integer({
        minimum: 1,
        maximum: bounds.offersShownMax,
        description: 'Its place in this answer, from 1.',
      }),
    },
    { title: 'Offer' },
  ),
);

const explanationSchema = schemaFor<Explanation>()(
  Type.Object(
    {
      offers_in_catalog: countSchema('All offers there are: `matched` and `not_matched` together.'),
      matched: countSchema('The same as `total_offers`.'),
      not_matched: countSchema('Offers kept away by at least one reason.'),
      reasons: Type.Array(
        Type.Object({
          reason: stringEnum(mismatchReasons),
          field: nullable(
            Type.String({ description: 'The pocket field it is about; `null` where none would change it.' }),
          ),
          offers: countSchema('Offers it keeps away, alone or with other reasons.'),
          alone: countSchema('Offers that nothing else keeps away: what there is to gain.'),
        }),
        { description: 'Those that keep most offers away come first.' },
      ),
    },
    { title: 'Explanation' },
  ),
);

/** What every answer with offers has. */
const offersProperties = {
  sub_id: subIdSchema,
  match_quality: stringEnum(['high', 'partial', 'none'], {
    description:
      '`high` with at least three offers for a session whose `match_readiness` is `high`, `none` without offers, `partial` otherwise.',
  }),
  offers: Type.Array(offerSchema, {
    maxItems: bounds.offersShownMax,
    description: 'The best offers in the order asked for; empty where none matches.',
  }),
  total_offers: countSchema('All offers that match, those not shown too.'),
  generated_at: timestampSchema('When this answer was made'),
  sort: stringEnum(sortOrders, { description: 'The order of the offers.' }),
  catalog_version: Type.String({ description: 'Tells one state of the offers from another.' }),
  disclosure: Type.String({
    description: 'What to tell the visitor about who pays for these offers. Show it beside them.',
  }),
};

export const marketplaceSchema = schemaFor<MarketplaceView>()(
  Type.Object(
    { ...offersProperties, explain: Type.Optional(explanationSchema), ...ignoredProperty },
    { title: 'Marketplace' },
  ),
);

export const widgetOffersSchema = schemaFor<WidgetOffersView>()(
  Type.Object(
    {
      loan_amount: Type.Integer({ description: 'What the borrower asked for, in USD: every payment is for it.' }),
      expires_at: timestampSchema('When session and token end'),
      ...offersProperties,
    },
    { title: 'WidgetOffers' },
  ),
);

export const widgetEmbedSchema = schemaFor<WidgetEmbedView>()(
  Type.Object(
    {
      sub_id: subIdSchema,
      format: stringEnum(['iframe', 'js']),
      html: Type.String({ description: 'What to put on the page, as it is.' }),
      src: urlSchema('The address of the page in the iframe, or of the script.'),
      token: Type.String({ description: 'Opens the widget of this session and nothing else, so it may be in a page.' }),
      expires_at: timestampSchema('When session and token end'),
      ...ignoredProperty,
    },
    { title: 'WidgetEmbed' },
  ),
);

export const widgetBeaconSchema = schemaFor<WidgetBeaconBody>()(
  Type.Object(
    {
      load: widgetLoadIdSchema,
      events: Type.Array(
        Type.Object({
          event_id: Type.String({
            pattern: widgetEventIdPattern,
            description: 'One that the session had before is not counted again.',
          }),
          type: stringEnum(widgetEventTypes, { description: 'What happened.' }),
          svc_offer_id: Type.Optional(
            nullable(
              Type.String({
                pattern: offerIdPattern,
                description: 'The offer it is about: of types that begin with `offer_`, and of no others.',
              }),
            ),
          ),
        }),
        { minItems: 1, maxItems: bounds.widgetEventsPerBatchMax },
      ),
    },
    { title: 'WidgetBeacon' },
  ),
);

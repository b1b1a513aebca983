import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { deviceClasses, unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import {
  constantSchema,
  dictionarySchema,
  ignoredParametersProperty,
  isoDateSchema,
  metadataValueSchema,
  nonNegativeIntegerSchema,
  pageEndProperties,
  referrerTagSchema,
  subIdSchema,
  timestampSchema,
  usdSchema,
  type ValueOf,
} from './schema-parts.ts';

const attributedUsd = usdSchema('Expected revenue of the clicks, preliminary');
const confirmedUsd = usdSchema(
  'Revenue confirmed by lenders, 14 to 45 days after the click, or by clicks that confirm their own revenue',
);

const metricProperties = {
  sessions_total: nonNegativeIntegerSchema('Sessions created.'),
  marketplace_views: nonNegativeIntegerSchema('Responses with offers, and widget loads that received offers.'),
  offer_clicks: nonNegativeIntegerSchema('First clicks of a session on each shown offer.'),
  click_rate: Type.Number({ minimum: 0, description: '`offer_clicks` a view, not in percent; 0 without views.' }),
  rev_attributed: attributedUsd,
  rev_confirmed: confirmedUsd,
  rev_per_session: usdSchema(
    '`rev_confirmed` per session, which recent sessions lower; compare by `rev_per_session_matured`',
  ),
};

const lenderSchema = Type.Object(
  {
    lender: Type.String({ description: 'Name of the lender.' }),
    clicks: nonNegativeIntegerSchema('Counted clicks.'),
    rev_confirmed: confirmedUsd,
  },
  { title: 'LenderFigures' },
);

const topLenderSchema = Type.Object(
  {
    ...lenderSchema.properties,
    rev_confirmed_per_click: usdSchema('`rev_confirmed / clicks`, which recent sessions lower'),
  },
  { title: 'TopLenderFigures' },
);

/** Returns one property for each name, with the same schema. */
function propertiesNamed<const Name extends string, Schema extends TSchema>(names: readonly Name[], schema: Schema) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** Number of clicks that booked no revenue by reason (docs/contract.md#clicks-that-are-not-booked). */
const clicksNotBookedSchema = Type.Object(propertiesNamed(unbookedReasons, Type.Integer({ minimum: 0 })), {
  title: 'ClicksNotBooked',
  description:
    'Clicks in `offer_clicks` that booked no revenue, by reason; each session and offer counts at most once for each reason.',
});

/** Number of widget events by type (docs/contract.md#widget-events). */
const widgetEventsSchema = Type.Object(propertiesNamed(widgetEventTypes, Type.Integer({ minimum: 0 })), {
  title: 'WidgetEvents',
  description: 'Events that widgets reported. They book no revenue, and `offer_click` may differ from `offer_clicks`.',
});

const figuresSchema = Type.Object(metricProperties, { title: 'Figures' });

const byDeviceSchema = Type.Object(propertiesNamed(deviceClasses, Type.Optional(figuresSchema)), {
  description: 'The same figures for each device class with sessions.',
});

const requestedTagSchema = nullableSchema(
  Type.String({ description: 'The requested tag; `null` for a list of ids alone.' }),
);
const retainedFromSchema = nullableSchema(
  isoDateSchema('First date of rows and of figures of listed ids; `null` without a limit.'),
);
const dateRangeProperties = {
  date_from: isoDateSchema('The first day, inclusive.'),
  date_to: isoDateSchema('The last day, inclusive.'),
};
const maturedPhrase = `older than ${bounds.maturedDays} days`;

/** Figures of the matured sessions (docs/contract.md#matured-figures). */
export type MaturedFigures = ValueOf<typeof maturedSchema>;
const maturedProperties = {
  from: nullableSchema(isoDateSchema('First day of the matured figures; `null` if no day is matured.')),
  to: nullableSchema(isoDateSchema('Last day of the matured figures; `null` if no day is matured.')),
  sessions: nonNegativeIntegerSchema(`Sessions ${maturedPhrase}.`),
  sessions_with_revenue: nullableSchema(
    nonNegativeIntegerSchema(
      'Matured sessions with confirmed revenue; `null` if an earlier release archived one of the days.',
    ),
  ),
  rev_per_session: nullableSchema(
    usdSchema('`rev_confirmed` per matured session, to compare tags by; `null` without any'),
  ),
  ci95: nullableSchema(
    Type.Object(
      { low: Type.Number(), high: Type.Number() },
      {
        description: `95 % confidence interval of the mean; \`null\` unless at least ${bounds.unitsWithRevenueMin} matured sessions have revenue, and while all have the same.`,
      },
    ),
  ),
};

const maturedSchema = Type.Object(maturedProperties, {
  title: 'MaturedFigures',
  description: `Figures of the sessions ${maturedPhrase}, whose confirmations are in. Without dates in the query, they cover the days from ${bounds.maturedDefaultDays} to ${bounds.maturedDays + 1} days before today.`,
});

/** Summary of the sessions of a period (docs/contract.md#summary). */
export type AnalyticsSummary = ValueOf<typeof analyticsSummarySchema>;
export const analyticsSummarySchema = Type.Object(
  {
    referrer_tag: requestedTagSchema,
    ...metricProperties,
    top_lenders: Type.Array(topLenderSchema, {
      maxItems: bounds.topLendersMax,
      description: 'Lenders with clicks, sorted by clicks, then by name.',
    }),
    granularity: constantSchema('summary'),
    ...dateRangeProperties,
    ids_outside_dates: nonNegativeIntegerSchema('Your ids of `sub_id_list` whose sessions were created on other days.'),
    bot_sessions: nonNegativeIntegerSchema('Sessions in `sessions_total` whose user agent declares a bot.'),
    matured: maturedSchema,
    // The next five members are equal to the members of `matured`.
    matured_from: maturedProperties.from,
    matured_to: maturedProperties.to,
    sessions_matured: maturedProperties.sessions,
    rev_per_session_matured: maturedProperties.rev_per_session,
    rev_per_session_ci95: maturedProperties.ci95,
    by_device: byDeviceSchema,
    clicks_not_booked: clicksNotBookedSchema,
    widget_events: widgetEventsSchema,
    sessions_kept_from: retainedFromSchema,
    as_of: nullableSchema(timestampSchema('The time up to which the counters are complete')),
    ...ignoredParametersProperty,
  },
  { title: 'AnalyticsSummary' },
);

/** Figures of one day in a response with `granularity=daily` (docs/contract.md#daily-figures). */
export type DailyFigures = ValueOf<typeof daySchema>;
export const daySchema = Type.Object(
  {
    date: isoDateSchema('The UTC day of session creation.'),
    ...metricProperties,
    clicks_not_booked: clicksNotBookedSchema,
    widget_events: widgetEventsSchema,
    matured: Type.Boolean({ description: `Whether its sessions are ${maturedPhrase}.` }),
  },
  { title: 'Day' },
);

/** Figures of one session in a response with `granularity=row` (docs/contract.md#rows). */
export type SessionFigures = ValueOf<typeof rowSchema>;
export const rowSchema = Type.Object(
  {
    sub_id: subIdSchema,
    referrer_tag: referrerTagSchema,
    created_at: timestampSchema('When the session was created'),
    sandbox: Type.Boolean({ description: 'Whether the session was created with a test key.' }),
    device: Type.String({ enum: deviceClasses, description: 'Derived from the `user_agent` at creation.' }),
    metadata: nullableSchema(dictionarySchema(metadataValueSchema, 'The `metadata` at creation, or `null`.')),
    marketplace_views: nonNegativeIntegerSchema('Views of the offers.'),
    offer_clicks: nonNegativeIntegerSchema('Counted clicks.'),
    rev_attributed: attributedUsd,
    rev_confirmed: confirmedUsd,
    last_event_at: timestampSchema('Time of the last event of any kind'),
    lenders: Type.Array(lenderSchema),
  },
  { title: 'Row' },
);

/** Returns the properties of one page of a response with `daily`, `row` or `offer` (docs/contract.md#pages). */
function analyticsPageProperties<const Granularity extends 'daily' | 'row' | 'offer', Item extends TSchema>(
  granularity: Granularity,
  item: Item,
  description: string,
) {
  return {
    referrer_tag: requestedTagSchema,
    granularity: constantSchema(granularity),
    ...dateRangeProperties,
    sessions_kept_from: retainedFromSchema,
    data: Type.Array(item, { maxItems: bounds.analyticsPageItemsMax, description }),
    ...pageEndProperties,
    ...ignoredParametersProperty,
  };
}

export type DailyAnalytics = ValueOf<typeof dailyAnalyticsSchema>;
export const dailyAnalyticsSchema = Type.Object(
  analyticsPageProperties('daily', daySchema, 'All days in order, including those without sessions.'),
  { title: 'AnalyticsDaily' },
);

export type SessionRowsResponse = ValueOf<typeof analyticsRowsSchema>;
export const analyticsRowsSchema = Type.Object(
  analyticsPageProperties('row', rowSchema, 'Sessions in the order of creation.'),
  { title: 'AnalyticsRows' },
);

/** Figures of one offer in a response with `granularity=offer` (docs/contract.md#offers). */
export type OfferFigures = ValueOf<typeof offerFiguresSchema>;
export const offerFiguresSchema = Type.Object(
  {
    svc_offer_id: Type.String({ description: 'The id of the offer.' }),
    lender_name: nullableSchema(
      Type.String({
        description: 'From the current catalog, or else from the last click; `null` if the offer is in neither.',
      }),
    ),
    shown: nonNegativeIntegerSchema(
      'Views with the offer, and later answers of a widget load with the offer as a new one.',
    ),
    shown_by_position: Type.Array(Type.Integer({ minimum: 0 }), {
      minItems: bounds.offerPositionsMax,
      maxItems: bounds.offerPositionsMax,
      description: '`shown` by position, the first position first.',
    }),
    average_position: nullableSchema(
      Type.Number({
        minimum: 1,
        maximum: bounds.offerPositionsMax,
        description: `The mean position at which the offer was shown; ${bounds.offerPositionsMax} stands for all later positions.`,
      }),
    ),
    offer_clicks: nonNegativeIntegerSchema('First clicks of a session on the offer.'),
    click_rate: Type.Number({ minimum: 0, maximum: 1, description: '`offer_clicks / shown`, not in percent.' }),
    rev_attributed: attributedUsd,
    rev_confirmed: confirmedUsd,
    rev_attributed_per_click: usdSchema('`rev_attributed / offer_clicks`; 0 without clicks'),
    rev_confirmed_per_click: usdSchema('`rev_confirmed / offer_clicks`, which recent sessions lower; 0 without clicks'),
    rev_attributed_per_shown: usdSchema('`rev_attributed / shown`'),
    rev_confirmed_per_shown: usdSchema('`rev_confirmed / shown`, which recent sessions lower'),
  },
  { title: 'OfferFigures' },
);

export type OfferAnalytics = ValueOf<typeof offerAnalyticsSchema>;
export const offerAnalyticsSchema = Type.Object(
  {
    ...analyticsPageProperties('offer', offerFiguresSchema, 'Shown offers in the alphabetical order of their ids.'),
    offers_counted_from: nullableSchema(isoDateSchema('First date of the figures of offers; `null` without a limit.')),
  },
  { title: 'AnalyticsOffers' },
);

/** Figures of all sessions of one referrer tag (docs/contract.md#tags). */
export type TagFigures = ValueOf<typeof tagSchema>;
const recentSchema = Type.Object(
  {
    ...metricProperties,
    daily: Type.Array(
      Type.Object(
        { date: isoDateSchema('The UTC day of session creation.'), ...metricProperties },
        { title: 'RecentDay' },
      ),
      { maxItems: bounds.recentDaysMax, description: 'Each day in order, including those without sessions.' },
    ),
  },
  { title: 'RecentFigures', description: 'With `recent_days`: figures of these days, in total and for each day.' },
);

const tagSchema = Type.Object(
  {
    referrer_tag: referrerTagSchema,
    first_session_at: timestampSchema('Creation of the first session'),
    last_session_at: timestampSchema('Creation of the last session'),
    sessions_total: metricProperties.sessions_total,
    marketplace_views: metricProperties.marketplace_views,
    offer_clicks: metricProperties.offer_clicks,
    rev_attributed: attributedUsd,
    rev_confirmed: confirmedUsd,
    recent: Type.Optional(recentSchema),
  },
  { title: 'TagFigures' },
);

/** One page of the referrer tags of a tenant. */
export type TagsResponse = ValueOf<typeof tagsSchema>;
export const tagsSchema = Type.Object(
  {
    data: Type.Array(tagSchema, {
      maxItems: bounds.analyticsPageItemsMax,
      description: 'Tags with sessions in alphabetical order, with the figures of all their days.',
    }),
    ...pageEndProperties,
    ...ignoredParametersProperty,
  },
  { title: 'Tags' },
);

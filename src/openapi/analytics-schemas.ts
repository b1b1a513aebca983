import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { deviceClasses, type WidgetEventType, widgetEventTypes } from '../ledger/ledger-record.ts';
import type { DailyView, RowsView, SummaryView } from '../operations/analytics-views.ts';
import {
  countSchema,
  ignoredProperty,
  isoDateSchema,
  metadataValueSchema,
  nullable,
  referrerTagSchema,
  schemaFor,
  subIdSchema,
  timestampSchema,
  usdSchema,
} from './schema-parts.ts';

const attributedUsd = usdSchema('What the clicks are expected to bring: there on the same day, preliminary');
const confirmedUsd = usdSchema('What lenders have confirmed, 14 to 45 days after the click');

const metricProperties = {
  sessions_total: countSchema('Sessions created.'),
  marketplace_views: countSchema('Answers with offers, and loads of a widget that got them.'),
  offer_clicks: countSchema('First clicks of a session on an offer it was shown.'),
  click_rate: Type.Number({ minimum: 0, description: '`offer_clicks` a view, not in percent; 0 without views.' }),
  rev_attributed: attributedUsd,
  rev_confirmed: confirmedUsd,
  rev_per_session: usdSchema(
    '`rev_confirmed` per session, 0 without sessions. Sessions of the last 45 days lower it, since most of their confirmations are still to come: compare experiments by `rev_per_session_matured`',
  ),
};

const lenderSchema = Type.Object(
  {
    lender: Type.String({ description: 'Its name.' }),
    clicks: countSchema('Clicks that counted.'),
    rev_confirmed: confirmedUsd,
  },
  { title: 'LenderFigures' },
);

const widgetEventsSchema = schemaFor<Readonly<Record<WidgetEventType, number>>>()(
  Type.Object(
    Object.fromEntries(widgetEventTypes.map((type) => [type, Type.Integer({ minimum: 0 })])) as Record<
      WidgetEventType,
      ReturnType<typeof countSchema>
    >,
    {
      title: 'WidgetEvents',
      description:
        "What widgets told of themselves and of the person before them. It comes from the visitor's browser and nothing is booked by it, so `offer_click` need not be `offer_clicks`.",
    },
  ),
);

const requestedTagSchema = nullable(
  Type.String({ description: 'The tag asked for; `null` when only ids were listed.' }),
);
const retainedFromSchema = nullable(
  isoDateSchema(
    'The first date whose sessions are still told apart; `null` when all are. Figures of a tag are whole for every date; rows, and figures of listed ids, begin with this one.',
  ),
);
const dateRangeProperties = {
  date_from: isoDateSchema('The first day, inclusive.'),
  date_to: isoDateSchema('The last day, inclusive.'),
};
const maturedPhrase = `older than ${bounds.maturedDays} days`;

export const summarySchema = schemaFor<SummaryView>()(
  Type.Object(
    {
      referrer_tag: requestedTagSchema,
      ...metricProperties,
      top_lenders: Type.Array(lenderSchema, {
        maxItems: bounds.topLendersMax,
        description: 'Lenders with a click: by clicks, then by name.',
      }),
      granularity: Type.Unsafe<'summary'>({ type: 'string', const: 'summary' }),
      ...dateRangeProperties,
      ids_outside_dates: countSchema('Your ids of `sub_id_list` whose sessions were created on other days.'),
      matured_from: nullable(
        isoDateSchema(
          `The first day of \`sessions_matured\`, \`rev_per_session_matured\` and \`rev_per_session_ci95\`: \`date_from\`, or ${bounds.maturedDefaultDays} days before today when neither date was sent. \`null\` when no day of the dates is matured.`,
        ),
      ),
      matured_to: nullable(isoDateSchema('The last day of the same; `null` with `matured_from`.')),
      sessions_matured: countSchema(`Sessions ${maturedPhrase}, whose confirmations are in.`),
      rev_per_session_matured: nullable(
        usdSchema(
          '`rev_confirmed` per session of these, `null` without any: the figure to compare experiments by, once the intervals do not overlap',
        ),
      ),
      rev_per_session_ci95: nullable(
        Type.Object(
          { low: Type.Number(), high: Type.Number() },
          {
            description: `The interval that the mean of matured sessions lies in with 95 % confidence; \`null\` for fewer than ${bounds.confidenceSessionsMin}.`,
          },
        ),
      ),
      by_device: Type.Record(Type.String(), Type.Object(metricProperties, { title: 'Figures' }), {
        propertyNames: { enum: deviceClasses },
        description: 'The same figures for each class of device that had sessions.',
      }),
      widget_events: widgetEventsSchema,
      sessions_kept_from: retainedFromSchema,
      as_of: nullable(timestampSchema('How far the counters have come')),
      ...ignoredProperty,
    },
    { title: 'AnalyticsSummary' },
  ),
);

const daySchema = Type.Object(
  {
    date: isoDateSchema('The UTC day on which its sessions were created.'),
    ...metricProperties,
    widget_events: widgetEventsSchema,
    matured: Type.Boolean({ description: `Whether its sessions are ${maturedPhrase}.` }),
  },
  { title: 'Day' },
);

const rowSchema = Type.Object(
  {
    sub_id: subIdSchema,
    referrer_tag: referrerTagSchema,
    created_at: timestampSchema('When it was created'),
    sandbox: Type.Boolean({ description: 'Whether it was created with a test key.' }),
    device: Type.String({ enum: deviceClasses, description: 'By the `user_agent` given at creation.' }),
    metadata: nullable(
      Type.Record(Type.String(), metadataValueSchema, { description: 'As given at creation, or `null`.' }),
    ),
    marketplace_views: countSchema('Views of its offers.'),
    offer_clicks: countSchema('Clicks that counted.'),
    rev_attributed: attributedUsd,
    rev_confirmed: confirmedUsd,
    last_event_at: timestampSchema(
      'Its creation, or its latest view, counted click, confirmation, or report of a widget',
    ),
    lenders: Type.Array(lenderSchema),
  },
  { title: 'Row' },
);

function pageSchema<const Granularity extends 'daily' | 'row', Item extends TSchema>(
  title: string,
  granularity: Granularity,
  item: Item,
  description: string,
) {
  return Type.Object(
    {
      referrer_tag: requestedTagSchema,
      granularity: Type.Unsafe<Granularity>({ type: 'string', const: granularity }),
      ...dateRangeProperties,
      sessions_kept_from: retainedFromSchema,
      data: Type.Array(item, { maxItems: bounds.analyticsPageItemsMax, description }),
      has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
      next_cursor: nullable(
        Type.String({ description: 'The `cursor` of the next page, with the same filters; `null` at the end.' }),
      ),
      ...ignoredProperty,
    },
    { title },
  );
}

export const dailySchema = schemaFor<DailyView>()(
  pageSchema('AnalyticsDaily', 'daily', daySchema, 'Every day in order, those without sessions too.'),
);
export const rowsSchema = schemaFor<RowsView>()(
  pageSchema('AnalyticsRows', 'row', rowSchema, 'Sessions in the order in which they were recorded.'),
);

import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { deviceClasses, type WidgetEventType, widgetEventTypes } from '../events/ledger-record.ts';
import type { DailyView, RowsView, SummaryView } from '../operations/analytics-views.ts';
import { describes } from './describes.ts';
import {
  count,
  ignored,
  isoDate,
  metadataValue,
  nullable,
  referrerTag,
  subId,
  timestamp,
  usd,
} from './schema-parts.ts';

const attributed = usd('What the clicks are expected to bring: there on the same day, preliminary');
const confirmed = usd('What lenders have confirmed, 14 to 45 days after the click');

const figures = {
  sessions_total: count('Sessions created.'),
  marketplace_views: count('Answers with offers, and loads of a widget that got them.'),
  offer_clicks: count('First clicks of a session on an offer it was shown.'),
  click_rate: Type.Number({ minimum: 0, description: '`offer_clicks` a view, not in percent; 0 without views.' }),
  rev_attributed: attributed,
  rev_confirmed: confirmed,
  rev_per_session: usd(
    '`rev_confirmed` per session, 0 without sessions. Sessions of the last 45 days lower it, since most of their confirmations are still to come: compare experiments by `rev_per_session_matured`',
  ),
};

const lender = Type.Object(
  {
    lender: Type.String({ description: 'Its name.' }),
    clicks: count('Clicks that counted.'),
    rev_confirmed: confirmed,
  },
  { title: 'LenderFigures' },
);

const widgetEvents = describes<Readonly<Record<WidgetEventType, number>>>()(
  Type.Object(
    Object.fromEntries(widgetEventTypes.map((type) => [type, Type.Integer({ minimum: 0 })])) as Record<
      WidgetEventType,
      ReturnType<typeof count>
    >,
    {
      title: 'WidgetEvents',
      description:
        "What widgets told of themselves and of the person before them. It comes from the visitor's browser and nothing is booked by it, so `offer_click` need not be `offer_clicks`.",
    },
  ),
);

const tagAsked = nullable(Type.String({ description: 'The tag asked for; `null` when only ids were listed.' }));
const keptFrom = nullable(
  isoDate(
    'The first date whose sessions are still told apart; `null` when all are. Figures of a tag are whole for every date; rows, and figures of listed ids, begin with this one.',
  ),
);
const dates = { date_from: isoDate('The first day, inclusive.'), date_to: isoDate('The last day, inclusive.') };
const matured = `older than ${bounds.maturedDays} days`;

export const summary = describes<SummaryView>()(
  Type.Object(
    {
      referrer_tag: tagAsked,
      ...figures,
      top_lenders: Type.Array(lender, {
        maxItems: bounds.topLendersMax,
        description: 'Lenders with a click: by clicks, then by name.',
      }),
      granularity: Type.Unsafe<'summary'>({ type: 'string', const: 'summary' }),
      ...dates,
      ids_outside_dates: count('Your ids of `sub_id_list` whose sessions were created on other days.'),
      matured_from: nullable(
        isoDate(
          `The first day of \`sessions_matured\`, \`rev_per_session_matured\` and \`rev_per_session_ci95\`: \`date_from\`, or ${bounds.maturedDefaultDays} days before today when neither date was sent. \`null\` when no day of the dates is matured.`,
        ),
      ),
      matured_to: nullable(isoDate('The last day of the same; `null` with `matured_from`.')),
      sessions_matured: count(`Sessions ${matured}, whose confirmations are in.`),
      rev_per_session_matured: nullable(
        usd(
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
      by_device: Type.Record(Type.String(), Type.Object(figures, { title: 'Figures' }), {
        propertyNames: { enum: deviceClasses },
        description: 'The same figures for each class of device that had sessions.',
      }),
      widget_events: widgetEvents,
      sessions_kept_from: keptFrom,
      as_of: nullable(timestamp('How far the counters have come')),
      ...ignored,
    },
    { title: 'AnalyticsSummary' },
  ),
);

const day = Type.Object(
  {
    date: isoDate('The UTC day on which its sessions were created.'),
    ...figures,
    widget_events: widgetEvents,
    matured: Type.Boolean({ description: `Whether its sessions are ${matured}.` }),
  },
  { title: 'Day' },
);

const row = Type.Object(
  {
    sub_id: subId,
    referrer_tag: referrerTag,
    created_at: timestamp('When it was created'),
    sandbox: Type.Boolean({ description: 'Whether it was created with a test key.' }),
    device: Type.String({ enum: deviceClasses, description: 'By the `user_agent` given at creation.' }),
    metadata: nullable(Type.Record(Type.String(), metadataValue, { description: 'As given at creation, or `null`.' })),
    marketplace_views: count('Views of its offers.'),
    offer_clicks: count('Clicks that counted.'),
    rev_attributed: attributed,
    rev_confirmed: confirmed,
    last_event_at: timestamp('Its creation, or its latest view, counted click, confirmation, or report of a widget'),
    lenders: Type.Array(lender),
  },
  { title: 'Row' },
);

function page<const Granularity extends 'daily' | 'row', Item extends TSchema>(
  title: string,
  granularity: Granularity,
  item: Item,
  description: string,
) {
  return Type.Object(
    {
      referrer_tag: tagAsked,
      granularity: Type.Unsafe<Granularity>({ type: 'string', const: granularity }),
      ...dates,
      sessions_kept_from: keptFrom,
      data: Type.Array(item, { maxItems: bounds.analyticsPageMax, description }),
      has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
      next_cursor: nullable(
        Type.String({ description: 'The `cursor` of the next page, with the same filters; `null` at the end.' }),
      ),
      ...ignored,
    },
    { title },
  );
}

export const daily = describes<DailyView>()(
  page('AnalyticsDaily', 'daily', day, 'Every day in order, those without sessions too.'),
);
export const rows = describes<RowsView>()(
  page('AnalyticsRows', 'row', row, 'Sessions in the order in which they were recorded.'),
);

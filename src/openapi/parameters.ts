import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { WidgetLinkParameters } from '../http/routes/widget-routes.ts';
import { sortOrders } from '../matching/matcher.ts';
import type { MarketplaceRequest } from '../operations/get-marketplace.ts';
import type { AnalyticsRequest } from '../operations/query-analytics.ts';
import type { Parameter } from './openapi-types.ts';
import { isoDateSchema, referrerTagSchema, stringEnum, subIdSchema, widgetLoadIdSchema } from './schema-parts.ts';

type ParameterDescription = Omit<Parameter, 'name' | 'in'>;

/** Every parameter an operation reads, in the order of the document. */
function queryParameters(parameters: Readonly<Record<string, ParameterDescription>>): readonly Parameter[] {
  return Object.entries(parameters).map(([name, parameter]) => ({ name, in: 'query', ...parameter }));
}

const selectionParameters = {
  max_offers: {
    description: 'The most offers to answer with.',
    schema: Type.Integer({ minimum: 1, maximum: bounds.offersShownMax, default: bounds.offersShownDefault }),
  },
  sort: {
    description:
      'Which offers come first: those that suit the borrower best, the cheapest, the largest, or those expected to earn most. Ties are broken the same way every time.',
    schema: stringEnum(sortOrders, { default: 'recommended' }),
  },
};

export const marketplaceParameters = queryParameters({
  sub_id: { required: true, description: 'The session.', schema: subIdSchema },
  format: {
    required: true,
    description: '`json` for cards of your own, `iframe` or `js` for the widget.',
    schema: stringEnum(['json', 'iframe', 'js']),
  },
  ...selectionParameters,
  explain: {
    description: 'Whether to tell why there are not more offers; with a test key and `format=json` only.',
    schema: stringEnum(['true', 'false'], { default: 'false' }),
  },
} satisfies Record<keyof MarketplaceRequest, ParameterDescription>);

export const analyticsParameters = queryParameters({
  referrer_tag: {
    description:
      'The experiment. At least one of this and `sub_id_list` is needed; with both, the sessions that are in both.',
    schema: referrerTagSchema,
  },
  sub_id_list: {
    description:
      'Ids of sessions. Those that are not yours contribute nothing; those that are over are as good as any.',
    // Ids that are no ids are passed over, and a list of one empty text is what an empty parameter comes to.
    schema: Type.Array(Type.String(), { maxItems: bounds.subIdListMax }),
    style: 'form',
    explode: false,
  },
  date_from: {
    description: `The first day, UTC. Without it, ${bounds.analyticsDefaultDays} days before \`date_to\`. Everything counts on the day its session was created.`,
    schema: isoDateSchema('The first day.'),
  },
  date_to: { description: 'The last day, inclusive. Without it, today.', schema: isoDateSchema('The last day.') },
  granularity: {
    description: 'One record for all, one for each day, or one for each session.',
    schema: stringEnum(['summary', 'daily', 'row'], { default: 'summary' }),
  },
  limit: {
    description: 'The most days or sessions to answer with; not with a summary.',
    schema: Type.Integer({ minimum: 1, maximum: bounds.analyticsPageItemsMax, default: bounds.analyticsPageItemsMax }),
  },
  cursor: {
    description: 'The `next_cursor` of the page before, with the same filters and granularity; not with a summary.',
    schema: Type.String(),
  },
} satisfies Record<keyof AnalyticsRequest, ParameterDescription>);

export const idempotencyKeyParameter: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a retry safe: as long as the session lives, the same key with the same body gets the first answer again and creates nothing. Visible ASCII characters.',
  schema: Type.String({ maxLength: bounds.idempotencyKeyCharactersMax, pattern: '^[!-~]*$' }),
};

const subParameter = { required: true, description: 'The session.', schema: subIdSchema };

export const clickParameters = queryParameters({
  sub: subParameter,
  offer: { required: true, description: 'The offer.', schema: Type.String() },
  v: { required: true, description: 'What the offer was when it was shown, sealed.', schema: Type.String() },
});

/** What opens a widget. */
const widgetCredentialParameters = {
  sub: subParameter,
  token: { required: true, description: 'The token of the widget.', schema: Type.String() },
} satisfies Partial<Record<keyof WidgetLinkParameters, ParameterDescription>>;

export const widgetEventsParameters = queryParameters(widgetCredentialParameters);

export const widgetPageParameters = queryParameters({
  ...widgetCredentialParameters,
  ...selectionParameters,
} satisfies Record<Exclude<keyof WidgetLinkParameters, 'load'>, ParameterDescription>);

export const widgetOffersParameters = queryParameters({
  ...widgetCredentialParameters,
  load: { required: true, description: 'The load of the widget that asks.', schema: widgetLoadIdSchema },
  ...selectionParameters,
} satisfies Record<keyof WidgetLinkParameters, ParameterDescription>);

export const contentVersionParameter = queryParameters({
  v: { description: 'Names the content: an address with it may be kept for ever.', schema: Type.String() },
});

import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import type { WidgetLinkParameters, WidgetPageParameters } from '../http/routes/widget-routes.ts';
import type { MarketplaceRequest } from '../operations/get-marketplace.ts';
import type { TagsRequest } from '../operations/list-tags.ts';
import type { AnalyticsRequest } from '../operations/query-analytics.ts';
import {
  isoDateSchema,
  referrerTagSchema,
  stringEnum,
  subIdSchema,
  widgetLoadIdSchema,
} from '../operations/schema-parts.ts';
import type { OpenApiParameter } from './openapi-types.ts';

type ParameterDescription = Omit<OpenApiParameter, 'name' | 'in'>;

function queryParameters(parameters: Readonly<Record<string, ParameterDescription>>): readonly OpenApiParameter[] {
  return Object.entries(parameters).map(([name, parameter]) => ({ name, in: 'query', ...parameter }));
}

function describeSortOrders({ vertical, product }: VerticalWithProduct): string {
  const { sortOrders = sortOrderNames } = vertical;
  const { sortOrderDescriptions } = product;
  const meanings = sortOrders.map((order) => `\`${order}\`: ${sortOrderDescriptions[order]}`);
  const refused = sortOrderNames
    .filter((order) => !sortOrders.includes(order))
    .map((order) => ` As an exception of this vertical, \`${order}\` gets 400 \`INVALID_REQUEST\`.`);
  return `Order of the offers. ${meanings.join('; ')}.${refused.join('')}`;
}

const selectionParameters = (vertical: VerticalWithProduct) => ({
  max_offers: {
    description: 'Maximum number of offers in the response.',
    schema: Type.Integer({ minimum: 1, maximum: bounds.offersShownMax, default: bounds.offersShownDefault }),
  },
  sort: {
    description: describeSortOrders(vertical),
    schema: stringEnum(vertical.vertical.sortOrders ?? sortOrderNames, { default: 'recommended' }),
  },
});

export const marketplaceParameters = (vertical: VerticalWithProduct) =>
  queryParameters({
    sub_id: { required: true, description: 'The session.', schema: subIdSchema },
    format: {
      required: true,
      description: '`json` for your own offer cards, `iframe` or `js` for the widget.',
      schema: stringEnum(['json', 'iframe', 'js']),
    },
    ...selectionParameters(vertical),
    explain: {
      description: 'Explains why other offers do not match. Needs a test key and `format=json`.',
      schema: stringEnum(['true', 'false'], { default: 'false' }),
    },
  } satisfies Record<keyof MarketplaceRequest, ParameterDescription>);

export const analyticsParameters = queryParameters({
  referrer_tag: {
    description: 'The referrer tag. Required without `sub_id_list`; with it, both filters apply.',
    schema: referrerTagSchema,
  },
  sub_id_list: {
    description: 'Ids of sessions, also of expired ones. Other ids are ignored.',
    // Any string is allowed as a sub_id, because invalid sub_ids are ignored.
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: bounds.subIdListMax }),
    style: 'form',
    explode: false,
  },
  date_from: {
    description: `The first day, UTC; by default ${bounds.analyticsDefaultDays} days before today, or before an earlier \`date_to\`. All figures of a session count on the day of its creation.`,
    schema: isoDateSchema('The first day.'),
  },
  date_to: { description: 'The last day, inclusive; by default today.', schema: isoDateSchema('The last day.') },
  granularity: {
    description: 'One record in total, per day, or per session.',
    schema: stringEnum(['summary', 'daily', 'row'], { default: 'summary' }),
  },
  limit: {
    description: 'Maximum number of days or sessions; not with `summary`.',
    schema: Type.Integer({ minimum: 1, maximum: bounds.analyticsPageItemsMax, default: bounds.analyticsPageItemsMax }),
  },
  cursor: {
    description: 'The `next_cursor` of the previous page, with the same filters; not with `summary`.',
    schema: Type.String(),
  },
} satisfies Record<keyof AnalyticsRequest, ParameterDescription>);

export const tagsParameters = queryParameters({
  limit: {
    description: 'Maximum number of tags.',
    schema: Type.Integer({ minimum: 1, maximum: bounds.analyticsPageItemsMax, default: bounds.analyticsPageItemsMax }),
  },
  cursor: { description: 'The `next_cursor` of the previous page.', schema: Type.String() },
} satisfies Record<keyof TagsRequest, ParameterDescription>);

export const idempotencyKeyParameter: OpenApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes retries safe: while the session lives, the same key and body return the first response.',
  schema: Type.String({ maxLength: bounds.idempotencyKeyCharactersMax, pattern: '^[!-~]+$' }),
};

const subParameter = { required: true, description: 'The session.', schema: subIdSchema };

export const clickParameters = queryParameters({
  sub: subParameter,
  offer: { required: true, description: 'The offer.', schema: Type.String() },
  v: { required: true, description: 'Encrypted offer terms at the time of the view.', schema: Type.String() },
});

const widgetCredentialParameters = {
  sub: subParameter,
  token: { required: true, description: 'The token of the widget.', schema: Type.String() },
} satisfies Partial<Record<keyof WidgetLinkParameters, ParameterDescription>>;

export const widgetEventsParameters = queryParameters(widgetCredentialParameters);

export const widgetPageParameters = (vertical: VerticalWithProduct) =>
  queryParameters({
    ...widgetCredentialParameters,
    ...selectionParameters(vertical),
    // Other values are accepted, too, so the schemas have no list and no pattern.
    theme: {
      description:
        'Colors of the widget: `light`, `dark`, or `auto` for the preference of the visitor. Any other value has the effect of the default.',
      schema: Type.String({ default: 'light' }),
    },
    accent: {
      description:
        'Color of buttons and links: three or six hexadecimal digits, such as `0a7d5f`. Any other value has the effect of the default.',
      schema: Type.String(),
    },
  } satisfies Record<keyof WidgetPageParameters, ParameterDescription>);

export const widgetOffersParameters = (vertical: VerticalWithProduct) =>
  queryParameters({
    ...widgetCredentialParameters,
    load: { required: true, description: 'The id of the widget load.', schema: widgetLoadIdSchema },
    ...selectionParameters(vertical),
  } satisfies Record<keyof WidgetLinkParameters, ParameterDescription>);

export const contentVersionParameter = queryParameters({
  v: { description: 'Hash of the content.', schema: Type.String() },
});

import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { PublicUrls } from '../config/service-settings.ts';
import type { ErrorCode, RequestParamName } from '../domain/errors.ts';
import { clickParameters, clickPath } from '../operations/click-url.ts';
import { widgetBeaconSchema } from '../operations/record-widget-events.ts';
import { constantSchema, urlSchema } from '../operations/schema-parts.ts';
import {
  createWidgetOffersSchema,
  widgetLinkParameters,
  widgetOffersParameters,
  widgetPageParameters,
} from '../operations/show-widget-offers.ts';
import { listParameters } from './api-paths.ts';
import type { OpenApiContent, OpenApiHeaders, OpenApiResponse, OpenApiResponses, PathItem } from './openapi-types.ts';
import { jsonContent } from './openapi-types.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import {
  allowOriginHeader,
  type ErrorStatusDescriptions,
  errorResponses,
  errorSchema,
  noStoreHeader,
  rateLimitResetHeader,
  requestIdHeader,
  requiredHeader,
  retryAfterHeader,
} from './responses.ts';

const refreshHeader: OpenApiHeaders = {
  Refresh: {
    description: 'Seconds after which the browser repeats the request.',
    required: false,
    schema: Type.Integer({ minimum: 1 }),
  },
};

/** Splits the widget URL into an OpenAPI server (the origin) and a path without a trailing slash. */
function widgetServer({ widget }: Pick<PublicUrls, 'widget'>) {
  const { origin, pathname } = new URL(widget);
  const servers = [{ url: origin, description: 'The widget host.' }];
  return { path: pathname === '/' ? '' : pathname, servers };
}

const htmlContent: OpenApiContent = { 'text/html': { schema: Type.String() } };

const errorContent = jsonContent(errorSchema, null);

const defaultResponse = browserResponse('Any other error.', {}, errorContent);

const methodNotAllowedResponses = errorResponses(['METHOD_NOT_ALLOWED']);

function browserResponse(description: string, headers: OpenApiHeaders, content?: OpenApiContent): OpenApiResponse {
  return { description, headers: { ...requestIdHeader, ...headers }, ...(content && { content }) };
}

/**
 * Returns the OpenAPI descriptions of the paths that a visitor's browser opens. Partners receive URLs for browsers, such as click URLs, in
 * API responses, and do not request them.
 */
export function browserPathItems(
  vertical: VerticalWithProduct,
  urls: Pick<PublicUrls, 'click' | 'widget'>,
): Readonly<Record<string, PathItem>> {
  const { path: widgetPath, servers: widgetServers } = widgetServer(urls);
  return {
    [clickPath]: {
      servers: [{ url: urls.click, description: 'The redirect host.' }],
      get: {
        operationId: 'followClick',
        tags: ['Browser'],
        summary: 'Follow an offer',
        description:
          'A `click_url`. Counts the first click of a session on each shown offer, for 24 hours; redirects every click.',
        security: [],
        parameters: listParameters(clickParameters, vertical),
        responses: {
          302: browserResponse(
            'Redirects to the lender; for sandbox sessions and offers of the example catalogs, to a page of this service.',
            {
              ...noStoreHeader,
              Location: requiredHeader('The target.', urlSchema('The target.')),
              'Referrer-Policy': requiredHeader(
                'Hides the origin of the click from the lender.',
                constantSchema('no-referrer'),
              ),
            },
            { 'text/plain': { schema: Type.String() } },
          ),
          404: browserResponse('The link is invalid. An HTML page.', noStoreHeader, htmlContent),
          503: browserResponse(
            'For a speculative request, such as a prefetch, without a body. Otherwise, the offer is not loaded yet, and the browser repeats the request.',
            { ...noStoreHeader, ...retryAfterHeader, ...refreshHeader },
            htmlContent,
          ),
          ...methodNotAllowedResponses,
          default: defaultResponse,
        },
      },
    },
    [widgetPath === '' ? '/' : widgetPath]: {
      servers: widgetServers,
      get: {
        operationId: 'openWidget',
        tags: ['Browser'],
        summary: 'Page of the iframe',
        description: 'The `src` of `format=iframe`, for pages of origins that the account allows.',
        security: [],
        parameters: listParameters(widgetPageParameters, vertical),
        responses: {
          200: browserResponse('The widget.', noStoreHeader, htmlContent),
          400: browserResponse('The session has expired (an HTML page), or the request is malformed.', noStoreHeader, {
            ...htmlContent,
            ...errorContent,
          }),
          403: browserResponse(
            'The iframe is on a page of an origin that the account does not allow. An HTML page.',
            noStoreHeader,
            htmlContent,
          ),
          404: browserResponse('The link is invalid. An HTML page.', noStoreHeader, htmlContent),
          ...methodNotAllowedResponses,
          default: defaultResponse,
        },
      },
    },
    [`${widgetPath}/widget.js`]: {
      servers: widgetServers,
      get: {
        operationId: 'getWidgetScript',
        tags: ['Browser'],
        summary: 'The script of the widget',
        description: 'The `src` of `format=js`. Compressed if the client accepts it.',
        security: [],
        parameters: listParameters(
          { v: { description: 'Hash of the content.', schema: Type.Optional(Type.String()) } },
          vertical,
        ),
        responses: {
          200: browserResponse('The script.', {}, { 'text/javascript': { schema: Type.String() } }),
          304: browserResponse('The cached version is current.', {}),
          ...methodNotAllowedResponses,
          default: defaultResponse,
        },
      },
    },
  };
}

const widgetTags = ['Widget script'];

const linkCheckDescription =
  'Invalid links get 404, and pages of other origins 403, also for `OPTIONS`. No key is charged.';

/** Error statuses of the widget routes, without the rate limit headers of API keys, because widget requests have no API key. */
const widgetStatuses: ErrorStatusDescriptions = {
  400: { when: 'The request is invalid, or the session has expired.', headers: allowOriginHeader },
  403: { when: 'The account does not allow widgets on pages of this origin.', headers: allowOriginHeader },
  404: { when: 'The link is invalid: the token was not issued for this session.', headers: allowOriginHeader },
  413: { when: `The body is larger than ${bounds.requestBodyBytesMax / 1024} KiB.`, headers: allowOriginHeader },
  429: {
    when: `The widgets of this session sent more than ${bounds.widgetRequestsPerMinute} requests in a minute.`,
    headers: { ...rateLimitResetHeader, ...retryAfterHeader, ...allowOriginHeader },
  },
  500: { when: 'The service failed.', headers: allowOriginHeader },
  503: {
    when: 'The service cannot handle the request now, or not in time.',
    headers: { ...retryAfterHeader, ...allowOriginHeader },
  },
};

/** Returns the OpenAPI descriptions of the paths that the widget script requests. */
export function widgetPaths(
  vertical: VerticalWithProduct,
  urls: Pick<PublicUrls, 'widget'>,
  samples: RecordedExamples | null,
): Readonly<Record<string, PathItem>> {
  const { path, servers } = widgetServer(urls);
  return {
    [`${path}/offers`]: {
      servers,
      get: {
        operationId: 'getWidgetOffers',
        tags: widgetTags,
        summary: 'The offers of a widget',
        description: `The first response of a widget load counts as its view. ${linkCheckDescription}`,
        security: [],
        parameters: listParameters(widgetOffersParameters, vertical),
        responses: {
          200: browserResponse(
            'The offers.',
            { ...noStoreHeader, ...allowOriginHeader },
            jsonContent(createWidgetOffersSchema(vertical), samples && { widget: { value: samples.widgetOffers } }),
          ),
          ...widgetErrorResponses(['INVALID_REQUEST', 'SUB_ID_EXPIRED', 'INSUFFICIENT_INPUTS'], 'load'),
          503: browserResponse(
            '`SERVICE_UNAVAILABLE`. A speculative request gets this status without a body.',
            { ...noStoreHeader, ...widgetStatuses[503]!.headers },
            errorContent,
          ),
        },
      },
    },
    [`${path}/events`]: {
      servers,
      post: {
        operationId: 'reportWidgetEvents',
        tags: widgetTags,
        summary: 'Report events of a widget',
        description: `Stores events of one widget load, each id once. ${linkCheckDescription} Pages with \`Origin: null\` may report events.`,
        security: [],
        parameters: listParameters(widgetLinkParameters, vertical),
        requestBody: {
          required: true,
          content: {
            ...jsonContent(widgetBeaconSchema, samples && { widget: { value: samples.widgetBeacon } }),
            'text/plain': { schema: beaconTextSchema },
          },
        },
        responses: {
          204: browserResponse('The events are stored.', allowOriginHeader),
          ...widgetErrorResponses(
            ['INVALID_REQUEST', 'SUB_ID_EXPIRED', 'PAYLOAD_TOO_LARGE', 'SERVICE_UNAVAILABLE'],
            'events',
          ),
        },
      },
    },
  };
}

const beaconTextSchema = Type.Unsafe({
  type: 'string',
  contentMediaType: 'application/json',
  contentSchema: widgetBeaconSchema,
  description: 'The same JSON as text, which needs no preflight request.',
});

function widgetErrorResponses(codes: readonly ErrorCode[], invalidParam: RequestParamName): OpenApiResponses {
  const commonErrors = ['ORIGIN_NOT_ALLOWED', 'SUB_ID_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'INTERNAL_ERROR'] as const;
  return {
    ...errorResponses([...codes, ...commonErrors], { invalidParam }, widgetStatuses),
    ...errorResponses(['METHOD_NOT_ALLOWED']),
  };
}

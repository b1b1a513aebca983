import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { PublicUrls } from '../config/config.ts';
import type { RequestParam } from '../domain/errors.ts';
import { clickPath } from '../operations/click-url.ts';
import { widgetBeaconSchema, widgetOffersSchema } from './marketplace-schemas.ts';
import type { Content, Headers, MediaType, PathItem, Response, Responses, Server } from './openapi-types.ts';
import {
  clickParameters,
  contentVersionParameter,
  widgetEventsParameters,
  widgetOffersParameters,
  widgetPageParameters,
} from './parameters.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import {
  allowOriginHeader,
  customErrorResponses,
  errorResponses,
  errorSchema,
  noStoreHeader,
  requestIdHeader,
  resetHeader,
  retryAfterHeader,
  type StatusDescriptions,
} from './responses.ts';
import { urlSchema } from './schema-parts.ts';

/** Where the widget's page, script and requests are: paths of a document begin below the host. */
function widgetServer({ widget }: Pick<PublicUrls, 'widget'>): {
  /** Path of the widget's address, without a trailing slash. */
  readonly path: string;
  readonly servers: readonly Server[];
} {
  const { origin, pathname } = new URL(widget);
  return {
    path: pathname === '/' ? '' : pathname,
    servers: [{ url: origin, description: 'The widget host.' }],
  };
}

const htmlContent: Content = { 'text/html': { schema: Type.String() } };

/** Whatever else: a failure of ours. */
const defaultResponse: Response = {
  description: 'An error, as of any operation.',
  headers: requestIdHeader,
  content: { 'application/json': { schema: errorSchema } },
};

const methodNotAllowedResponses = errorResponses(['METHOD_NOT_ALLOWED']);

function browserResponse(description: string, headers: Headers, content?: Content): Response {
  return { description, headers: { ...requestIdHeader, ...headers }, ...(content && { content }) };
}

/**
 * Where answers send a visitor's browser. A partner gets these addresses ready made and calls none of them, but sees them in its
 * pages, and wants to know what they do.
 */
export function browserPaths(urls: Pick<PublicUrls, 'click' | 'widget'>): Readonly<Record<string, PathItem>> {
  const { path: widgetPath, servers: widgetServers } = widgetServer(urls);
  return {
    [clickPath]: {
      servers: [{ url: urls.click, description: 'The redirect host.' }],
      get: {
        operationId: 'followClick',
        tags: ['Browser'],
        summary: 'Follow an offer',
        description:
          'A `click_url`. The first click of a session on an offer it was shown counts, for 24 hours after the session was created; repeats, crawlers and `HEAD` are redirected without counting.',
        security: [],
        parameters: clickParameters,
        responses: {
          302: browserResponse(
            'To the lender, with a click id; to a page of ours for sandbox sessions.',
            {
              ...noStoreHeader,
              Location: { description: 'Where to.', required: true, schema: urlSchema('Where to.') },
              'Referrer-Policy': {
                description: 'The lender is not told where the click came from.',
                required: true,
                schema: Type.Unsafe({ type: 'string', const: 'no-referrer' }),
              },
            },
            { 'text/plain': { schema: Type.String() } },
          ),
          404: browserResponse(
            'The link was changed, or its offer is long gone. A page for people.',
            noStoreHeader,
            htmlContent,
          ),
          503: browserResponse('To a browser that fetches ahead: it is to ask again when somebody really clicks.', {
            ...noStoreHeader,
            ...retryAfterHeader,
          }),
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
        summary: 'The page in the iframe',
        description:
          'The `src` of `format=iframe`. It shows itself on pages whose origins the account allows, and a sandbox session anywhere while the account allows none.',
        security: [],
        parameters: widgetPageParameters,
        responses: {
          200: browserResponse('The widget.', noStoreHeader, htmlContent),
          400: browserResponse('The session is over: a page for people. Or the request is malformed.', noStoreHeader, {
            ...htmlContent,
            'application/json': { schema: errorSchema },
          }),
          404: browserResponse('The link was changed. A page for people.', noStoreHeader, htmlContent),
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
        description: 'The `src` of `format=js`. Compressed for whoever takes that.',
        security: [],
        parameters: contentVersionParameter,
        responses: {
          200: browserResponse('The script.', {}, { 'text/javascript': { schema: Type.String() } }),
          304: browserResponse('What you have is still good.', {}),
          ...methodNotAllowedResponses,
          default: defaultResponse,
        },
      },
    },
  };
}

const widgetTags = ['Widget script'];

const linkCheckDescription =
  'A link that is none of ours gets 404, a page whose origin the account does not allow 403; `OPTIONS` is refused for the same reasons. Nothing of it counts against a key.';

/** When each status comes. No key is involved, so there are no headers of its limits. */
const widgetStatuses: StatusDescriptions = {
  400: { when: 'The request is not what it should be, or the session is over.', headers: allowOriginHeader },
  403: {
    when: 'The account does not allow its widgets on pages of this origin.',
    headers: allowOriginHeader,
  },
  404: { when: 'The link was changed: no session has this id and this token.', headers: allowOriginHeader },
  413: { when: `The body is larger than ${bounds.requestBodyBytesMax / 1024} KiB.`, headers: allowOriginHeader },
  429: {
    when: `The widgets of this session asked more than ${bounds.widgetRequestsPerMinute} times in a minute.`,
    headers: { ...resetHeader, ...retryAfterHeader, ...allowOriginHeader },
  },
  500: { when: 'The service failed.', headers: allowOriginHeader },
  503: {
    when: 'The service cannot take the request now, or could not answer it in time.',
    headers: { ...retryAfterHeader, ...allowOriginHeader },
  },
};

/**
 * What the widget's own script asks for and tells. Public on the wire, so it is described; private by use, since the script
 * comes from the same release as what answers it.
 */
export function widgetApiPaths(
  urls: Pick<PublicUrls, 'widget'>,
  samples: RecordedExamples | null,
): Readonly<Record<string, PathItem>> {
  const { path, servers } = widgetServer(urls);
  return {
    [`${path}/offers`]: { servers, ...getWidgetOffers(samples) },
    [`${path}/events`]: { servers, ...reportWidgetEvents(samples) },
  };
}

function getWidgetOffers(samples: RecordedExamples | null): PathItem {
  return {
    get: {
      operationId: 'getWidgetOffers',
      tags: widgetTags,
      summary: 'The offers of a widget',
      description: `What a widget shows. The first answer to each load is its view; \`HEAD\` is none. ${linkCheckDescription}`,
      security: [],
      parameters: widgetOffersParameters,
      responses: {
        200: {
          description: 'The offers.',
          headers: { ...requestIdHeader, ...noStoreHeader, ...allowOriginHeader },
          content: { 'application/json': jsonMediaType(widgetOffersSchema, samples?.widgetOffers) },
        },
        ...widgetErrorResponses(
          [
            'INVALID_REQUEST',
            'SUB_ID_EXPIRED',
            'INSUFFICIENT_INPUTS',
            'ORIGIN_NOT_ALLOWED',
            'SUB_ID_NOT_FOUND',
            'RATE_LIMIT_EXCEEDED',
            'INTERNAL_ERROR',
          ],
          'load',
        ),
        503: unavailableResponse,
      },
    },
  };
}

/** The one status that comes with a body or without. */
const unavailableResponse: Response = {
  description:
    '`SERVICE_UNAVAILABLE`: the service cannot answer now. To a browser that fetches ahead, which is to ask again when somebody really looks, it comes without a body.',
  headers: { ...requestIdHeader, ...noStoreHeader, ...widgetStatuses[503]!.headers },
  content: { 'application/json': { schema: errorSchema } },
};

function reportWidgetEvents(samples: RecordedExamples | null): PathItem {
  const json = Type.Unsafe({
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: widgetBeaconSchema,
    description: 'The same: a beacon comes as text, since a browser would ask first whether it may send JSON.',
  });
  return {
    post: {
      operationId: 'reportWidgetEvents',
      tags: widgetTags,
      summary: 'What happened in a widget',
      description: `Events of one load, on disk before the answer leaves. Sent again under the same ids they change nothing, and none of them books revenue. ${linkCheckDescription} A page that tells nobody where it is (\`Origin: null\`) may report, too.`,
      security: [],
      parameters: widgetEventsParameters,
      requestBody: {
        required: true,
        content: {
          'application/json': jsonMediaType(widgetBeaconSchema, samples?.widgetBeacon),
          'text/plain': { schema: json },
        },
      },
      responses: {
        204: { description: 'They are recorded.', headers: { ...requestIdHeader, ...allowOriginHeader } },
        ...widgetErrorResponses(
          [
            'INVALID_REQUEST',
            'SUB_ID_EXPIRED',
            'ORIGIN_NOT_ALLOWED',
            'SUB_ID_NOT_FOUND',
            'PAYLOAD_TOO_LARGE',
            'RATE_LIMIT_EXCEEDED',
            'INTERNAL_ERROR',
            'SERVICE_UNAVAILABLE',
          ],
          'events',
        ),
      },
    },
  };
}

function widgetErrorResponses(
  codes: Parameters<typeof customErrorResponses>[1],
  invalidParam: RequestParam,
): Responses {
  return {
    ...customErrorResponses(widgetStatuses, codes, { invalidParam }),
    ...errorResponses(['METHOD_NOT_ALLOWED']),
  };
}

function jsonMediaType(schema: TSchema, example: unknown): MediaType {
  return example === undefined ? { schema } : { schema, examples: { widget: { value: example } } };
}

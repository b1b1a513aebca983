import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { PublicUrls } from '../config/config.ts';
import type { RequestParam } from '../domain/request-rules.ts';
import { errorResponses, errorSchema, ownErrorResponses, type Statuses } from './error-responses.ts';
import { noStoreHeader, pageOriginHeader, requestIdHeader, resetHeader, retryAfterHeader } from './headers.ts';
import { widgetOffers } from './marketplace-schemas.ts';
import type { MediaType, PathItem, Response, Responses } from './openapi-types.ts';
import { widgetLinkParameters, widgetOffersParameters } from './parameters.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import { widgetBeacon } from './widget-beacon-schema.ts';
import { widgetHost } from './widget-host.ts';

const tags = ['Widget script'];

const checks =
  'A link that is none of ours gets 404, a page whose origin the account does not allow 403; `OPTIONS` is refused for the same reasons. Nothing of it counts against a key.';

/** When each status comes. No key is involved, so there are no headers of its limits. */
const statuses: Statuses = {
  400: { when: 'The request is not what it should be, or the session is over.', headers: pageOriginHeader },
  403: {
    when: 'The account does not allow its widgets on pages of this origin.',
    headers: pageOriginHeader,
  },
  404: { when: 'The link was changed: no session has this id and this token.', headers: pageOriginHeader },
  413: { when: `The body is larger than ${bounds.bodyBytesMax / 1024} KiB.`, headers: pageOriginHeader },
  429: {
    when: `The widgets of this session asked more than ${bounds.widgetRequestsPerMinute} times in a minute.`,
    headers: { ...resetHeader, ...retryAfterHeader, ...pageOriginHeader },
  },
  500: { when: 'The service failed.', headers: pageOriginHeader },
  503: {
    when: 'The service cannot take the request now, or could not answer it in time.',
    headers: { ...retryAfterHeader, ...pageOriginHeader },
  },
};

/**
 * What the widget's own script asks for and tells. Public on the wire, so it is described; private by use, since the script
 * comes from the same release as what answers it.
 */
export function widgetRequestPaths(
  urls: Pick<PublicUrls, 'widget'>,
  samples: RecordedExamples | null,
): Readonly<Record<string, PathItem>> {
  const { path, servers } = widgetHost(urls);
  return {
    [`${path}/offers`]: { servers, ...getWidgetOffers(samples) },
    [`${path}/events`]: { servers, ...reportWidgetEvents(samples) },
  };
}

function getWidgetOffers(samples: RecordedExamples | null): PathItem {
  return {
    get: {
      operationId: 'getWidgetOffers',
      tags,
      summary: 'The offers of a widget',
      description: `What a widget shows. The first answer to each load is its view; \`HEAD\` is none. ${checks}`,
      security: [],
      parameters: widgetOffersParameters,
      responses: {
        200: {
          description: 'The offers.',
          headers: { ...requestIdHeader, ...noStoreHeader, ...pageOriginHeader },
          content: { 'application/json': media(widgetOffers, samples?.widgetOffers) },
        },
        ...refusals(
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
        503: unavailable,
      },
    },
  };
}

/** The one status that comes with a body or without. */
const unavailable: Response = {
  description:
    '`SERVICE_UNAVAILABLE`: the service cannot answer now. To a browser that fetches ahead, which is to ask again when somebody really looks, it comes without a body.',
  headers: { ...requestIdHeader, ...noStoreHeader, ...statuses[503]!.headers },
  content: { 'application/json': { schema: errorSchema } },
};

function reportWidgetEvents(samples: RecordedExamples | null): PathItem {
  const json = Type.Unsafe({
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: widgetBeacon,
    description: 'The same: a beacon comes as text, since a browser would ask first whether it may send JSON.',
  });
  return {
    post: {
      operationId: 'reportWidgetEvents',
      tags,
      summary: 'What happened in a widget',
      description: `Events of one load, on disk before the answer leaves. Sent again under the same ids they change nothing, and none of them books revenue. ${checks} A page that tells nobody where it is (\`Origin: null\`) may report, too.`,
      security: [],
      parameters: widgetLinkParameters,
      requestBody: {
        required: true,
        content: { 'application/json': media(widgetBeacon, samples?.widgetBeacon), 'text/plain': { schema: json } },
      },
      responses: {
        204: { description: 'They are recorded.', headers: { ...requestIdHeader, ...pageOriginHeader } },
        ...refusals(
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

function refusals(codes: Parameters<typeof ownErrorResponses>[1], param: RequestParam): Responses {
  return { ...ownErrorResponses(statuses, codes, { param }), ...errorResponses(['METHOD_NOT_ALLOWED']) };
}

function media(schema: TSchema, example: unknown): MediaType {
  return example === undefined ? { schema } : { schema, examples: { widget: { value: example } } };
}

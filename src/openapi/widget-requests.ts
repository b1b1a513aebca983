import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { PublicUrls } from '../config/config.ts';
import type { RequestParam } from '../domain/request-rules.ts';
import { errorResponses, errorSchema, customErrorResponses, type StatusDescriptions } from './error-responses.ts';
import { noStoreHeader, allowOriginHeader, requestIdHeader, resetHeader, retryAfterHeader } from './headers.ts';
import { widgetOffersSchema } from './marketplace-schemas.ts';
import type { MediaType, PathItem, Response, Responses } from './openapi-types.ts';
import { widgetEventsParameters, widgetOffersParameters } from './parameters.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import { widgetBeaconSchema } from './widget-beacon-schema.ts';
import { widgetServer } from './widget-host.ts';

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
        content: { 'application/json': jsonMediaType(widgetBeaconSchema, samples?.widgetBeacon), 'text/plain': { schema: json } },
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

function widgetErrorResponses(codes: Parameters<typeof customErrorResponses>[1], invalidParam: RequestParam): Responses {
  return { ...customErrorResponses(widgetStatuses, codes, { invalidParam }), ...errorResponses(['METHOD_NOT_ALLOWED']) };
}

function jsonMediaType(schema: TSchema, example: unknown): MediaType {
  return example === undefined ? { schema } : { schema, examples: { widget: { value: example } } };
}

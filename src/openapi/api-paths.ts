import Type, { type TSchema } from 'typebox';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { Vertical } from '../domain/vertical.ts';
import {
  analyticsRowsSchema,
  analyticsSummarySchema,
  dailyAnalyticsSchema,
  tagsSchema,
} from '../operations/analytics-schemas.ts';
import { sessionRequestSchema, sessionSchema } from '../operations/create-session.ts';
import { widgetEmbedSchema } from '../operations/embed-widget.ts';
import { createMarketplaceResponseSchema } from '../operations/get-marketplace.ts';
import { submitInputsRequestSchema, submitInputsResponseSchema } from '../operations/submit-inputs.ts';
import {
  jsonContent,
  type OpenApiContent,
  type OpenApiExamples,
  type OpenApiHeaders,
  type OpenApiResponse,
  type PathItem,
} from './openapi-types.ts';
import { analyticsParameters, idempotencyKeyParameter, marketplaceParameters, tagsParameters } from './parameters.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import {
  errorResponses,
  idempotencyReplayedHeader,
  noStoreHeader,
  rateLimitHeaders,
  requestIdHeader,
} from './responses.ts';

type Samples = RecordedExamples | null;

/** Possible error codes of every operation that requires an API key. */
const keyErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'VERTICAL_MISMATCH',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;
/** Additional error codes of operations that have a request body. */
const bodyErrors = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

/** Returns the OpenAPI descriptions of the API operations, by path below `/v1/<vertical>`. */
export function apiPaths(vertical: VerticalWithProduct, samples: Samples): Readonly<Record<string, PathItem>> {
  return {
    '/session': createSession(samples),
    '/inputs': submitInputs(vertical.vertical, samples),
    '/marketplace': getMarketplace(vertical, samples),
    '/analytics': queryAnalytics(samples),
    '/tags': listTags(samples),
  };
}

function createSession(samples: Samples): PathItem {
  return {
    post: {
      operationId: 'createSession',
      tags: ['API'],
      summary: 'Create a session',
      description: 'Create one for each page load. Its views, clicks and revenue count for its referrer tag.',
      parameters: [idempotencyKeyParameter],
      requestBody: jsonRequestBody(sessionRequestSchema, samples && { session: { value: samples.sessionRequest } }),
      responses: {
        200: successResponse(
          'The session.',
          jsonContent(sessionSchema, samples && { session: { value: samples.session } }),
          idempotencyReplayedHeader,
        ),
        ...errorResponses(
          ['INVALID_REFERRER_TAG', ...keyErrors, 'TAG_LIMIT_EXCEEDED', ...bodyErrors, 'IDEMPOTENCY_MISMATCH'],
          { invalidParam: 'user_agent' },
        ),
      },
    },
  };
}

function submitInputs(vertical: Vertical, samples: Samples): PathItem {
  return {
    post: {
      operationId: 'submitInputs',
      tags: ['API'],
      summary: 'Submit pocket fields',
      description: 'The answers of the visitor, in one or several calls, which are merged.',
      requestBody: jsonRequestBody(
        submitInputsRequestSchema(vertical),
        samples && { inputs: { value: samples.inputsRequest } },
      ),
      responses: {
        200: successResponse(
          'Accepted and missing fields.',
          jsonContent(submitInputsResponseSchema, samples && { inputs: { value: samples.inputs } }),
        ),
        ...errorResponses([...keyErrors, ...bodyErrors, 'INVALID_FIELD_VALUE', 'SUB_ID_EXPIRED', 'SUB_ID_NOT_FOUND'], {
          invalidParam: 'fields',
          invalidFields: samples?.invalidFields,
        }),
      },
    },
  };
}

function getMarketplace(vertical: VerticalWithProduct, samples: Samples): PathItem {
  const { required } = vertical.vertical;
  return {
    get: {
      operationId: 'getMarketplace',
      tags: ['API'],
      summary: 'Get offers',
      description:
        'The ranked offers, or the embed code of a widget. With `json` each response counts as a view; `HEAD` does not.',
      parameters: marketplaceParameters(vertical),
      responses: {
        200: successResponse('The offers, or the embed code.', {
          'application/json': {
            schema: Type.Union([createMarketplaceResponseSchema(vertical), widgetEmbedSchema]),
            ...(samples && {
              examples: {
                json: { summary: 'format=json', value: samples.offers },
                explain: { summary: 'format=json&explain=true, with a test key', value: samples.explained },
                iframe: { summary: 'format=iframe, with Accept: application/json', value: samples.iframe },
                js: { summary: 'format=js, with Accept: application/json', value: samples.js },
              },
            }),
          },
          'text/html': {
            schema: Type.String({ description: 'The embed code alone, unless the client prefers JSON.' }),
            ...(samples && { examples: { iframe: { summary: 'format=iframe', value: samples.iframeHtml } } }),
          },
        }),
        ...errorResponses([...keyErrors, 'SUB_ID_EXPIRED', 'INSUFFICIENT_INPUTS', 'SUB_ID_NOT_FOUND'], {
          invalidParam: 'format',
          missingRequired: required.slice(-1),
        }),
      },
    },
  };
}

function queryAnalytics(samples: Samples): PathItem {
  return {
    get: {
      operationId: 'queryAnalytics',
      tags: ['API'],
      summary: 'Query analytics',
      description:
        'Sessions, views, clicks and revenue of a referrer tag or of a list of sessions, including every earlier response.',
      parameters: analyticsParameters,
      responses: {
        200: successResponse(
          'The summary, or a page of days or of sessions.',
          jsonContent(
            Type.Union([analyticsSummarySchema, dailyAnalyticsSchema, analyticsRowsSchema]),
            samples && {
              summary: { summary: 'granularity=summary', value: samples.summary },
              daily: { summary: 'granularity=daily', value: samples.daily },
              row: { summary: 'granularity=row', value: samples.rows },
            },
          ),
        ),
        ...errorResponses(['INVALID_REFERRER_TAG', ...keyErrors], { invalidParam: 'date_from' }),
      },
    },
  };
}

function listTags(samples: Samples): PathItem {
  return {
    get: {
      operationId: 'listTags',
      tags: ['API'],
      summary: 'List referrer tags',
      description: 'The tags of your sessions. Counts toward the limit of analytics queries.',
      parameters: tagsParameters,
      responses: {
        200: successResponse('A page of tags.', jsonContent(tagsSchema, samples && { tags: { value: samples.tags } })),
        ...errorResponses(keyErrors, { invalidParam: 'cursor' }),
      },
    },
  };
}

function successResponse(description: string, content: OpenApiContent, more: OpenApiHeaders = {}): OpenApiResponse {
  return { description, headers: { ...requestIdHeader, ...noStoreHeader, ...rateLimitHeaders, ...more }, content };
}

function jsonRequestBody(schema: TSchema, examples: OpenApiExamples | null) {
  return { required: true, content: jsonContent(schema, examples) } as const;
}

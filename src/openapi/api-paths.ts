import Type, { type TSchema } from 'typebox';
import type { Vertical } from '../verticals/vertical.ts';
import { dailySchema, rowsSchema, summarySchema } from './analytics-schemas.ts';
import { marketplaceSchema, widgetEmbedSchema } from './marketplace-schemas.ts';
import type { Content, Examples, Headers, MediaType, PathItem, Response } from './openapi-types.ts';
import { analyticsParameters, idempotencyKeyParameter, marketplaceParameters } from './parameters.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import { errorResponses, limitHeaders, noStoreHeader, replayedHeader, requestIdHeader } from './responses.ts';
import { inputsRequestSchema, inputsSchema, sessionRequestSchema, sessionSchema } from './session-schemas.ts';

type Samples = RecordedExamples | null;

/** The four operations of the contract, by their paths below `/v1/<vertical>`. */
export function apiPaths(vertical: Vertical, samples: Samples): Readonly<Record<string, PathItem>> {
  return {
    '/session': createSession(samples),
    '/inputs': submitInputs(vertical, samples),
    '/marketplace': getMarketplace(vertical, samples),
    '/analytics': queryAnalytics(samples),
  };
}

function createSession(samples: Samples): PathItem {
  return {
    post: {
      operationId: 'createSession',
      tags: ['API'],
      summary: 'Create a session',
      description:
        'One for each page load. Its tag names the experiment that everything which happens in the session counts for.',
      parameters: [idempotencyKeyParameter],
      requestBody: jsonRequestBody(sessionRequestSchema, samples && { session: { value: samples.sessionRequest } }),
      responses: {
        200: successResponse(
          'The session.',
          jsonContent(sessionSchema, samples && { session: { value: samples.session } }),
          replayedHeader,
        ),
        ...errorResponses(
          [
            'INVALID_REFERRER_TAG',
            'INVALID_REQUEST',
            'UNAUTHORIZED',
            'VERTICAL_MISMATCH',
            'TAG_LIMIT_EXCEEDED',
            'METHOD_NOT_ALLOWED',
            'PAYLOAD_TOO_LARGE',
            'UNSUPPORTED_MEDIA_TYPE',
            'IDEMPOTENCY_MISMATCH',
            'RATE_LIMIT_EXCEEDED',
            'INTERNAL_ERROR',
            'SERVICE_UNAVAILABLE',
          ],
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
      description:
        'What the visitor has told, at once or bit by bit: submissions merge. The answer says whether it is enough for offers, and what is missing.',
      requestBody: jsonRequestBody(
        inputsRequestSchema(vertical),
        samples && { inputs: { value: samples.inputsRequest } },
      ),
      responses: {
        200: successResponse(
          'What was accepted, and what is missing.',
          jsonContent(inputsSchema, samples && { inputs: { value: samples.inputs } }),
        ),
        ...errorResponses(
          [
            'INVALID_REQUEST',
            'INVALID_FIELD_VALUE',
            'SUB_ID_EXPIRED',
            'UNAUTHORIZED',
            'VERTICAL_MISMATCH',
            'SUB_ID_NOT_FOUND',
            'METHOD_NOT_ALLOWED',
            'PAYLOAD_TOO_LARGE',
            'UNSUPPORTED_MEDIA_TYPE',
            'RATE_LIMIT_EXCEEDED',
            'INTERNAL_ERROR',
            'SERVICE_UNAVAILABLE',
          ],
          { invalidParam: 'fields', invalidFields: samples?.invalidFields },
        ),
      },
    },
  };
}

function getMarketplace({ required }: Vertical, samples: Samples): PathItem {
  return {
    get: {
      operationId: 'getMarketplace',
      tags: ['API'],
      summary: 'Get offers',
      description:
        'Offers matched to what the session holds, ranked: as JSON for cards of your own, or as the code of a widget that shows them. With `json` each answer is a view; a widget has its view when it is loaded. `HEAD` is answered the same way without a body, and is no view.',
      parameters: marketplaceParameters,
      responses: {
        200: successResponse('The offers, or what to put on the page.', {
          'application/json': {
            schema: Type.Union([marketplaceSchema, widgetEmbedSchema]),
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
            schema: Type.String({ description: 'With `iframe` and `js`, unless JSON is asked for: `html` alone.' }),
            ...(samples && { examples: { iframe: { summary: 'format=iframe', value: samples.iframeHtml } } }),
          },
        }),
        ...errorResponses(
          [
            'INVALID_REQUEST',
            'SUB_ID_EXPIRED',
            'INSUFFICIENT_INPUTS',
            'UNAUTHORIZED',
            'VERTICAL_MISMATCH',
            'SUB_ID_NOT_FOUND',
            'METHOD_NOT_ALLOWED',
            'RATE_LIMIT_EXCEEDED',
            'INTERNAL_ERROR',
            'SERVICE_UNAVAILABLE',
          ],
          { invalidParam: 'format', missingRequired: required.slice(-1) },
        ),
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
        'Sessions, views, clicks and revenue of an experiment, or of sessions you list. An answer holds whatever was answered before the question came. Days and sessions come in pages.',
      parameters: analyticsParameters,
      responses: {
        200: successResponse(
          'The summary, or a page of days or of sessions.',
          jsonContent(
            Type.Union([summarySchema, dailySchema, rowsSchema]),
            samples && {
              summary: { summary: 'granularity=summary', value: samples.summary },
              daily: { summary: 'granularity=daily', value: samples.daily },
              row: { summary: 'granularity=row', value: samples.rows },
            },
          ),
        ),
        ...errorResponses(
          [
            'INVALID_REFERRER_TAG',
            'INVALID_REQUEST',
            'UNAUTHORIZED',
            'VERTICAL_MISMATCH',
            'METHOD_NOT_ALLOWED',
            'RATE_LIMIT_EXCEEDED',
            'INTERNAL_ERROR',
            'SERVICE_UNAVAILABLE',
          ],
          { invalidParam: 'date_from' },
        ),
      },
    },
  };
}

function successResponse(description: string, content: Content, more: Headers = {}): Response {
  return { description, headers: { ...requestIdHeader, ...noStoreHeader, ...limitHeaders, ...more }, content };
}

function jsonRequestBody(schema: TSchema, examples: Examples | null) {
  return { required: true, content: jsonContent(schema, examples) } as const;
}

function jsonContent(schema: TSchema, examples: Examples | null): Content {
  const mediaType: MediaType = examples === null ? { schema } : { schema, examples };
  return { 'application/json': mediaType };
}

import Type, { type TSchema } from 'typebox';
import type { Vertical } from '../verticals/vertical.ts';
import { daily, rows, summary } from './analytics-schemas.ts';
import { errorResponses } from './error-responses.ts';
import { limitHeaders, noStoreHeader, replayedHeader, requestIdHeader } from './headers.ts';
import { inputs, inputsRequest } from './inputs-schemas.ts';
import { marketplace, widgetEmbed } from './marketplace-schemas.ts';
import type { Content, Examples, Headers, MediaType, PathItem, Response } from './openapi-types.ts';
import { analyticsParameters, idempotencyKeyParameter, marketplaceParameters } from './parameters.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import { session, sessionRequest } from './session-schemas.ts';

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
      requestBody: body(sessionRequest, samples && { session: { value: samples.sessionRequest } }),
      responses: {
        200: answer('The session.', json(session, samples && { session: { value: samples.session } }), replayedHeader),
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
          { param: 'user_agent' },
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
      requestBody: body(inputsRequest(vertical), samples && { inputs: { value: samples.inputsRequest } }),
      responses: {
        200: answer(
          'What was accepted, and what is missing.',
          json(inputs, samples && { inputs: { value: samples.inputs } }),
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
          { param: 'fields', invalidFields: samples?.invalidFields },
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
        200: answer('The offers, or what to put on the page.', {
          'application/json': {
            schema: Type.Union([marketplace, widgetEmbed]),
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
          { param: 'format', missingRequired: required.slice(-1) },
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
        200: answer(
          'The summary, or a page of days or of sessions.',
          json(
            Type.Union([summary, daily, rows]),
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
          { param: 'date_from' },
        ),
      },
    },
  };
}

function answer(description: string, content: Content, more: Headers = {}): Response {
  return { description, headers: { ...requestIdHeader, ...noStoreHeader, ...limitHeaders, ...more }, content };
}

function body(schema: TSchema, examples: Examples | null) {
  return { required: true, content: json(schema, examples) } as const;
}

function json(schema: TSchema, examples: Examples | null): Content {
  const mediaType: MediaType = examples === null ? { schema } : { schema, examples };
  return { 'application/json': mediaType };
}

import Type from 'typebox';
import type { PublicUrls } from '../config/config.ts';
import { clickPath } from '../faces/click-face.ts';
import { errorResponses, errorSchema } from './error-responses.ts';
import { noStoreHeader, requestIdHeader, retryAfterHeader } from './headers.ts';
import type { Content, Headers, PathItem, Response } from './openapi-types.ts';
import { clickParameters, contentVersionParameter, widgetPageParameters } from './parameters.ts';
import { urlSchema } from './schema-parts.ts';
import { widgetServer } from './widget-host.ts';

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
          404: browserResponse('The link was changed, or its offer is long gone. A page for people.', noStoreHeader, htmlContent),
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

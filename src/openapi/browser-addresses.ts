import Type from 'typebox';
import type { PublicUrls } from '../config/config.ts';
import { clickPath } from '../faces/click-face.ts';
import { errorResponses, errorSchema } from './error-responses.ts';
import { noStoreHeader, requestIdHeader, retryAfterHeader } from './headers.ts';
import type { Content, Headers, PathItem, Response } from './openapi-types.ts';
import { clickParameters, contentVersionParameter, widgetPageParameters } from './parameters.ts';
import { address } from './schema-parts.ts';
import { widgetHost } from './widget-host.ts';

const page: Content = { 'text/html': { schema: Type.String() } };

/** Whatever else: a failure of ours. */
const otherwise: Response = {
  description: 'An error, as of any operation.',
  headers: requestIdHeader,
  content: { 'application/json': { schema: errorSchema } },
};

const wrongMethod = errorResponses(['METHOD_NOT_ALLOWED']);

function of(description: string, headers: Headers, content?: Content): Response {
  return { description, headers: { ...requestIdHeader, ...headers }, ...(content && { content }) };
}

/**
 * Where answers send a visitor's browser. A partner gets these addresses ready made and calls none of them, but sees them in its
 * pages, and wants to know what they do.
 */
export function browserPaths(urls: Pick<PublicUrls, 'click' | 'widget'>): Readonly<Record<string, PathItem>> {
  const { path: widgetPath, servers: widgetServers } = widgetHost(urls);
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
          302: of(
            'To the lender, with a click id; to a page of ours for sandbox sessions.',
            {
              ...noStoreHeader,
              Location: { description: 'Where to.', required: true, schema: address('Where to.') },
              'Referrer-Policy': {
                description: 'The lender is not told where the click came from.',
                required: true,
                schema: Type.Unsafe({ type: 'string', const: 'no-referrer' }),
              },
            },
            { 'text/plain': { schema: Type.String() } },
          ),
          404: of('The link was changed, or its offer is long gone. A page for people.', noStoreHeader, page),
          503: of('To a browser that fetches ahead: it is to ask again when somebody really clicks.', {
            ...noStoreHeader,
            ...retryAfterHeader,
          }),
          ...wrongMethod,
          default: otherwise,
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
          200: of('The widget.', noStoreHeader, page),
          400: of('The session is over: a page for people. Or the request is malformed.', noStoreHeader, {
            ...page,
            'application/json': { schema: errorSchema },
          }),
          404: of('The link was changed. A page for people.', noStoreHeader, page),
          ...wrongMethod,
          default: otherwise,
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
          200: of('The script.', {}, { 'text/javascript': { schema: Type.String() } }),
          304: of('What you have is still good.', {}),
          ...wrongMethod,
          default: otherwise,
        },
      },
    },
  };
}

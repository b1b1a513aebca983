import { bounds } from '../../bounds.ts';
import { exampleLandingPath } from '../../catalogs/catalog-schema.ts';
import { clickPath, parseClickQuery } from '../../operations/click-url.ts';
import { type DescribeClickDeps, describeClick } from '../../operations/describe-click.ts';
import {
  type ClickRequest,
  type ClickResult,
  type FollowClickDeps,
  followClick,
} from '../../operations/follow-click.ts';
import { redirectClickOfOtherShard } from '../../operations/relay-click.ts';
import type { RelayClick } from '../../shards/forward-client.ts';
import type { LoggedRequest, RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import {
  clickNotFoundPage,
  clickRetryPage,
  exampleLandingPage,
  noticePageCsp,
  sandboxLandingPage,
} from './html-pages.ts';
import { errorReply } from './replies.ts';
import { headersOfSpeculativeReply, isSpeculative } from './request-parsing.ts';
import { allowOnlyGet, withRoute } from './routing.ts';

export const sandboxLandingPath = `${clickPath}/sandbox`;

const privacyHeaders = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
// The redirect response has a body, because uWebSockets.js closes some connections after a response without a body
// (docs/contributing/native-http.md).
const redirectHeaders = formatHeaders({ 'Content-Type': 'text/plain; charset=utf-8', ...privacyHeaders });
const redirectBody = 'Found';
export const landingPageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  ...privacyHeaders,
  'Content-Security-Policy': `${noticePageCsp}; frame-ancestors 'none'`,
  'X-Robots-Tag': 'noindex',
};
const pageHeaders = formatHeaders(landingPageHeaders);

/** The browser sends the request again by itself. */
const retryHeaders = formatHeaders({
  ...landingPageHeaders,
  'Retry-After': String(bounds.retryAfterSeconds),
  Refresh: String(bounds.retryAfterSeconds),
});

/** Returns the HTML of a built-in landing page; null if the path belongs to no landing page. */
export function renderLandingPage(deps: DescribeClickDeps, path: string, query: string): string | null {
  if (path === sandboxLandingPath) return sandboxLandingPage(describeClick(deps, 'sandbox', query));
  return path === exampleLandingPath ? exampleLandingPage(describeClick(deps, 'example', query)) : null;
}

/**
 * Creates the handlers of the redirect host (docs/contract.md#click-redirect), by path: `/c` for clicks, `/c/sandbox` and `/c/example` for the
 * built-in landing pages.
 */
export function clickRoutes(
  deps: FollowClickDeps & DescribeClickDeps & { readonly onPrefetch: () => void },
): ReadonlyMap<string, RequestHandler> {
  const click = allowOnlyGet((context) => {
    // Replies 503 to a speculative request, so that the browser sends the request again when the person clicks the link.
    if (isSpeculative(context)) {
      deps.onPrefetch();
      return context.reply({ status: 503, headers: headersOfSpeculativeReply, body: '' });
    }
    return redirect(deps, context);
  });
  const landing = allowOnlyGet((context) => {
    context.reply({ status: 200, headers: pageHeaders, body: renderLandingPage(deps, context.path, context.query)! });
  });
  return new Map([
    [clickPath, withRoute('click', click)],
    [sandboxLandingPath, withRoute('sandbox_landing', landing)],
    [exampleLandingPath, withRoute('sandbox_landing', landing)],
  ]);
}

/**
 * Returns a function that reads a click of another shard's account, for the case that the other shard does not answer. Returns null for
 * another request, and for a request that is no GET or speculative, which can be sent again.
 */
export function readClickToRelay(
  deps: FollowClickDeps,
  onError: (error: unknown, request: LoggedRequest) => void,
): (context: RequestContext) => RelayClick | null {
  return (context) => {
    if (context.path !== clickPath || context.method !== 'GET' || isSpeculative(context)) return null;
    const request = readClick(context);
    const clickedMs = deps.clock.wallMs();
    return (addClick) => {
      redirectClickOfOtherShard(deps, request, clickedMs, addClick).then(
        (result) => sendResult(context, result),
        (error: unknown) => {
          onError(error, context);
          context.reply(errorReply({ code: 'INTERNAL_ERROR' }, context.requestId));
        },
      );
    };
  };
}

async function redirect(deps: FollowClickDeps, context: RequestContext): Promise<void> {
  sendResult(context, await followClick(deps, readClick(context)));
}

function readClick(context: RequestContext): ClickRequest {
  return parseClickQuery(context.query, {
    method: context.method,
    userAgent: context.getRequestHeader('user-agent'),
    fetchDestination: context.getRequestHeader('sec-fetch-dest'),
    fetchMode: context.getRequestHeader('sec-fetch-mode'),
  });
}

function sendResult(context: RequestContext, result: ClickResult): void {
  if (result.kind === 'unknown') {
    context.reply({ status: 404, headers: pageHeaders, body: clickNotFoundPage });
  } else if (result.kind === 'retry_later') {
    context.reply({ status: 503, headers: retryHeaders, body: clickRetryPage });
  } else {
    const headers = formatHeader('Location', result.location) + redirectHeaders;
    context.reply({ status: 302, headers, body: redirectBody });
  }
}

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
import type { RelayableClick } from '../../shards/forward-client.ts';
import type { LoggedRequest, RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type Reply } from '../engines/response-head.ts';
import {
  clickNotFoundPage,
  clickRetryPage,
  exampleLandingPage,
  noticePageCsp,
  sandboxLandingPage,
} from './html-pages.ts';
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

const retryHeaders = formatHeaders({
  ...landingPageHeaders,
  'Retry-After': String(bounds.retryAfterSeconds),
  Refresh: String(bounds.retryAfterSeconds),
});
/** The browser sends the request again by itself. */
const retryReply: Reply = { status: 503, headers: retryHeaders, body: clickRetryPage };

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
 * Returns a function that reads a click of another shard's account, for the case that the other shard does not answer. The function returns
 * null for another request, and for a request that is no GET or speculative, which can be sent again.
 */
export function readClickToRelay(
  deps: FollowClickDeps,
  onError: (error: unknown, request: LoggedRequest) => void,
): (context: RequestContext) => RelayableClick | null {
  return (context) => {
    if (context.path !== clickPath || context.method !== 'GET' || isSpeculative(context)) return null;
    const request = readClick(context);
    const clickedMs = deps.clock.wallMs();
    return {
      retryReply,
      redirect: async (addClick) => {
        try {
          const result = await redirectClickOfOtherShard(deps, request, clickedMs, addClick);
          return result.kind === 'redirect' ? toReply(result) : null;
        } catch (error) {
          onError(error, context);
          return null;
        }
      },
    };
  };
}

async function redirect(deps: FollowClickDeps, context: RequestContext): Promise<void> {
  context.reply(toReply(await followClick(deps, readClick(context))));
}

function readClick(context: RequestContext): ClickRequest {
  return parseClickQuery(context.query, {
    method: context.method,
    userAgent: context.getRequestHeader('user-agent'),
    fetchDestination: context.getRequestHeader('sec-fetch-dest'),
    fetchMode: context.getRequestHeader('sec-fetch-mode'),
  });
}

function toReply(result: ClickResult): Reply {
  if (result.kind === 'unknown') return { status: 404, headers: pageHeaders, body: clickNotFoundPage };
  if (result.kind === 'retry_later') return retryReply;
  return { status: 302, headers: formatHeader('Location', result.location) + redirectHeaders, body: redirectBody };
}

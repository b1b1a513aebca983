import { bounds } from '../bounds.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import { type Outcome, successOutcome } from '../domain/outcome.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import type { RandomBytesPool } from '../secrets/random-pool.ts';
import type { FindSessionDeps } from '../sessions/find-session.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { iframeHtml, scriptHtml, widgetPageUrl } from '../widgets/widget-embedding.ts';
import type { MarketplaceRequest } from './get-marketplace.ts';
import { validateMarketplaceRequest } from './get-marketplace.ts';
import type { IgnoredParameters } from './ignored-names.ts';

const embedFormats = ['iframe', 'js'] as const;

export interface EmbedWidgetDeps extends FindSessionDeps {
  readonly tokens: WidgetTokens;
  readonly random: RandomBytesPool;
  /** URL of the iframe page, without its query. */
  readonly widgetUrl: string;
  readonly widgetScriptUrl: string;
}

/** The JSON response to `format=iframe` and `format=js` (docs/contract.md#embed-code). */
export interface WidgetEmbedResponse extends IgnoredParameters {
  readonly sub_id: string;
  readonly format: 'iframe' | 'js';
  /** HTML that the partner adds to its page. */
  readonly html: string;
  /** URL of the iframe page for `format=iframe`, URL of the script for `format=js`. */
  readonly src: string;
  /** Widget token, which permits access to the widget of this session only. */
  readonly token: string;
  /** Expiry time of the session and the token. */
  readonly expires_at: string;
}

/**
 * GET /marketplace with `format=iframe` or `format=js` (docs/contract.md#embed-code): builds the HTML that a partner adds to its page.
 * Building the HTML records no view. A view is recorded when the widget requests its offers.
 */
export function embedWidget(
  deps: EmbedWidgetDeps,
  tenant: Tenant,
  request: MarketplaceRequest,
): Outcome<WidgetEmbedResponse> {
  const valid = validateMarketplaceRequest(deps, tenant, request, embedFormats);
  if (!valid.ok) return valid;
  const { subId, format, session, sort, maxOffers } = valid.value;
  const expiresMs = session.createdMs + deps.sessionTtlMs;
  const token = deps.tokens.issueWidgetToken(deps.subIds.toBytes(subId), expiresMs);
  const widget = { sub: subId, token, vertical: tenant.vertical.segment, sort, maxOffers };
  const isIframe = format === 'iframe';
  const src = isIframe ? widgetPageUrl(deps.widgetUrl, widget) : deps.widgetScriptUrl;
  const html = isIframe ? iframeHtml(src) : scriptHtml(src, createContainerId(deps.random), widget);
  return successOutcome({ sub_id: subId, format, html, src, token, expires_at: formatIsoTimestamp(expiresMs) });
}

/** Creates a random ID for a container element, because two widgets on one page must not share a container. */
function createContainerId(random: RandomBytesPool): string {
  return `svc-offers-${random.randomBytes(bounds.widgetMountIdBytes).toString('hex')}`;
}

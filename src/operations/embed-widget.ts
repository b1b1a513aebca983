import { bounds } from '../bounds.ts';
import { isoTimestamp } from '../domain/calendar.ts';
import { type Outcome, succeeded } from '../domain/outcome.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { FindSessionDeps } from '../sessions/find-session.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { iframeHtml, scriptHtml, widgetPageUrl } from '../widgets/widget-html.ts';
import type { MarketplaceRequest } from './get-marketplace.ts';
import { validateMarketplaceRequest } from './get-marketplace.ts';
import type { IgnoredNames } from './ignored-names.ts';

const embedFormats = ['iframe', 'js'] as const;

export interface EmbedWidgetDeps extends FindSessionDeps {
  readonly tokens: WidgetTokens;
  readonly random: RandomPool;
  /** `{widget_url}` of the contract. */
  readonly widgetUrl: string;
  /** Address of the widget's script. */
  readonly widgetScriptUrl: string;
}

/** The answer to `format=iframe` and `format=js` as JSON (docs/contract.md#embed-code). */
export interface WidgetEmbedView extends IgnoredNames {
  readonly sub_id: string;
  readonly format: 'iframe' | 'js';
  /** What to put on the page. */
  readonly html: string;
  /** Address of the iframe's page, or of the script. */
  readonly src: string;
  /** Opens the widget of this session, and nothing else. */
  readonly token: string;
  /** When session and token end. */
  readonly expires_at: string;
}

/**
 * GET /marketplace with `format=iframe` or `format=js` (docs/contract.md#embed-code): what a partner puts on its page for this session,
 * after the same checks as for JSON. It shows nobody anything yet, so it is no view: the widget's own request is.
 */
export function embedWidget(
  ports: EmbedWidgetDeps,
  tenant: Tenant,
  request: MarketplaceRequest,
): Outcome<WidgetEmbedView> {
  const opened = validateMarketplaceRequest(ports, tenant, request, embedFormats);
  if (!opened.ok) return opened;
  const { subId, format, session, sort, maxOffers } = opened.value;
  const expiresMs = session.createdMs + ports.sessionTtlMs;
  const token = ports.tokens.issue(ports.subIds.toBytes(subId), expiresMs);
  const widget = { sub: subId, token, sort, maxOffers };
  const inFrame = format === 'iframe';
  const src = inFrame ? widgetPageUrl(ports.widgetUrl, widget) : ports.widgetScriptUrl;
  const html = inFrame ? iframeHtml(src) : scriptHtml(src, createContainerId(ports.random), widget);
  return succeeded({ sub_id: subId, format, html, src, token, expires_at: isoTimestamp(expiresMs) });
}

/** Two widgets on one page must not share a container. */
function createContainerId(random: RandomPool): string {
  return `svc-offers-${random.randomBytes(bounds.widgetMountIdBytes).toString('hex')}`;
}

import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import type { SortOrder } from '../domain/vertical.ts';
import type { WidgetTokens } from '../ids/widget-token.ts';
import type { RandomBytesPool } from '../secrets/random-pool.ts';
import type { FindSessionDeps } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session.ts';
import { iframeHtml, scriptHtml, widgetPageUrl } from '../widgets/widget-embedding.ts';
import {
  ignoredParametersProperty,
  stringEnum,
  subIdSchema,
  timestampSchema,
  urlSchema,
  type ValueOf,
} from './schema-parts.ts';

interface WidgetSelection {
  readonly sub_id: string;
  readonly sort: SortOrder;
  readonly max_offers: number;
}

export interface EmbedWidgetDeps extends FindSessionDeps {
  readonly tokens: WidgetTokens;
  readonly random: RandomBytesPool;
  /** URL of the iframe page, without its query. */
  readonly widgetUrl: string;
  readonly widgetScriptUrl: string;
}

/** The JSON response to `format=iframe` and `format=js` (docs/contract.md#embed-code). */
export type WidgetEmbedResponse = ValueOf<typeof widgetEmbedSchema>;
export const widgetEmbedSchema = Type.Object(
  {
    sub_id: subIdSchema,
    format: stringEnum(['iframe', 'js']),
    html: Type.String({ description: 'Embed code for your page. Use it unchanged.' }),
    src: urlSchema('URL of the iframe page, or of the script.'),
    token: Type.String({ description: 'Gives access to the widget of this session only.' }),
    expires_at: timestampSchema('When session and token expire'),
    ...ignoredParametersProperty,
  },
  { title: 'WidgetEmbed' },
);

/**
 * Responds to GET /marketplace with `format=iframe` or `format=js` (docs/contract.md#embed-code): builds the HTML that a partner adds to its
 * page. Building the HTML records no view. A view is recorded when the widget requests its offers.
 */
export function embedWidget(
  deps: EmbedWidgetDeps,
  { tenant, createdMs }: Session,
  format: 'iframe' | 'js',
  { sub_id: subId, sort, max_offers: maxOffers }: WidgetSelection,
): WidgetEmbedResponse {
  const expiresMs = createdMs + deps.sessionTtlMs;
  const token = deps.tokens.issueWidgetToken(deps.subIds.toBytes(subId), expiresMs);
  const widget = { sub: subId, token, vertical: tenant.vertical.segment, sort, maxOffers };
  const isIframe = format === 'iframe';
  const src = isIframe ? widgetPageUrl(deps.widgetUrl, widget) : deps.widgetScriptUrl;
  // The id of the container is random, because two widgets on one page must not share a container.
  const containerId = () => `svc-offers-${deps.random.randomBytes(bounds.widgetMountIdBytes).toString('hex')}`;
  const html = isIframe ? iframeHtml(src) : scriptHtml(src, containerId(), widget);
  return { sub_id: subId, format, html, src, token, expires_at: formatIsoTimestamp(expiresMs) };
}

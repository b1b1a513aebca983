import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { SortOrder } from '../domain/vertical.ts';

/** Total height of the widget's title, sort control and disclosure in px, at the maximum width and the default font size. */
const frameHeightPx = 138;
/**
 * Height of one loan offer in px, at the maximum width of the widget and the default font size. Offers of the other products are about
 * twice as tall. The reserved height ignores this, because five loan offers are already taller than most browser windows.
 */
const offerHeightPx = 206;
/**
 * Minimum height that is reserved for a widget, in px. A widget with one offer is 350 px tall on a wide screen and 630 px tall on a phone.
 * The reserved height of 480 px is between the heights on phones and wide screens, so the layout shifts only a little.
 */
const minHeightPx = 480;

/**
 * Returns the height in px that the embed code reserves for the widget until the script has loaded. The reserved height is calculated for
 * the maximum width of the widget. On a narrow screen, the loaded widget is taller than the reserved height, but the part of the page
 * that moves is usually below the visible area.
 */
function reservedHeightPx(maxOffers: number): number {
  return Math.max(minHeightPx, frameHeightPx + offerHeightPx * Math.min(maxOffers, bounds.widgetPlaceholderCardsMax));
}

export interface WidgetParameters {
  readonly sub: string;
  readonly token: string;
  /** Path segment of the session's vertical, which tells the widget script how to show the offers. */
  readonly vertical: string;
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

/** Returns the URL of the iframe page (docs/contract.md#embed-code). */
export function widgetPageUrl(
  widgetUrl: string,
  { sub, token, sort, maxOffers }: Omit<WidgetParameters, 'vertical'>,
): string {
  return `${widgetUrl}?sub=${sub}&token=${token}&sort=${sort}&max_offers=${maxOffers}`;
}

/** Returns the `<iframe>` element of the widget. The `<iframe>` has no style attribute, because a strict CSP would block the style. */
export function iframeHtml(src: string): string {
  // Does not escape ampersands in the URL, so that the URL can be copied. Unescaped ampersands are valid in HTML attribute values.
  return `<iframe src="${escapeAttribute(src)}" title="Offers for you" width="100%" height="680" frameborder="0"></iframe>`;
}

/**
 * Returns the HTML of a container element and of a script element that mounts the widget in the container. An empty SVG reserves the height
 * of the widget, so that the layout does not shift. The SVG has a height attribute and no style, because a strict CSP would block the
 * style.
 */
export function scriptHtml(src: string, mountName: string, widget: WidgetParameters): string {
  const placeholder = `<svg width="1" height="${reservedHeightPx(widget.maxOffers)}" aria-hidden="true"></svg>`;
  return `<div id="${mountName}">${placeholder}</div>\n${scriptElement(src, `#${mountName}`, widget)}`;
}

function scriptElement(src: string, mount: string, widget: WidgetParameters, extraAttributes = ''): string {
  const { sub, token, vertical, sort, maxOffers } = widget;
  return (
    `<script async src="${escapeAttribute(src)}" data-sub="${sub}" data-token="${token}" data-mount="${mount}"` +
    ` data-vertical="${vertical}" data-sort="${sort}" data-max-offers="${maxOffers}"${extraAttributes}></script>`
  );
}

/** Percent-encodes quotes and angle brackets, so that a configured URL can be used in an HTML attribute. */
function escapeAttribute(text: string): string {
  return text.replaceAll('"', '%22').replaceAll("'", '%27').replaceAll('<', '%3C').replaceAll('>', '%3E');
}

/** Value of `color-scheme` in the iframe page for each theme. */
const colorSchemes = { light: 'light', dark: 'dark', auto: 'light dark' } as const;

const accentRegex = /^#?(?:[\da-f]{3}|[\da-f]{6})$/i;

/** Appearance of the widget in the iframe page. */
export interface WidgetAppearance {
  readonly theme: keyof typeof colorSchemes;
  /** Hexadecimal color; empty if the requested color is invalid; null for the default. */
  readonly accent: string | null;
}

/**
 * Parses the appearance that the query of the iframe page requests. The default is light, because the page cannot see the page around it. An
 * invalid value has the effect of the default, because offers in the default colors are better than no offers.
 */
export function parseWidgetAppearance({
  theme,
  accent,
}: {
  readonly theme?: string | undefined;
  readonly accent?: string | undefined;
}): WidgetAppearance {
  return {
    theme: theme === 'dark' || theme === 'auto' ? theme : 'light',
    accent: accent === undefined ? null : accentRegex.test(accent) ? accent : '',
  };
}

/** Returns the HTML document of the iframe page, which loads the same widget script as a partner's page. */
export function widgetPageHtml(
  scriptUrl: string,
  nonce: string,
  widget: WidgetParameters,
  { theme, accent }: WidgetAppearance,
): string {
  const mount = 'svc-offers';
  const accentAttribute = accent === null ? '' : ` data-accent="${accent}"`;
  const attributes = ` data-embed="iframe" data-theme="${theme}"${accentAttribute} nonce="${nonce}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Offers for you</title>
<style nonce="${nonce}">:root { color-scheme: ${colorSchemes[theme]} } body { margin: 0 }</style>
</head>
<body>
<main id="${mount}"></main>
${scriptElement(scriptUrl, `#${mount}`, widget, attributes)}
<noscript>Offers are shown with JavaScript, which is switched off here.</noscript>
</body>
</html>
`;
}

/** Returns the CSP of the iframe page, which allows the script with the nonce, requests to the page's own host, and logos. */
export function widgetPageCsp(nonce: string, ownOrigin: string, cdnOrigin: string, frameAncestors: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `connect-src ${ownOrigin}`,
    `img-src ${cdnOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors}`,
  ].join('; ');
}

/** Determines which pages may embed the widgets of an account (docs/contract.md#widget-origins). */
export interface EmbedPolicy {
  /** Value of the CSP directive `frame-ancestors` for the iframe page. */
  readonly frameAncestors: string;
  /**
   * Returns the value of `Access-Control-Allow-Origin` for pages of `origin`, or null if the account does not allow this origin. Returns
   * '' if the request has no `Origin` header, because the response then needs no CORS header.
   */
  getCorsOrigin(origin: string): string | null;
}

/**
 * Creates the embed policy of an account from its allowed origins. If the list of allowed origins is empty, any page may embed widgets in
 * test mode, and no page may embed widgets in live mode.
 *
 * @param ownOrigin origin of the iframe page, which is always allowed
 */
export function createEmbedPolicy(mode: ApiKeyMode, origins: readonly string[], ownOrigin: string): EmbedPolicy {
  if (origins.length > 0) return listedOriginsPolicy(origins, ownOrigin);
  return mode === 'test' ? anyOriginPolicy : listedOriginsPolicy([], ownOrigin);
}

const anyOriginPolicy: EmbedPolicy = {
  frameAncestors: '*',
  getCorsOrigin: (origin) => (origin === '' ? '' : '*'),
};

function listedOriginsPolicy(origins: readonly string[], ownOrigin: string): EmbedPolicy {
  return {
    // Computes `frameAncestors` on demand, because most requests do not need this value and the list of origins may be long.
    get frameAncestors() {
      return origins.length === 0 ? "'none'" : origins.join(' ');
    },
    getCorsOrigin: (origin) => {
      if (origin === '') return '';
      return origin === ownOrigin || origins.includes(origin) ? origin : null;
    },
  };
}

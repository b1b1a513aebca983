import { bounds } from '../bounds.ts';
import type { SortOrder } from '../matching/matcher.ts';

/** Height of title, sort order and disclosure, and of each offer, at the largest width and the default font size. */
const frameHeightPx = 138;
const offerHeightPx = 206;
/** A single offer needs 350 px at the largest width and 630 px on a phone. A value between shifts the layout a little on both. */
const minHeightPx = 480;

/**
 * Height that the embed code reserves until the script has loaded, in px: that of the widget at its largest width. A narrower widget is
 * higher, but the content below it is outside the window already.
 */
function reservedHeightPx(maxOffers: number): number {
  return Math.max(minHeightPx, frameHeightPx + offerHeightPx * Math.min(maxOffers, bounds.widgetPlaceholderCardsMax));
}

export interface WidgetParameters {
  readonly sub: string;
  readonly token: string;
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

/** Returns the URL of the iframe's page (docs/contract.md#embed-code). */
export function widgetPageUrl(widgetUrl: string, { sub, token, sort, maxOffers }: WidgetParameters): string {
  return `${widgetUrl}?sub=${sub}&token=${token}&sort=${sort}&max_offers=${maxOffers}`;
}

/** Returns the `<iframe>` element. It has no style attribute, which a strict CSP would block. */
export function iframeHtml(src: string): string {
  // Ampersands are not escaped, which HTML allows here, so that the URL can be copied from the text.
  return `<iframe src="${escapeAttribute(src)}" title="Offers for you" width="100%" height="680" frameborder="0"></iframe>`;
}

/**
 * Returns a container and the script that mounts the widget in it. An empty SVG reserves the height of the widget, so that the layout does
 * not shift; its height is an attribute, because a strict CSP would block a style.
 */
export function scriptHtml(src: string, mountName: string, widget: WidgetParameters): string {
  const placeholder = `<svg width="1" height="${reservedHeightPx(widget.maxOffers)}" aria-hidden="true"></svg>`;
  return `<div id="${mountName}">${placeholder}</div>\n${scriptElement(src, `#${mountName}`, widget)}`;
}

function scriptElement(src: string, mount: string, widget: WidgetParameters, extraAttributes = ''): string {
  const { sub, token, sort, maxOffers } = widget;
  return (
    `<script async src="${escapeAttribute(src)}" data-sub="${sub}" data-token="${token}" data-mount="${mount}"` +
    ` data-sort="${sort}" data-max-offers="${maxOffers}"${extraAttributes}></script>`
  );
}

/** Escapes the characters that the URL parser leaves unescaped in configured URLs. */
function escapeAttribute(text: string): string {
  return text.replaceAll('"', '%22').replaceAll("'", '%27').replaceAll('<', '%3C').replaceAll('>', '%3E');
}

/** The document inside the iframe: the same script, mounted in a page of our own. */
export function widgetPageHtml(scriptUrl: string, nonce: string, widget: WidgetParameters): string {
  const mount = 'svc-offers';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Offers for you</title>
<style nonce="${nonce}">:root { color-scheme: light dark } body { margin: 0 }</style>
</head>
<body>
<main id="${mount}"></main>
${scriptElement(scriptUrl, `#${mount}`, widget, ` data-embed="iframe" nonce="${nonce}"`)}
<noscript>Offers are shown with JavaScript, which is switched off here.</noscript>
</body>
</html>
`;
}

/** Returns the CSP of the iframe's page: its script by nonce, requests to its own host, logos, and nothing else. */
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

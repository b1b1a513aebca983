import { bounds } from '../bounds.ts';
import type { SortOrder } from '../matching/matcher.ts';

/** Title, order and disclosure where the widget is widest, and what each offer adds there; px of the usual font size. */
const frameHeightPx = 138;
const offerHeightPx = 206;
/** One offer needs 350 where the widget is widest and 630 on a phone. In between, what stands below moves a little on both. */
const minHeightPx = 480;

/**
 * How much of a page is kept free for a widget whose script is still on its way, in px. Where the widget is widest, that is
 * what it needs. Narrower ones need more, but what stands below those is out of sight already.
 */
function reservedHeightPx(maxOffers: number): number {
  return Math.max(minHeightPx, frameHeightPx + offerHeightPx * Math.min(maxOffers, bounds.widgetPlaceholderCardsMax));
}

/** Which widget, and how it begins. */
export interface WidgetParameters {
  readonly sub: string;
  readonly token: string;
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

/** Address of the page an iframe shows: the widget host with `sub` and `token` (docs/contract.md#embed-code), and how the widget begins. */
export function widgetPageUrl(widgetUrl: string, { sub, token, sort, maxOffers }: WidgetParameters): string {
  return `${widgetUrl}?sub=${sub}&token=${token}&sort=${sort}&max_offers=${maxOffers}`;
}

/** The `<iframe>` element alone, in the reference form of the contract; a style would not get past a page's strict CSP. */
export function iframeHtml(src: string): string {
  // Ampersands stay bare, which HTML takes where no name of a character follows: so the address also reads right to whoever
  // picks it out of the text.
  return `<iframe src="${escapeAttribute(src)}" title="Offers for you" width="100%" height="680" frameborder="0"></iframe>`;
}

/**
 * A container, and the script that mounts the widget in it, or in any other that `data-mount` is made to select. Until then
 * an empty picture keeps its place, so that what stands below does not move: its height is an attribute, which a page's
 * strict CSP lets pass, as it does no style. The widget takes its place.
 */
export function scriptHtml(src: string, mountName: string, widget: WidgetParameters): string {
  const place = `<svg width="1" height="${reservedHeightPx(widget.maxOffers)}" aria-hidden="true"></svg>`;
  return `<div id="${mountName}">${place}</div>\n${scriptElement(src, `#${mountName}`, widget)}`;
}

/** The script element of a widget; `extra` stands among its attributes. */
function scriptElement(src: string, mount: string, widget: WidgetParameters, extra = ''): string {
  const { sub, token, sort, maxOffers } = widget;
  return (
    `<script async src="${escapeAttribute(src)}" data-sub="${sub}" data-token="${token}" data-mount="${mount}"` +
    ` data-sort="${sort}" data-max-offers="${maxOffers}"${extra}></script>`
  );
}

/** Addresses come from the configuration, as the URL parser writes them: this is for what that lets stand. */
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

/** What such a page may load: its script by its nonce, offers from its own host, logos from the image host, and nothing else. */
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

import type { SortOrder } from '../offers/matcher.ts';
import { reservedHeightPx } from './reserved-height.ts';

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
export function scriptElement(src: string, mount: string, widget: WidgetParameters, extra = ''): string {
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

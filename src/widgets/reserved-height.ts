import { bounds } from '../bounds.ts';

/** Title, order and disclosure where the widget is widest, and what each offer adds there; px of the usual font size. */
const frameHeightPx = 138;
const offerHeightPx = 206;
/** One offer needs 350 where the widget is widest and 630 on a phone. In between, what stands below moves a little on both. */
const minHeightPx = 480;

/**
 * How much of a page is kept free for a widget whose script is still on its way, in px. Where the widget is widest, that is
 * what it needs. Narrower ones need more, but what stands below those is out of sight already.
 */
export function reservedHeightPx(maxOffers: number): number {
  return Math.max(minHeightPx, frameHeightPx + offerHeightPx * Math.min(maxOffers, bounds.widgetPlaceholderCardsMax));
}

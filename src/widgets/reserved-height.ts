import { bounds } from '../bounds.ts';

/** Title, order and disclosure where the widget is widest, and what each offer adds there; px of the usual font size. */
const frame = 138;
const offer = 206;
/** One offer needs 350 where the widget is widest and 630 on a phone. In between, what stands below moves a little on both. */
const least = 480;

/**
 * How much of a page is kept free for a widget whose script is still on its way, in px. Where the widget is widest, that is
 * what it needs. Narrower ones need more, but what stands below those is out of sight already.
 */
export function reservedHeight(maxOffers: number): number {
  return Math.max(least, frame + offer * Math.min(maxOffers, bounds.widgetCardsComingMax));
}

import { parseHexColor, type Rgb } from './colors.ts';
import * as widgetLimits from './limits.ts';

const sortOrders = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;
export type SortOrder = (typeof sortOrders)[number];

const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

export interface WidgetSettings {
  /** Base URL of the widget host, without a trailing slash. */
  readonly base: string;
  readonly sub: string;
  readonly token: string;
  /** CSS selector of the element in which the widget is mounted. */
  readonly mount: string;
  /** Path segment of the session's vertical; undefined in embed code that was issued before verticals were part of it. */
  readonly vertical: string | undefined;
  readonly sort: SortOrder;
  /** Maximum number of offers to show; null for the default of the server. */
  readonly maxOffers: number | null;
  /** Whether the widget runs in the iframe page of the widget host, which contains only the widget. */
  readonly isFramePage: boolean;
  readonly theme: Theme;
  /** Color of buttons, links and marks; null for the default. */
  readonly accent: Rgb | null;
}

interface ScriptAttributes {
  readonly src: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
}

/**
 * Parses the settings in the attributes of the script element. Returns an error message for the partner if a setting is invalid. An invalid
 * accent is no error, because offers in the default color are better than no offers.
 */
export function readSettings({ src, dataset }: ScriptAttributes): WidgetSettings | string {
  const base = /^(https?:\/\/.+)\/widget\.js(?:[?#].*)?$/.exec(src)?.[1];
  if (base === undefined) {
    return 'load the script from its own URL, …/widget.js, because the widget loads offers from the same host.';
  }
  const { sub, token, mount, sort = 'recommended', maxOffers, theme = 'auto', accent = '' } = dataset;
  if (!sub || !token || !mount) {
    return 'the script element needs data-sub, data-token and data-mount; copy it unchanged from the API response (format=js).';
  }
  const validSort = sortOrders.find((name) => name === sort);
  if (validSort === undefined) return `data-sort must be one of ${sortOrders.join(', ')}.`;
  if (maxOffers !== undefined && !isOfferCount(maxOffers)) {
    return `data-max-offers must be a whole number from 1 to ${widgetLimits.offersMax}.`;
  }
  const validTheme = themes.find((name) => name === theme);
  if (validTheme === undefined) return 'data-theme must be auto, light or dark.';
  return {
    base,
    sub,
    token,
    mount,
    vertical: dataset.vertical,
    sort: validSort,
    maxOffers: maxOffers === undefined ? null : Number(maxOffers),
    isFramePage: dataset.embed === 'iframe',
    theme: validTheme,
    accent: parseHexColor(accent),
  };
}

function isOfferCount(text: string): boolean {
  return /^[1-9]\d?$/.test(text) && Number(text) <= widgetLimits.offersMax;
}

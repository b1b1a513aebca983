import { limits } from './limits.ts';

/** What the orders of the API are called before a borrower. */
export const sortLabels = {
  recommended: 'Recommended',
  lowest_apr: 'Lowest APR',
  highest_amount: 'Highest amount',
  svc_revenue: 'Sponsored first',
} as const;

export type SortOrder = keyof typeof sortLabels;

export function isSortOrder(name: string): name is SortOrder {
  return Object.hasOwn(sortLabels, name);
}

/** The order by revenue serves the partner, not the borrower: it is offered only where the partner's page began with it. */
export function sortOrdersFor(first: SortOrder): readonly SortOrder[] {
  return first === 'svc_revenue'
    ? ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue']
    : ['recommended', 'lowest_apr', 'highest_amount'];
}

const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export interface Settings {
  /** Address that the widget's own lie under, without a slash at its end. */
  readonly base: string;
  readonly sub: string;
  readonly token: string;
  /** CSS selector of the container. */
  readonly mount: string;
  readonly sort: SortOrder;
  /** Null leaves it to the server. */
  readonly maxOffers: number | null;
  /** Whether the page is the one we serve for an iframe, which holds nothing but the widget. */
  readonly isFramePage: boolean;
  readonly theme: Theme;
}

/** What a script element says of itself. */
interface ScriptAttributes {
  readonly src: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
}

/** The settings a script element carries, or one sentence that says what to write instead. */
export function readSettings({ src, dataset }: ScriptAttributes): Settings | string {
  const base = /^(https?:\/\/.+)\/widget\.js(?:[?#].*)?$/.exec(src)?.[1];
  if (base === undefined)
    return 'load the script from its own address, …/widget.js, so that it knows where offers come from.';
  const { sub, token, mount, sort = 'recommended', maxOffers, theme = 'auto' } = dataset;
  if (!sub || !token || !mount) {
    return "the script element needs data-sub, data-token and data-mount; use it as the API's format=js answer gives it.";
  }
  if (!isSortOrder(sort)) return 'data-sort must be recommended, lowest_apr, highest_amount or svc_revenue.';
  if (maxOffers !== undefined && !isOfferCount(maxOffers)) {
    return `data-max-offers must be a whole number from 1 to ${limits.offersMax}.`;
  }
  const knownTheme = themes.find((name) => name === theme);
  if (knownTheme === undefined) return 'data-theme must be auto, light or dark.';
  return {
    base,
    sub,
    token,
    mount,
    sort,
    maxOffers: maxOffers === undefined ? null : Number(maxOffers),
    isFramePage: dataset.embed === 'iframe',
    theme: knownTheme,
  };
}

function isOfferCount(text: string): boolean {
  return /^[1-9]\d?$/.test(text) && Number(text) <= limits.offersMax;
}

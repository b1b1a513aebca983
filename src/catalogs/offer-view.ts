import { parseIsoDate } from '../domain/calendar.ts';
import { usdToMicros } from '../domain/money.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { MatchTables } from '../matching/match-tables.ts';
import type { CatalogLender, CatalogOffer } from './catalog-schema.ts';

interface NumberRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Offer in a marketplace response (docs/contract.md#offers). Each vertical except personal loans adds one object with the figures of its
 * product, such as `card`. A member that has no meaning for a product is null, or an empty array.
 */
export interface OfferView {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: NumberRange | null;
  /** Term, in months, for which `monthly_payment_estimate` is computed. */
  readonly payment_term_months: number | null;
  readonly monthly_payment_estimate: number | null;
  readonly loan_amount_range: NumberRange | null;
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  /** The lender's own disclosure. */
  readonly legal?: string;
  /** Page of the lender with the terms of the offer. */
  readonly terms_url?: string;
  /** Date on which the lender confirmed the figures of the offer, YYYY-MM-DD. */
  readonly as_of?: string;
  readonly click_url: string;
  readonly term_months: readonly number[];
  readonly position: number;
}

/** Members of `OfferView` that are the same for every borrower. */
type OfferDetails = Pick<
  OfferView,
  'svc_star_rating' | 'features' | 'prequalification' | 'legal' | 'terms_url' | 'as_of'
>;

/** Budget of an offer (docs/contract.md#budgets-and-pacing), in micro-dollars. At least one of the two amounts is not null. */
export interface OfferBudget {
  readonly perDayMicros: number | null;
  readonly perMonthMicros: number | null;
  readonly pacing: 'asap' | 'even';
}

/** Values of an offer that responses, clicks and ledger records need. */
export interface CompiledOffer {
  readonly id: string;
  readonly lenderName: string;
  /** File name of the lender's logo. */
  readonly logo: string;
  /** Parts of the landing URL before and after the placeholder `{click_id}`. */
  readonly landingUrlParts: readonly string[];
  /** Payout of one accepted lead in micro-dollars if the vertical has flat payouts (`Vertical.flatPayout`); otherwise null. */
  readonly flatPayoutMicros: number | null;
  /** Maximum number of counted clicks per UTC day (docs/contract.md#daily-caps); null if the offer has no cap. */
  readonly dailyCap: number | null;
  readonly budget: OfferBudget | null;
  /** Day on which the lender confirmed the figures of the offer, in days since the Unix epoch; null if the catalog does not contain it. */
  readonly asOfDay: number | null;
  readonly details: OfferDetails;
  /** The offer in the catalog file, for products whose offer views show members of the file; null for other products. */
  readonly source: CatalogOffer | null;
}

/** Compiled catalog without class instances, so that it can be sent to another thread. */
export interface CompiledCatalogData {
  readonly version: string;
  /** Short advertiser disclosure that the API returns with the offers. */
  readonly disclosure: string;
  /** Offers, sorted by id. A ranking refers to each offer by its index in this array. */
  readonly offers: readonly CompiledOffer[];
  /**
   * Maximum age of an offer's figures in days; offers with older figures are not shown (docs/contract.md#outdated-offers). Null for no
   * maximum.
   */
  readonly maxAgeDays: number | null;
  readonly tables: MatchTables;
}

export function compileOffer(
  lender: CatalogLender,
  offer: CatalogOffer,
  { flatPayout }: Pick<Vertical, 'flatPayout'>,
  keepsSource: boolean,
): CompiledOffer {
  const { id, stars, features, prequalification, legal, terms_url, as_of, daily_cap, budget } = offer;
  return {
    id,
    lenderName: lender.name,
    logo: lender.logo,
    landingUrlParts: offer.landing_url.split('{click_id}'),
    flatPayoutMicros: flatPayout === true ? usdToMicros(offer.payout_usd) : null,
    dailyCap: daily_cap ?? null,
    budget: budget === undefined ? null : compileBudget(budget),
    asOfDay: as_of === undefined ? null : parseIsoDate(as_of),
    details: {
      svc_star_rating: stars,
      features,
      prequalification,
      ...(legal !== undefined && { legal }),
      ...(terms_url !== undefined && { terms_url }),
      ...(as_of !== undefined && { as_of }),
    },
    source: keepsSource ? offer : null,
  };
}

function compileBudget({ per_day_usd, per_month_usd, pacing }: NonNullable<CatalogOffer['budget']>): OfferBudget {
  return {
    perDayMicros: per_day_usd === undefined ? null : usdToMicros(per_day_usd),
    perMonthMicros: per_month_usd === undefined ? null : usdToMicros(per_month_usd),
    pacing,
  };
}

/** Offer of a response, with the prices for one borrower. Each product adds its own prices. */
export interface PricedOffer {
  /** Index of the offer in the catalog. */
  readonly index: number;
}

/** Priced offers of one response, with the session and the click token for their click URLs. */
export interface OfferList<Priced extends PricedOffer = PricedOffer> {
  readonly catalog: CompiledCatalogData;
  readonly offers: readonly Priced[];
  readonly subId: string;
  readonly clickToken: string;
}

/** Parts of URLs that are the same in all offers. */
export interface OfferUrls {
  /** Part of each click URL before the sub_id, such as `https://go.example/c?sub=`. */
  readonly clickPrefix: string;
  /** The value of `clickPrefix`, escaped as in a JSON string. */
  readonly clickPrefixJson: string;
  /** Base URL of the logos, without a trailing slash. */
  readonly logos: string;
}

/** Creates the offers of responses. A renderer belongs to one catalog, one base URL of logos and one set of logo files. */
export interface OfferRenderer {
  /** Advertiser disclosure of the catalog as a JSON string. */
  readonly disclosureJson: string;
  /** Creates the offers of a response as objects. */
  createOfferViews(list: OfferList, urls: OfferUrls): OfferView[];
  /** Renders the offers of a response as a JSON array, with the same text as `JSON.stringify` of `createOfferViews`. */
  renderOffersJson(list: OfferList, urls: OfferUrls): string;
}

/** Catalog, base URL of the logos without a trailing slash, and hashes of the logos by lender name. */
export type OfferRendererOptions = readonly [
  catalog: Pick<CompiledCatalogData, 'disclosure' | 'offers' | 'tables'>,
  logosUrl: string,
  logoHashes: ReadonlyMap<string, string>,
];

/** Returns the URL of a logo. The URL of a logo without a hash has no parameter `v`. */
export function createLogoUrl(
  { lenderName, logo }: Pick<CompiledOffer, 'lenderName' | 'logo'>,
  logosUrl: string,
  logoHashes: ReadonlyMap<string, string>,
): string {
  const hash = logoHashes.get(lenderName);
  return `${logosUrl}/${logo}${hash === undefined ? '' : `?v=${hash}`}`;
}

/** Formats the part of a click URL between the sub_id and the click token. */
export function formatClickUrlParameters(offerId: string): string {
  return `&offer=${offerId}&v=`;
}

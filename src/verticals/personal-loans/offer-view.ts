import { bounds } from '../../bounds.ts';
import type { CatalogLender, CatalogOffer } from '../../catalogs/catalog-schema.ts';
import type { CompiledCatalog } from '../../catalogs/compile-catalog.ts';
import { flattenString } from '../../domain/text.ts';
import type { FieldVector } from '../field-vector.ts';
import type { LoanTables as MatchTables } from './loan-tables.ts';
import { emptyApplicant, emptyOfferPrice, monthlyPaymentCents, priceOffer, readApplicant } from './price-offer.ts';

/** One offer of a marketplace response (docs/contract.md#offers). */
export interface OfferView {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  /** Term, in months, that `monthly_payment_estimate` is computed for. */
  readonly payment_term_months: number;
  readonly monthly_payment_estimate: number;
  readonly loan_amount_range: { readonly min: number; readonly max: number };
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
  readonly term_months: readonly number[];
  readonly position: number;
}

/** Members of an offer that depend only on the offer, the credit band and the quoted term. */
type OfferHead = Pick<OfferView, 'svc_offer_id' | 'lender_name' | 'logo_url' | 'apr_range' | 'payment_term_months'>;

/** Part of a compiled catalog that responses, clicks and ledger records need. Contains plain values and no URLs of this service. */
export interface CompiledOffer {
  readonly id: string;
  readonly lenderName: string;
  /** File name of the lender's logo. */
  readonly logo: string;
  /** The landing URL, split at the placeholder of the click_id. */
  readonly landingUrlParts: readonly string[];
  /** Maximum number of counted clicks per UTC day (docs/contract.md#daily-caps); null if the offer has no cap. */
  readonly dailyCap: number | null;
  /** Members that are the same for every borrower. */
  readonly details: Pick<OfferView, 'svc_star_rating' | 'features' | 'prequalification'>;
}

export function compileOffer(lender: CatalogLender, offer: CatalogOffer): CompiledOffer {
  const { id, stars, features, prequalification } = offer;
  return {
    id,
    lenderName: lender.name,
    logo: lender.logo,
    landingUrlParts: offer.landing_url.split('{click_id}'),
    dailyCap: offer.daily_cap ?? null,
    details: { svc_star_rating: stars, features, prequalification },
  };
}

/** An offer that a response shows, with the prices of one borrower. */
export interface PricedOffer {
  /** Index of the offer in the catalog. */
  readonly index: number;
  /** Index of the offer's credit band and quoted term in the tables of the catalog. */
  readonly slot: number;
  /** Monthly payment in cents. */
  readonly paymentCents: number;
  /** Amounts that the borrower can get, in USD. */
  readonly amountMin: number;
  readonly amountMax: number;
  /** Terms available to the borrower, as bits in the order of the catalog's terms. */
  readonly openTerms: number;
}

const applicant = emptyApplicant();
const price = emptyOfferPrice();

/**
 * Prices offers for a borrower.
 *
 * @param indexes in the catalog of the offers to price, from a ranking of this catalog version for this borrower
 * @throws if the borrower cannot get an offer, which is a bug
 */
export function priceRankedOffers(
  { tables, offers }: CompiledCatalog,
  indexes: ArrayLike<number>,
  borrower: Readonly<FieldVector>,
): PricedOffer[] {
  const isPriceable = readApplicant(tables, borrower, applicant);
  const priced: PricedOffer[] = [];
  for (let place = 0; place < indexes.length; place++) {
    const index = indexes[place]!;
    if (!isPriceable || !priceOffer(tables, index, applicant, price)) {
      throw new Error(`offer ${offers[index]!.id} was not ranked for this borrower`);
    }
    const { slot, amountMin, amountMax, openTerms } = price;
    const paymentCents = monthlyPaymentCents(tables, price, applicant.amount);
    priced.push({ index, slot, paymentCents, amountMin, amountMax, openTerms });
  }
  return priced;
}

/** Priced offers of one response, and the parameters of their click URLs. */
export interface OfferList {
  readonly catalog: CompiledCatalog;
  readonly offers: readonly PricedOffer[];
  readonly subId: string;
  readonly clickToken: string;
}

/**
 * Builds the offers of a response as objects.
 *
 * @param clickUrlPrefix click URLs up to the sub_id, e.g. `https://go.example/c?sub=`
 */
export function toOfferViews({ catalog, offers, subId, clickToken }: OfferList, clickUrlPrefix: string): OfferView[] {
  const { offerRenderer } = catalog;
  return offers.map(({ index, slot, paymentCents, amountMin, amountMax, openTerms }, place) => {
    const { id, details } = catalog.offers[index]!;
    return {
      ...offerRenderer.head(index, slot),
      monthly_payment_estimate: paymentCents / 100,
      loan_amount_range: { min: amountMin, max: amountMax },
      ...details,
      features: [...details.features],
      click_url: `${clickUrlPrefix}${subId}${clickUrlParameters(id)}${clickToken}`,
      term_months: offerRenderer.termMonths(openTerms),
      position: place + 1,
    };
  });
}

/** Formats the parameters of a click URL between the sub_id and the click token. */
function clickUrlParameters(offerId: string): string {
  return `&offer=${offerId}&v=`;
}

/**
 * Renders the offers of a response as a JSON array: the text that `JSON.stringify` returns for {@link toOfferViews}, built from
 * prepared fragments.
 *
 * @param clickUrlPrefixJson click URLs up to the sub_id, escaped as in a JSON string
 */
export function renderOffersJson(
  { catalog, offers, subId, clickToken }: OfferList,
  clickUrlPrefixJson: string,
): string {
  if (offers.length === 0) return '[]';
  const { offerRenderer } = catalog;
  const lastPlace = offers.length - 1;
  let text = '[';
  for (let place = 0; place <= lastPlace; place++) {
    const { index, slot, paymentCents, amountMin, amountMax, openTerms } = offers[place]!;
    const { detailsJson, urlParameters } = offerRenderer.tail(index);
    const dollars = Math.floor(paymentCents / 100);
    text +=
      offerRenderer.headJson(index, slot) +
      (dollars + centSuffixes[paymentCents - dollars * 100]!) +
      ',"loan_amount_range":{"min":' +
      (amountMin + ',"max":' + amountMax) +
      detailsJson +
      clickUrlPrefixJson +
      subId +
      urlParameters +
      clickToken +
      offerRenderer.termsJson(openTerms) +
      (place === lastPlace ? lastPositionSuffixes : positionSuffixes)[place]!;
  }
  return text;
}

/** JSON text of the cents after the whole dollars: empty, `.1`, `.01` and so on. Faster than formatting a double. */
const centSuffixes = Array.from({ length: 100 }, (_, cents) => (cents === 0 ? '' : String(cents / 100).slice(1)));

/** JSON text that ends an offer, starting at its position. The text differs for the last offer of the list. */
const positionSuffixes = Array.from({ length: bounds.offersShownMax }, (_, place) => `${place + 1}},`);
const lastPositionSuffixes = Array.from({ length: bounds.offersShownMax }, (_, place) => `${place + 1}}]`);

interface OfferTail {
  /** JSON text from the end of the amounts to the opening quote of the click URL. */
  readonly detailsJson: string;
  /** Parameters of the click URL between the sub_id and the click token. */
  readonly urlParameters: string;
}

/**
 * Parts of a response that depend on the catalog but not on the borrower: values, and their JSON text. Each text is built at its first
 * use, because a large catalog has a million slots and most are never shown. The fragments are long and few: the cost of a response
 * depends on the number of concatenated strings, not on their length. All fragments are flat strings.
 */
export class OfferRenderer {
  /** The catalog's disclosure as a JSON string. */
  readonly disclosureJson: string;
  readonly #offers: readonly CompiledOffer[];
  readonly #tables: MatchTables;
  readonly #cdnUrl: string;
  readonly #logoHashes: ReadonlyMap<string, string>;
  readonly #headsBySlot: (string | undefined)[];
  readonly #tailsByOffer: (OfferTail | undefined)[];
  readonly #termsByOpenTerms = new Map<number, string>();

  /**
   * @param cdnUrl base URL of logos, without a slash at its end
   * @param logoHashes hashes of the logos by lender name; a logo without a hash gets a URL without a version
   */
  constructor(
    { disclosure, offers, tables }: Pick<CompiledCatalog, 'disclosure' | 'offers' | 'tables'>,
    cdnUrl: string,
    logoHashes: ReadonlyMap<string, string>,
  ) {
    this.disclosureJson = JSON.stringify(disclosure);
    this.#offers = offers;
    this.#tables = tables;
    this.#cdnUrl = cdnUrl;
    this.#logoHashes = logoHashes;
    this.#headsBySlot = new Array<string | undefined>(tables.aprMin.length);
    this.#tailsByOffer = new Array<OfferTail | undefined>(offers.length);
  }

  head(index: number, slot: number): OfferHead {
    const { id, lenderName, logo } = this.#offers[index]!;
    const hash = this.#logoHashes.get(lenderName);
    return {
      svc_offer_id: id,
      lender_name: lenderName,
      logo_url: `${this.#cdnUrl}/${logo}${hash === undefined ? '' : `?v=${hash}`}`,
      apr_range: { min: this.#tables.aprMin[slot]! / 100, max: this.#tables.aprMax[slot]! / 100 },
      // The slots of a row are in the order of the terms.
      payment_term_months: this.#tables.termMonths[slot % this.#tables.termMonths.length]!,
    };
  }

  termMonths(openTerms: number): number[] {
    return this.#tables.termMonths.filter((_months, term) => (openTerms & (1 << term)) !== 0);
  }

  /** JSON text from the opening brace of an offer to its monthly payment. */
  headJson(index: number, slot: number): string {
    let text = this.#headsBySlot[slot];
    if (text === undefined) {
      text = flattenString(`${JSON.stringify(this.head(index, slot)).slice(0, -1)},"monthly_payment_estimate":`);
      this.#headsBySlot[slot] = text;
    }
    return text;
  }

  tail(index: number): OfferTail {
    let tail = this.#tailsByOffer[index];
    if (tail === undefined) {
      const { id, details } = this.#offers[index]!;
      tail = {
        detailsJson: flattenString(`},${JSON.stringify(details).slice(1, -1)},"click_url":"`),
        urlParameters: flattenString(clickUrlParameters(id)),
      };
      this.#tailsByOffer[index] = tail;
    }
    return tail;
  }

  /** JSON text from the end of the click URL to the position of the offer. */
  termsJson(openTerms: number): string {
    let text = this.#termsByOpenTerms.get(openTerms);
    if (text === undefined) {
      text = flattenString(`","term_months":${JSON.stringify(this.termMonths(openTerms))},"position":`);
      this.#termsByOpenTerms.set(openTerms, text);
    }
    return text;
  }
}

import { bounds } from '../../bounds.ts';
import type { CatalogLender, CatalogOffer } from '../../catalogs/catalog-schema.ts';
import type { CompiledCatalog } from '../../catalogs/compile-catalog.ts';
import { compileOfferLimits, type OfferLimits } from '../../catalogs/offer-limits.ts';
import { copyToFlatString } from '../../domain/text.ts';
import type { FieldVector } from '../field-vector.ts';
import type { LoanTables as MatchTables } from './loan-tables.ts';
import {
  calculatePrice,
  createEmptyLoanPrice,
  emptyApplicant,
  monthlyPaymentCents,
  readApplicant,
} from './price-offer.ts';

/** Offer in a marketplace response (docs/contract.md#offers). */
export interface OfferView {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  /** Term, in months, for which `monthly_payment_estimate` is computed. */
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

/** Members of `OfferView` that depend only on the offer, the credit band and the quoted term. */
type OfferHead = Pick<OfferView, 'svc_offer_id' | 'lender_name' | 'logo_url' | 'apr_range' | 'payment_term_months'>;

/** Values of an offer that responses, clicks and ledger records need. */
export interface CompiledOffer extends OfferLimits {
  readonly id: string;
  readonly lenderName: string;
  /** File name of the lender's logo. */
  readonly logo: string;
  /** Parts of the landing URL before and after the placeholder `{click_id}`. */
  readonly landingUrlParts: readonly string[];
  /** Members of `OfferView` that are the same for every borrower. */
  readonly details: Pick<OfferView, 'svc_star_rating' | 'features' | 'prequalification'>;
}

export function compileOffer(lender: CatalogLender, offer: CatalogOffer): CompiledOffer {
  const { id, stars, features, prequalification } = offer;
  return {
    id,
    lenderName: lender.name,
    logo: lender.logo,
    landingUrlParts: offer.landing_url.split('{click_id}'),
    ...compileOfferLimits(offer),
    details: { svc_star_rating: stars, features, prequalification },
  };
}

/** Offer of a response, with the prices for one borrower. */
export interface PricedOffer {
  /** Index of the offer in the catalog. */
  readonly index: number;
  /** Index in the catalog's price tables for this offer, the borrower's credit band and the quoted term. */
  readonly slot: number;
  /** Estimated monthly payment in cents. */
  readonly paymentCents: number;
  /** Smallest and largest amount that the borrower can get, in USD. */
  readonly amountMin: number;
  readonly amountMax: number;
  /** Bit set of the terms that the borrower can get, in the order of `LoanTables.termMonths`. */
  readonly openTerms: number;
}

const applicant = emptyApplicant();
const price = createEmptyLoanPrice();

/**
 * Prices the offers of a response for a borrower.
 *
 * @param indexes index of each offer in the catalog, from a ranking for this borrower and catalog version
 * @throws Error if the borrower cannot get one of the offers, which means that the ranking is incorrect
 */
export function calculateLoanPrices(
  { tables, offers }: CompiledCatalog,
  indexes: ArrayLike<number>,
  borrower: Readonly<FieldVector>,
): PricedOffer[] {
  const isPriceable = readApplicant(tables, borrower, applicant);
  const priced: PricedOffer[] = [];
  for (let place = 0; place < indexes.length; place++) {
    const index = indexes[place]!;
    if (!isPriceable || !calculatePrice(tables, index, applicant, price)) {
      throw new Error(`offer ${offers[index]!.id} was not ranked for this borrower`);
    }
    const { slot, amountMin, amountMax, openTerms } = price;
    const paymentCents = monthlyPaymentCents(tables, price, applicant.amount);
    priced.push({ index, slot, paymentCents, amountMin, amountMax, openTerms });
  }
  return priced;
}

/** Priced offers of one response, with the session and the click token for their click URLs. */
export interface OfferList {
  readonly catalog: CompiledCatalog;
  readonly offers: readonly PricedOffer[];
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

/** Creates the offers of a response as objects. */
export function createOfferViews({ catalog, offers, subId, clickToken }: OfferList, urls: OfferUrls): OfferView[] {
  const offerRenderer = catalog.offerRenderer(urls.logos);
  return offers.map(({ index, slot, paymentCents, amountMin, amountMax, openTerms }, place) => {
    const { id, details } = catalog.offers[index]!;
    return {
      ...offerRenderer.createMembersBeforePrices(index, slot),
      monthly_payment_estimate: paymentCents / 100,
      loan_amount_range: { min: amountMin, max: amountMax },
      ...details,
      features: [...details.features],
      click_url: `${urls.clickPrefix}${subId}${clickUrlParameters(id)}${clickToken}`,
      term_months: offerRenderer.termMonths(openTerms),
      position: place + 1,
    };
  });
}

/** Formats the part of a click URL between the sub_id and the click token. */
function clickUrlParameters(offerId: string): string {
  return `&offer=${offerId}&v=`;
}

/**
 * Renders the offers of a response as a JSON array, from prebuilt fragments. Returns the same text as `JSON.stringify` of
 * {@link createOfferViews}.
 */
export function renderOffersJson(
  { catalog, offers, subId, clickToken }: OfferList,
  { clickPrefixJson, logos }: OfferUrls,
): string {
  if (offers.length === 0) return '[]';
  const offerRenderer = catalog.offerRenderer(logos);
  const lastPlace = offers.length - 1;
  let text = '[';
  for (let place = 0; place <= lastPlace; place++) {
    const { index, slot, paymentCents, amountMin, amountMax, openTerms } = offers[place]!;
    const { detailsJson, urlParameters } = offerRenderer.renderMembersAfterPrices(index);
    const dollars = Math.floor(paymentCents / 100);
    text +=
      offerRenderer.renderMembersBeforePrices(index, slot) +
      (dollars + centSuffixes[paymentCents - dollars * 100]!) +
      ',"loan_amount_range":{"min":' +
      (amountMin + ',"max":' + amountMax) +
      detailsJson +
      clickPrefixJson +
      subId +
      urlParameters +
      clickToken +
      offerRenderer.termMonthsJson(openTerms) +
      (place === lastPlace ? lastPositionSuffixes : positionSuffixes)[place]!;
  }
  return text;
}

/**
 * JSON text for the cents of an amount, by number of cents: empty for 0, `.01` for 1 and so on. Appending a prepared text to the whole
 * dollars is faster than formatting a number with decimals.
 */
const centSuffixes = Array.from({ length: 100 }, (_, cents) => (cents === 0 ? '' : String(cents / 100).slice(1)));

/**
 * JSON fragments that end an offer: the value of `position`, a closing brace and a comma. In `lastPositionSuffixes`, a closing bracket
 * replaces the comma and ends the list of offers.
 */
const positionSuffixes = Array.from({ length: bounds.offersShownMax }, (_, place) => `${place + 1}},`);
const lastPositionSuffixes = Array.from({ length: bounds.offersShownMax }, (_, place) => `${place + 1}}]`);

interface OfferTail {
  /** JSON fragment between the last number of `loan_amount_range` and the text of `click_url`. */
  readonly detailsJson: string;
  /** Text in the click URL between the sub_id and the click token. */
  readonly urlParameters: string;
}

/**
 * Renders the parts of a response that depend on the catalog but not on the borrower, as values and as JSON fragments. Each fragment is
 * built when it is first used, because a large catalog has a million combinations of offer, credit band and term, most of which are never
 * displayed. Rendering time depends on the number of concatenated strings, not on their length, so the fragments are few and long. Each
 * fragment is copied into one flat string, because V8 stores a concatenated string as a tree of parts, which is slower to read.
 */
export class OfferRenderer {
  /** Advertiser disclosure of the catalog as a JSON string. */
  readonly disclosureJson: string;
  readonly #offers: readonly CompiledOffer[];
  readonly #tables: MatchTables;
  readonly #logosUrl: string;
  readonly #logoHashes: ReadonlyMap<string, string>;
  readonly #headsBySlot: (string | undefined)[];
  readonly #tailsByOffer: (OfferTail | undefined)[];
  readonly #termsByOpenTerms = new Map<number, string>();

  /**
   * @param logosUrl base URL of the logos, without a trailing slash
   * @param logoHashes hashes of the logos by lender name; the URL of a logo without a hash has no parameter `v`
   */
  constructor(
    { disclosure, offers, tables }: Pick<CompiledCatalog, 'disclosure' | 'offers' | 'tables'>,
    logosUrl: string,
    logoHashes: ReadonlyMap<string, string>,
  ) {
    this.disclosureJson = JSON.stringify(disclosure);
    this.#offers = offers;
    this.#tables = tables;
    this.#logosUrl = logosUrl;
    this.#logoHashes = logoHashes;
    this.#headsBySlot = new Array<string | undefined>(tables.aprMin.length);
    this.#tailsByOffer = new Array<OfferTail | undefined>(offers.length);
  }

  createMembersBeforePrices(index: number, slot: number): OfferHead {
    const { id, lenderName, logo } = this.#offers[index]!;
    const hash = this.#logoHashes.get(lenderName);
    return {
      svc_offer_id: id,
      lender_name: lenderName,
      logo_url: `${this.#logosUrl}/${logo}${hash === undefined ? '' : `?v=${hash}`}`,
      apr_range: { min: this.#tables.aprMin[slot]! / 100, max: this.#tables.aprMax[slot]! / 100 },
      // The slots of an offer and a credit band are in the order of `termMonths`, so the remainder is the index of the term.
      payment_term_months: this.#tables.termMonths[slot % this.#tables.termMonths.length]!,
    };
  }

  termMonths(openTerms: number): number[] {
    return this.#tables.termMonths.filter((_months, term) => (openTerms & (1 << term)) !== 0);
  }

  /** Returns the JSON fragment from the opening brace of an offer to the name of the member `monthly_payment_estimate`. */
  renderMembersBeforePrices(index: number, slot: number): string {
    this.#headsBySlot[slot] ??= copyToFlatString(
      `${JSON.stringify(this.createMembersBeforePrices(index, slot)).slice(0, -1)},"monthly_payment_estimate":`,
    );
    return this.#headsBySlot[slot];
  }

  renderMembersAfterPrices(index: number): OfferTail {
    let tail = this.#tailsByOffer[index];
    if (tail === undefined) {
      const { id, details } = this.#offers[index]!;
      tail = {
        detailsJson: copyToFlatString(`},${JSON.stringify(details).slice(1, -1)},"click_url":"`),
        urlParameters: copyToFlatString(clickUrlParameters(id)),
      };
      this.#tailsByOffer[index] = tail;
    }
    return tail;
  }

  /** Returns the JSON fragment that follows the click URL: the member `term_months` and the name of the member `position`. */
  termMonthsJson(openTerms: number): string {
    let text = this.#termsByOpenTerms.get(openTerms);
    if (text === undefined) {
      text = copyToFlatString(`","term_months":${JSON.stringify(this.termMonths(openTerms))},"position":`);
      this.#termsByOpenTerms.set(openTerms, text);
    }
    return text;
  }
}

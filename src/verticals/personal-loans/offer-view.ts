import { bounds } from '../../bounds.ts';
import type { CatalogLender, CatalogOffer } from '../../catalogs/catalog-schema.ts';
import type { CompiledCatalog } from '../../catalogs/compile-catalog.ts';
import { flattenString } from '../../domain/text.ts';
import type { FieldVector } from '../field-vector.ts';
import type { LoanTables as MatchTables } from './loan-tables.ts';
import { emptyApplicant, emptyOfferPrice, monthlyPaymentCents, priceOffer, readApplicant } from './price-offer.ts';

/** What is known of an offer without a borrower and without our own addresses: for clicks, for records, and for answers. */
export interface CompiledOffer {
  readonly id: string;
  readonly lenderName: string;
  readonly logo: string;
  /** The parts of its landing URL around the places of the click id. */
  readonly landingUrlParts: readonly string[];
  /** Booked clicks in a UTC day (docs/contract.md#daily-caps), or null where they are not limited. */
  readonly dailyCap: number | null;
  /** In an answer: from behind the amounts to the opening quote of the click URL. */
  readonly detailsJson: string;
  /** In the click URL: from behind the sub_id to the sealed value. */
  readonly clickUrlParameters: string;
}

export function compileOffer(lender: CatalogLender, offer: CatalogOffer): CompiledOffer {
  const { id, stars, features, prequalification } = offer;
  const members = JSON.stringify({ svc_star_rating: stars, features, prequalification });
  return {
    id,
    lenderName: lender.name,
    logo: lender.logo,
    landingUrlParts: offer.landing_url.split('{click_id}'),
    dailyCap: offer.daily_cap ?? null,
    detailsJson: flattenString(`},${members.slice(1, -1)},"click_url":"`),
    clickUrlParameters: flattenString(`&offer=${id}&v=`),
  };
}

/**
 * The parts of an offer's JSON text that depend on no borrower but on more than the offer alone, written when first needed
 * and kept: a large catalog has a million slots, and most are never shown. They are long and few on purpose: what an answer
 * costs is the number of strings it is put together from, not their length. All are flat.
 */
export class OfferFragments {
  readonly #offers: readonly CompiledOffer[];
  readonly #tables: MatchTables;
  readonly #cdnUrl: string;
  readonly #logoHashes: ReadonlyMap<string, string>;
  readonly #headsBySlot: (string | undefined)[];
  readonly #termsByOpenTerms = new Map<number, string>();

  /** `logoHashes` has the hash of each lender's logo by the lender's name; an address without one is its file's alone. */
  constructor(
    offers: readonly CompiledOffer[],
    tables: MatchTables,
    cdnUrl: string,
    logoHashes: ReadonlyMap<string, string>,
  ) {
    this.#offers = offers;
    this.#tables = tables;
    this.#cdnUrl = cdnUrl;
    this.#logoHashes = logoHashes;
    this.#headsBySlot = new Array<string | undefined>(tables.aprMin.length);
  }

  /** From the opening brace to the monthly payment, for a slot of an offer. */
  headJson(offer: number, slot: number): string {
    let text = this.#headsBySlot[slot];
    if (text === undefined) {
      const { id, lenderName, logo } = this.#offers[offer]!;
      const hash = this.#logoHashes.get(lenderName);
      const members = {
        svc_offer_id: id,
        lender_name: lenderName,
        logo_url: `${this.#cdnUrl}/${logo}${hash === undefined ? '' : `?v=${hash}`}`,
        apr_range: { min: this.#tables.aprMin[slot]! / 100, max: this.#tables.aprMax[slot]! / 100 },
        // The term quoted: the slots of an offer and a band stand in the order of the terms.
        payment_term_months: this.#tables.termMonths[slot % this.#tables.termMonths.length]!,
      };
      text = flattenString(`${JSON.stringify(members).slice(0, -1)},"monthly_payment_estimate":`);
      this.#headsBySlot[slot] = text;
    }
    return text;
  }

  /** From behind the click URL to the position, for a set of open terms. */
  termsJson(openTerms: number): string {
    let text = this.#termsByOpenTerms.get(openTerms);
    if (text === undefined) {
      const months = this.#tables.termMonths.filter((_months, term) => (openTerms & (1 << term)) !== 0);
      text = flattenString(`","term_months":${JSON.stringify(months)},"position":`);
      this.#termsByOpenTerms.set(openTerms, text);
    }
    return text;
  }
}

const applicant = emptyApplicant();
const price = emptyOfferPrice();

/**
 * The offers of an answer (docs/contract.md#offers) as the text of a JSON array: what never changes comes written from the catalog,
 * and only the borrower's numbers, the click URL and the position are filled in. The text is the one `JSON.stringify`
 * gives for the same values.
 *
 * The first `count` of `shown` are written; they come from a ranking of this catalog version for this very borrower, and it is a
 * bug, thrown, to show an offer the borrower cannot have. A click URL is
 * `clickUrlHead`, the sub_id, the offer's id and the sealed value, with parameter names between; the head is given as it stands
 * between the quotes of JSON: an address of ours is escaped once when the service starts, and the others need no escaping.
 */
export function renderOffersJson(
  compiled: CompiledCatalog,
  shown: Uint16Array,
  count: number,
  borrower: Readonly<FieldVector>,
  clickUrlHead: string,
  subId: string,
  sealedValue: string,
): string {
  if (count === 0) return '[]';
  const { tables, offerFragments, offers } = compiled;
  let priced = readApplicant(tables, borrower, applicant);
  let text = '[';
  for (let place = 0; place < count; place++) {
    const offer = shown[place]!;
    priced &&= priceOffer(tables, offer, applicant, price);
    const { id, detailsJson, clickUrlParameters } = offers[offer]!;
    if (!priced) throw new Error(`offer ${id} was not ranked for this borrower`);
    const cents = monthlyPaymentCents(tables, price, applicant.amount);
    const dollars = Math.floor(cents / 100);
    text +=
      offerFragments.headJson(offer, price.slot) +
      (dollars + centSuffixes[cents - dollars * 100]!) +
      ',"loan_amount_range":{"min":' +
      (price.amountMin + ',"max":' + price.amountMax) +
      detailsJson +
      clickUrlHead +
      subId +
      clickUrlParameters +
      sealedValue +
      offerFragments.termsJson(price.openTerms) +
      (place + 1 === count ? lastPositionSuffixes : positionSuffixes)[place]!;
  }
  return text;
}

/** What JSON writes behind the whole dollars: nothing, `.1`, `.01` and so on. Cheaper than printing a double. */
const centSuffixes = Array.from({ length: 100 }, (_, cents) => (cents === 0 ? '' : String(cents / 100).slice(1)));

/** From the position to the end of an offer that another follows, and of the last one. */
const positionSuffixes = Array.from({ length: bounds.offersShownMax }, (_, place) => `${place + 1}},`);
const lastPositionSuffixes = Array.from({ length: bounds.offersShownMax }, (_, place) => `${place + 1}}]`);

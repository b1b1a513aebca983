import { flatText } from '../domain/flat-text.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { type MatchTables, numberedOffers } from './match-tables.ts';

/**
 * The parts of an offer's JSON text that need no borrower, written once for a catalog version. They are long and few on
 * purpose: what an answer costs is the number of strings it is put together from, not their length. All are flat.
 */
export class OfferFragments {
  readonly ids: readonly string[];
  /** By offer: from behind the amounts to the opening quote of the click URL. */
  readonly middles: readonly string[];
  /** By offer: in the click URL, from behind the sub_id to the sealed value. */
  readonly offerParameters: readonly string[];
  /** By offer: from the opening brace to the APR range. */
  readonly #heads: readonly string[];
  readonly #tables: MatchTables;
  // Written when first needed: a large catalog has a million slots, and most are never shown.
  readonly #beginnings: (string | undefined)[];
  readonly #termLists = new Map<number, string>();

  constructor(catalog: CatalogFile, tables: MatchTables, cdnUrl: string) {
    const numbered = numberedOffers(catalog);
    this.#heads = numbered.map(({ lender, offer }) => {
      const members = { svc_offer_id: offer.id, lender_name: lender.name, logo_url: `${cdnUrl}/${lender.logo}` };
      return `${JSON.stringify(members).slice(0, -1)},"apr_range":`;
    });
    this.middles = numbered.map(({ offer }) => {
      const { stars, features, prequalification } = offer;
      return flatText(
        `},${JSON.stringify({ svc_star_rating: stars, features, prequalification }).slice(1, -1)},"click_url":"`,
      );
    });
    this.ids = numbered.map(({ offer }) => offer.id);
    this.offerParameters = this.ids.map((id) => flatText(`&offer=${id}&v=`));
    this.#tables = tables;
    this.#beginnings = new Array<string | undefined>(tables.aprMin.length);
  }

  /** From the opening brace to the monthly payment, for a slot of an offer. */
  beginning(offer: number, slot: number): string {
    let text = this.#beginnings[slot];
    if (text === undefined) {
      const range = { min: this.#tables.aprMin[slot]! / 100, max: this.#tables.aprMax[slot]! / 100 };
      text = flatText(`${this.#heads[offer]!}${JSON.stringify(range)},"monthly_payment_estimate":`);
      this.#beginnings[slot] = text;
    }
    return text;
  }

  /** From behind the click URL to the position, for a set of open terms. */
  termList(openTerms: number): string {
    let text = this.#termLists.get(openTerms);
    if (text === undefined) {
      const months = this.#tables.termMonths.filter((_months, term) => (openTerms & (1 << term)) !== 0);
      text = flatText(`","term_months":${JSON.stringify(months)},"position":`);
      this.#termLists.set(openTerms, text);
    }
    return text;
  }
}

import { bounds } from '../../bounds.ts';
import {
  type CompiledCatalogData,
  type CompiledOffer,
  createLogoUrl,
  formatClickUrlParameters,
  type OfferList,
  type OfferRenderer,
  type OfferRendererOptions,
  type OfferUrls,
  type OfferView,
  type PricedOffer,
} from '../../catalogs/offer-view.ts';
import type { FieldVector } from '../../domain/field-vector.ts';
import { copyToFlatString } from '../../domain/text.ts';
import type { LoanTables } from './loan-tables.ts';
import {
  calculatePrice,
  createEmptyLoanPrice,
  emptyApplicant,
  monthlyPaymentCents,
  readApplicant,
} from './price-offer.ts';

/** Offer of a personal loan in a marketplace response. No member is null, unlike in offers of other products. */
export type LoanOfferView = {
  readonly [Name in keyof OfferView]: Exclude<OfferView[Name], null>;
};

/** Members of an offer view that depend only on the offer, the credit band and the quoted term. */
type OfferHead = Pick<LoanOfferView, 'svc_offer_id' | 'lender_name' | 'logo_url' | 'apr_range' | 'payment_term_months'>;

/** Loan offer of a response, with the prices for one borrower. */
interface PricedLoan extends PricedOffer {
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
  catalog: CompiledCatalogData,
  indexes: ArrayLike<number>,
  borrower: Readonly<FieldVector>,
): PricedLoan[] {
  const tables = catalog.tables as LoanTables;
  const isPriceable = readApplicant(tables, borrower, applicant);
  const priced: PricedLoan[] = [];
  for (let place = 0; place < indexes.length; place++) {
    const index = indexes[place]!;
    if (!isPriceable || !calculatePrice(tables, index, applicant, price)) {
      throw new Error(`offer ${catalog.offers[index]!.id} was not ranked for this borrower`);
    }
    const { slot, amountMin, amountMax, openTerms } = price;
    const paymentCents = monthlyPaymentCents(tables, price, applicant.amount);
    priced.push({ index, slot, paymentCents, amountMin, amountMax, openTerms });
  }
  return priced;
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
export class LoanOfferRenderer implements OfferRenderer {
  /** Advertiser disclosure of the catalog as a JSON string. */
  readonly disclosureJson: string;
  readonly #offers: readonly CompiledOffer[];
  readonly #tables: LoanTables;
  readonly #logosUrl: string;
  readonly #logoHashes: ReadonlyMap<string, string>;
  readonly #headsBySlot: (string | undefined)[];
  readonly #tailsByOffer: (OfferTail | undefined)[];
  readonly #termsByOpenTerms = new Map<number, string>();

  constructor(...[{ disclosure, offers, tables }, logosUrl, logoHashes]: OfferRendererOptions) {
    this.disclosureJson = JSON.stringify(disclosure);
    this.#offers = offers;
    this.#tables = tables as LoanTables;
    this.#logosUrl = logosUrl;
    this.#logoHashes = logoHashes;
    this.#headsBySlot = new Array<string | undefined>(this.#tables.aprMin.length);
    this.#tailsByOffer = new Array<OfferTail | undefined>(offers.length);
  }

  createOfferViews({ offers, subId, clickToken }: OfferList<PricedLoan>, { clickPrefix }: OfferUrls): LoanOfferView[] {
    return offers.map(({ index, slot, paymentCents, amountMin, amountMax, openTerms }, place) => {
      const { id, details } = this.#offers[index]!;
      return {
        ...this.#createMembersBeforePrices(index, slot),
        monthly_payment_estimate: paymentCents / 100,
        loan_amount_range: { min: amountMin, max: amountMax },
        ...details,
        features: [...details.features],
        click_url: `${clickPrefix}${subId}${formatClickUrlParameters(id)}${clickToken}`,
        term_months: this.#termMonths(openTerms),
        position: place + 1,
      };
    });
  }

  renderOffersJson({ offers, subId, clickToken }: OfferList<PricedLoan>, { clickPrefixJson }: OfferUrls): string {
    if (offers.length === 0) return '[]';
    const lastPlace = offers.length - 1;
    let text = '[';
    for (let place = 0; place <= lastPlace; place++) {
      const { index, slot, paymentCents, amountMin, amountMax, openTerms } = offers[place]!;
      const { detailsJson, urlParameters } = this.#renderMembersAfterPrices(index);
      const dollars = Math.floor(paymentCents / 100);
      text +=
        this.#renderMembersBeforePrices(index, slot) +
        (dollars + centSuffixes[paymentCents - dollars * 100]!) +
        ',"loan_amount_range":{"min":' +
        (amountMin + ',"max":' + amountMax) +
        detailsJson +
        clickPrefixJson +
        subId +
        urlParameters +
        clickToken +
        this.#termMonthsJson(openTerms) +
        (place === lastPlace ? lastPositionSuffixes : positionSuffixes)[place]!;
    }
    return text;
  }

  #createMembersBeforePrices(index: number, slot: number): OfferHead {
    const offer = this.#offers[index]!;
    return {
      svc_offer_id: offer.id,
      lender_name: offer.lenderName,
      logo_url: createLogoUrl(offer, this.#logosUrl, this.#logoHashes),
      apr_range: { min: this.#tables.aprMin[slot]! / 100, max: this.#tables.aprMax[slot]! / 100 },
      payment_term_months: this.#tables.termMonths[this.#tables.slotTerm[slot]!]!,
    };
  }

  #termMonths(openTerms: number): number[] {
    return this.#tables.termMonths.filter((_months, term) => (openTerms & (1 << term)) !== 0).sort((a, b) => a - b);
  }

  /** Returns the JSON fragment from the opening brace of an offer to the name of the member `monthly_payment_estimate`. */
  #renderMembersBeforePrices(index: number, slot: number): string {
    this.#headsBySlot[slot] ??= copyToFlatString(
      `${JSON.stringify(this.#createMembersBeforePrices(index, slot)).slice(0, -1)},"monthly_payment_estimate":`,
    );
    return this.#headsBySlot[slot];
  }

  #renderMembersAfterPrices(index: number): OfferTail {
    let tail = this.#tailsByOffer[index];
    if (tail === undefined) {
      const { id, details } = this.#offers[index]!;
      tail = {
        detailsJson: copyToFlatString(`},${JSON.stringify(details).slice(1, -1)},"click_url":"`),
        urlParameters: copyToFlatString(formatClickUrlParameters(id)),
      };
      this.#tailsByOffer[index] = tail;
    }
    return tail;
  }

  /** Returns the JSON fragment that follows the click URL: the member `term_months` and the name of the member `position`. */
  #termMonthsJson(openTerms: number): string {
    let text = this.#termsByOpenTerms.get(openTerms);
    if (text === undefined) {
      text = copyToFlatString(`","term_months":${JSON.stringify(this.#termMonths(openTerms))},"position":`);
      this.#termsByOpenTerms.set(openTerms, text);
    }
    return text;
  }
}

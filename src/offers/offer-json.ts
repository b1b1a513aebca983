import { bounds } from '../bounds.ts';
import type { FieldVector } from '../verticals/pocket-vector.ts';
import type { CompiledCatalog } from './compile-catalog.ts';
import { emptyApplicant, emptyOfferPrice, monthlyPaymentCents, priceOffer, readApplicant } from './price-offer.ts';

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

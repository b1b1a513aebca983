import type { Offer } from '../offer.ts';
import type { SortOrder } from '../settings.ts';

/** A figure of an offer. `kind` contains its CSS classes, and `note` is a text below the value. A figure without a value is not shown. */
export type Figure = readonly [kind: string, name: string, value: Text, note?: Text];

/** A text that an offer may lack. */
type Text = string | null | undefined;

/** Parts of an offer card that depend on the product. The other parts are the same in all cards. */
export interface OfferCardContent {
  /** Name of the offered product: the heading of the card, with the lender's name below it. Default: the lender's name. */
  readonly productName?: string | null | undefined;
  /** Text below the names, such as a registration number; null for none. */
  readonly lenderNote: string | null;
  /** Figures of the offer, most important first. */
  readonly figures: readonly Figure[];
  /** Content of the details section, above the feature tags. */
  readonly details: readonly (HTMLElement | null)[];
}

/** How the widget shows the offers of one product. All texts are known before the first offers arrive. */
export interface ProductView {
  /** Name of the product in CSS classes. */
  readonly name: string;
  readonly title: string;
  /** Display name of each sort order that the product supports. */
  readonly sortOrderLabels: Readonly<Partial<Record<SortOrder, string>>>;
  /** Paragraphs of the disclosure that describe the sort orders, except `svc_revenue`. */
  readonly orderDisclosure: readonly string[];
  /** Paragraph of the disclosure that states that lenders pay us. */
  readonly paymentDisclosure: string;
  /** Note between the disclosure and the offers. */
  readonly caveat: string;
  readonly action: {
    readonly text: string;
    /** Text for an offer with prequalification, and a note about the credit score. */
    readonly prequalificationText: string;
    readonly prequalificationNote: string | null;
  };
  /**
   * Returns the advice to a borrower without matching offers.
   *
   * @param loan requested loan amount, such as `$10,000`; null for products without one
   */
  createNoOffersAdvice(loan: string | null): string;
  /**
   * Creates the content of an offer card.
   *
   * @param loanAmount requested loan amount in USD; null for products without one
   */
  createOfferCardContent(offer: Offer, loanAmount: number | null): OfferCardContent;
  /** Puts the lender's logo into a drawing of the product. Default: the logo alone. */
  createPicture?(logo: HTMLElement, offer: Offer): HTMLElement;
}

/** Returns the labels of the sort orders of a product. Only two labels depend on the product. */
export function createSortOrderLabels(lowestApr: string, highestAmount: string): ProductView['sortOrderLabels'] {
  return {
    recommended: 'Recommended',
    lowest_apr: lowestApr,
    highest_amount: highestAmount,
    svc_revenue: 'Sponsored first',
  };
}

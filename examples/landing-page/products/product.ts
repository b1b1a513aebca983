import type { Offer } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
import type { Field } from '../form/fields.ts';
import type { Question } from '../form/questions.ts';

/** A figure of an offer card. */
export interface OfferFigure {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
}

/** Texts, fields and offers of the pages of one product. The other parts of the pages are the same for all products. */
export interface Product {
  /** Path segment of the vertical in the API, and of the pages of the product. */
  readonly segment: string;
  /** Name in the navigation. */
  readonly name: string;
  /** Sentence on the start page. */
  readonly summary: string;
  /** Explanation beside the form of variant A. */
  readonly pitch: { readonly title: string; readonly text: string; readonly benefits: readonly string[] };
  /** Parts of the form of variant A. Both variants ask for the same fields, so that only their design differs, not the offers. */
  readonly sections: readonly { readonly title: string; readonly fields: readonly Field[] }[];
  /** Heading of the first question of variant B. */
  readonly quizTitle: string;
  /** Questions of variant B in order. Easy questions come first, because visitors who have started usually continue. */
  readonly questions: readonly Question[];
  readonly offers: {
    readonly title: string;
    /** Names the amount that the visitor asked for, above the offers; absent for products without an amount. */
    readonly request?: { readonly text: string; readonly field: string };
    /** Sentences below the offer cards. */
    readonly caveat: string;
    /** Explanation and advice if no offer matches. */
    readonly none: { readonly text: string; readonly advice: readonly string[] };
    /** Text for an offer that the visitor can check before applying; null for products without such a check. */
    readonly prequalification: string | null;
    /** Returns the name of the offered product, the heading of an offer card; absent for products without a name. */
    readonly productName?: (offer: Offer) => string;
    /** Returns the figures of an offer card, most important first. */
    readonly figures: (offer: Offer, answers: Answers) => readonly OfferFigure[];
  };
  readonly revenue: {
    /** Explains the confirmed revenue in one line. */
    readonly confirmed: string;
    /** Explains when revenue is confirmed. */
    readonly timing: string;
  };
}

export function fieldsOf({ sections }: Product): readonly Field[] {
  return sections.flatMap(({ fields }) => fields);
}

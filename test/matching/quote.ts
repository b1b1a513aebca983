import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { FieldVector } from '../../src/verticals/field-vector.ts';
import {
  emptyApplicant,
  emptyOfferPrice,
  monthlyPaymentCents,
  priceOffer,
  readApplicant,
} from '../../src/verticals/personal-loans/price-offer.ts';

/** The borrower's own numbers for one offer, as answered (docs/contract.md#offers). */
export interface Quote {
  /** Percent, two decimals. */
  readonly apr_range: { readonly min: number; readonly max: number };
  /** The term, in months, that the payment is for. */
  readonly payment_term_months: number;
  /** USD to the cent. */
  readonly monthly_payment_estimate: number;
  /** Whole USD. */
  readonly loan_amount_range: { readonly min: number; readonly max: number };
  /** The terms open to the borrower for the amount asked for, ascending. */
  readonly term_months: readonly number[];
}

/** What the pricing of one offer alone comes to for a borrower, or null when it cannot be priced. */
export function quote(compiled: CompiledCatalog, offerIndex: number, borrower: Readonly<FieldVector>): Quote | null {
  const { tables } = compiled;
  const applicant = emptyApplicant();
  const price = emptyOfferPrice();
  if (!readApplicant(tables, borrower, applicant) || !priceOffer(tables, offerIndex, applicant, price)) return null;
  return {
    apr_range: { min: tables.aprMin[price.slot]! / 100, max: tables.aprMax[price.slot]! / 100 },
    payment_term_months: tables.termMonths[price.termIndex]!,
    monthly_payment_estimate: monthlyPaymentCents(tables, price, applicant.amount) / 100,
    loan_amount_range: { min: price.amountMin, max: price.amountMax },
    term_months: tables.termMonths.filter((_months, term) => (price.openTerms & (1 << term)) !== 0),
  };
}

import type { OfferRendererOptions, OfferView } from '../../catalogs/offer-view.ts';
import { createOfferPricing, TemplateOfferRenderer } from '../common/template-offer-renderer.ts';
import type { LoanTables } from './loan-tables.ts';
import { calculatePrice, createEmptyLoanPrice, monthlyPaymentCents, readApplicant } from './price-offer.ts';

/** Offer of a personal loan in a marketplace response. No member is null, unlike in offers of other products. */
export type LoanOfferView = {
  readonly [Name in keyof OfferView]: Exclude<OfferView[Name], null>;
};

const price = createEmptyLoanPrice();

/** Prices the offers of a response. The values of an offer are the monthly payment, and the smallest and largest amount. */
export const calculateLoanPrices = createOfferPricing(readApplicant, (tables: LoanTables, index, applicant) => {
  if (!calculatePrice(tables, index, applicant, price)) return null;
  const { slot, amountMin, amountMax, openTerms } = price;
  const paymentUsd = monthlyPaymentCents(tables, price, applicant.amount) / 100;
  return { index, slot: slot * countTermSets(tables) + openTerms, values: [paymentUsd, amountMin, amountMax] };
});

/** Returns the number of sets of terms. The number of a template is a slot times this number, plus the set of available terms. */
function countTermSets({ termMonths }: LoanTables): number {
  return 1 << termMonths.length;
}

/** Creates the renderer of loan offers. */
export function createLoanRenderer(...options: OfferRendererOptions): TemplateOfferRenderer {
  const tables = options[0].tables as LoanTables;
  const { aprMin, aprMax, termMonths, slotTerm } = tables;
  const termSets = countTermSets(tables);
  return new TemplateOfferRenderer(options, (_offer, template, [paymentUsd, amountMin, amountMax]) => {
    const slot = Math.floor(template / termSets);
    const openTerms = template % termSets;
    return {
      apr_range: { min: aprMin[slot]! / 100, max: aprMax[slot]! / 100 },
      payment_term_months: termMonths[slotTerm[slot]!]!,
      monthly_payment_estimate: paymentUsd as number,
      loan_amount_range: { min: amountMin as number, max: amountMax as number },
      term_months: termMonths.filter((_months, term) => (openTerms & (1 << term)) !== 0).toSorted((a, b) => a - b),
    };
  });
}

import Type, { type Static } from 'typebox';
import type { CompiledCatalog } from '../../catalogs/compile-catalog.ts';
import { roundHalfUp } from '../../domain/money.ts';
import type { FieldVector } from '../field-vector.ts';
import type { OfferRendererOptions, OfferView } from '../offer-view.ts';
import { type OfferFigures, TemplateOfferRenderer, type TemplatePricedOffer } from '../template-offer-renderer.ts';
import { lenderFeesFigure, type MortgageTables, pointsFigure, scheduleFigure } from './mortgage-tables.ts';
import { loanTypes, type MortgageOffer, rateTypeOf } from './offer-schema.ts';
import { costOverFiveYearsCents, emptyLoanPrice, loanAprPercent, priceLoan } from './price-loan.ts';
import { availableTerms, emptyApplicant, emptyLoanQuote, largestLoan, quoteLoan, readApplicant } from './quote-loan.ts';
import { toAprKey } from './rank-mortgages.ts';

/** Schema of the member `mortgage` of an offer view (docs/verticals/mortgage.md#offer-members). */
export const mortgageViewMembers = {
  mortgage: Type.Object(
    {
      loan_type: Type.Enum([...loanTypes], { description: 'Program of the loan.' }),
      rate_type: Type.Enum(['fixed', 'adjustable']),
      fixed_months: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        description: 'Months before the rate of an adjustable loan may change; `null` for a fixed rate.',
      }),
      rate: Type.Number({ description: 'Yearly note rate in percent; the initial rate of an adjustable loan.' }),
      points_percent: Type.Number({ minimum: 0, description: 'Points paid at closing, in percent of `loan_amount`.' }),
      lender_fees: Type.Number({ minimum: 0, description: 'Fees of the lender paid at closing, in USD.' }),
      loan_amount: Type.Number({ minimum: 0, description: 'Loan in USD, without a financed upfront premium.' }),
      ltv_percent: Type.Number({ minimum: 0, description: '`loan_amount` in percent of the value of the home.' }),
      principal_and_interest: Type.Number({ description: 'First monthly payment of principal and interest, in USD.' }),
      mortgage_insurance: Type.Number({ minimum: 0, description: 'Mortgage insurance of the first month, in USD.' }),
      mortgage_insurance_months: Type.Integer({ minimum: 0, description: 'Months with mortgage insurance.' }),
      cost_over_five_years: Type.Number({
        description:
          'Payments of five years, points, fees, prepaid interest and upfront premium, less principal repaid, in USD.',
      }),
      lock_days: Type.Integer({ minimum: 1, description: 'Days for which the lender holds the rate.' }),
      nmls_id: Type.String({ description: 'Identifier of the lender in the Nationwide Multistate Licensing System.' }),
    },
    { additionalProperties: false },
  ),
};

/** Figures of the member `mortgage` of an offer. */
export type MortgageView = Static<typeof mortgageViewMembers.mortgage>;

/** Offer of a mortgage in a marketplace response. */
export type MortgageOfferView = OfferView & { readonly mortgage: MortgageView };

const applicant = emptyApplicant();
const quote = emptyLoanQuote();
const price = emptyLoanPrice();

/**
 * Prices the offers of a response for a borrower.
 *
 * @throws Error if the borrower cannot get one of the offers, which means that the ranking is incorrect
 */
export function priceMortgages(
  catalog: CompiledCatalog,
  indexes: ArrayLike<number>,
  borrower: Readonly<FieldVector>,
): TemplatePricedOffer[] {
  const tables = catalog.tables as MortgageTables;
  const isPriceable = readApplicant(tables, borrower, applicant);
  return Array.from(indexes, (index) => {
    if (!isPriceable || !quoteLoan(tables, index, applicant, quote)) {
      throw new Error(`offer ${catalog.offers[index]!.id} was not ranked for this borrower`);
    }
    return priceMortgage(tables, index);
  });
}

/** Computes the figures of the offer in `quote` for `applicant`, in the order in which `createFigures` reads them. */
function priceMortgage(tables: MortgageTables, index: number): TemplatePricedOffer {
  priceLoan(tables, index, applicant, quote, price);
  const { amount, value } = applicant;
  const { slot } = quote;
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigure]!;
  return {
    index,
    slot: index * 2 ** tables.termMonths.length + availableTerms(tables, index, applicant, quote),
    values: [
      toAprKey(loanAprPercent(tables, index, applicant, quote, price)) / 100,
      schedules.termMonths[schedule]!,
      roundHalfUp(price.principalAndInterest + price.firstPremium, 2),
      tables.amountMin[index]!,
      largestLoan(tables, index, applicant, quote),
      schedules.rate[schedule]! / 1_000,
      tables.prices[slot + pointsFigure]! / 1_000,
      tables.prices[slot + lenderFeesFigure]!,
      amount,
      roundHalfUp((amount * 100) / value, 2),
      roundHalfUp(price.principalAndInterest, 2),
      roundHalfUp(price.firstPremium, 2),
      price.premiumMonths,
      costOverFiveYearsCents(tables, index, applicant, quote, price) / 100,
    ],
  };
}

/** Creates the renderer of mortgage offers. */
export function createMortgageRenderer(...options: OfferRendererOptions): TemplateOfferRenderer {
  const tables = options[0].tables as MortgageTables;
  return new TemplateOfferRenderer(options, ({ source }, slot, values) =>
    createFigures(tables, source as MortgageOffer, slot, values),
  );
}

function createFigures(
  { termMonths, nmlsIds }: MortgageTables,
  offer: MortgageOffer,
  slot: number,
  values: readonly (number | null)[],
): OfferFigures {
  const [apr, term, payment, amountMin, amountMax, rate, points, fees, amount, ltv, ...rest] = values as number[];
  const [principalAndInterest, premium, premiumMonths, cost] = rest;
  const availableTerms = slot % 2 ** termMonths.length;
  return {
    apr_range: { min: apr!, max: apr! },
    payment_term_months: term!,
    monthly_payment_estimate: payment!,
    loan_amount_range: { min: amountMin!, max: amountMax! },
    term_months: termMonths.filter((_months, at) => (availableTerms & (1 << at)) !== 0),
    mortgage: {
      loan_type: offer.loan_type,
      rate_type: rateTypeOf(offer),
      fixed_months: offer.adjustable?.fixed_months ?? null,
      rate: rate!,
      points_percent: points!,
      lender_fees: fees!,
      loan_amount: amount!,
      ltv_percent: ltv!,
      principal_and_interest: principalAndInterest!,
      mortgage_insurance: premium!,
      mortgage_insurance_months: premiumMonths!,
      cost_over_five_years: cost!,
      lock_days: offer.lock_days,
      nmls_id: nmlsIds[Math.floor(slot / 2 ** termMonths.length)]!,
    },
  };
}

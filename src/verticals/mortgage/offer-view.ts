import Type, { type Static } from 'typebox';
import type { CompiledCatalog } from '../../catalogs/compile-catalog.ts';
import { roundHalfUp } from '../../domain/money.ts';
import type { FieldVector } from '../field-vector.ts';
import { nullableSchema } from '../nullable-schema.ts';
import type { OfferRendererOptions, OfferView } from '../offer-view.ts';
import { type OfferFigures, TemplateOfferRenderer, type TemplatePricedOffer } from '../template-offer-renderer.ts';
import {
  lenderFeesFigureIndex,
  type MortgageTables,
  pointsFigureIndex,
  scheduleFigureIndex,
} from './mortgage-tables.ts';
import { getRateType, loanTypes, type MortgageOffer } from './offer-schema.ts';
import {
  computeCostOverFiveYearsCents,
  computeLoanAprPercent,
  createEmptyMortgageLoanPrice,
  priceLoan,
} from './price-loan.ts';
import {
  computeAvailableTermBits,
  computeLargestLoanUsd,
  createEmptyLoanQuote,
  emptyApplicant,
  quoteLoan,
  readApplicant,
} from './quote-loan.ts';
import { toAprHundredths } from './rank-mortgages.ts';

/** Schema of the member `mortgage` of an offer view (docs/verticals/mortgage.md#offer-members). */
export const mortgageViewMembers = {
  mortgage: Type.Object(
    {
      loan_type: Type.Enum([...loanTypes], { description: 'Program of the loan.' }),
      rate_type: Type.Enum(['fixed', 'adjustable']),
      fixed_months: nullableSchema(
        Type.Integer({
          minimum: 1,
          description: 'Months before the rate of an adjustable loan may change; `null` for a fixed rate.',
        }),
      ),
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
const quote = createEmptyLoanQuote();
const price = createEmptyMortgageLoanPrice();

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

/** Names of the figures that depend on the borrower, in the order of `TemplatePricedOffer.values`. */
const valueNames = [
  'aprPercent',
  'termMonths',
  'payment',
  'amountMin',
  'largestLoan',
  'ratePercent',
  'pointsPercent',
  'lenderFees',
  'amount',
  'ltvPercent',
  'principalAndInterest',
  'firstPremium',
  'premiumMonths',
  'costOverFiveYears',
] as const;

type LoanValues = Readonly<Record<(typeof valueNames)[number], number>>;

/** Computes the offer's figures for `applicant`, at the term and price in `quote`. */
function priceMortgage(tables: MortgageTables, index: number): TemplatePricedOffer {
  priceLoan(tables, index, applicant, quote, price);
  const { amount, value } = applicant;
  const { slot: priceSlot } = quote;
  const { schedules, prices } = tables;
  const schedule = prices[priceSlot + scheduleFigureIndex]!;
  const figures: LoanValues = {
    aprPercent: toAprHundredths(computeLoanAprPercent(tables, index, applicant, quote, price)) / 100,
    termMonths: schedules.termMonths[schedule]!,
    payment: roundHalfUp(price.principalAndInterest + price.firstPremium, 2),
    amountMin: tables.amountMin[index]!,
    largestLoan: computeLargestLoanUsd(tables, index, applicant, quote),
    ratePercent: schedules.rate[schedule]! / 1_000,
    pointsPercent: prices[priceSlot + pointsFigureIndex]! / 1_000,
    lenderFees: prices[priceSlot + lenderFeesFigureIndex]!,
    amount,
    ltvPercent: roundHalfUp((amount * 100) / value, 2),
    principalAndInterest: roundHalfUp(price.principalAndInterest, 2),
    firstPremium: roundHalfUp(price.firstPremium, 2),
    premiumMonths: price.premiumMonths,
    costOverFiveYears: computeCostOverFiveYearsCents(tables, index, applicant, quote, price) / 100,
  };
  return {
    index,
    slot: templateNumberOf(tables, index, computeAvailableTermBits(tables, index, applicant, quote)),
    values: valueNames.map((name) => figures[name]),
  };
}

/** Returns the number of the template for an offer and a set of available terms. */
function templateNumberOf({ termMonths }: MortgageTables, offer: number, terms: number): number {
  return offer * 2 ** termMonths.length + terms;
}

/** Returns the offer and the set of available terms of a template. */
function decodeTemplateNumber({ termMonths }: MortgageTables, template: number) {
  const sets = 2 ** termMonths.length;
  return { offer: Math.floor(template / sets), terms: template % sets };
}

/** Creates the renderer of mortgage offers. */
export function createMortgageRenderer(...options: OfferRendererOptions): TemplateOfferRenderer {
  const tables = options[0].tables as MortgageTables;
  return new TemplateOfferRenderer(options, ({ source }, template, values) =>
    createFigures(tables, source as MortgageOffer, template, values),
  );
}

function createFigures(
  tables: MortgageTables,
  offer: MortgageOffer,
  template: number,
  values: readonly (number | null)[],
): OfferFigures {
  const figures = Object.fromEntries(valueNames.map((name, at) => [name, values[at]])) as LoanValues;
  const { offer: index, terms } = decodeTemplateNumber(tables, template);
  return {
    apr_range: { min: figures.aprPercent, max: figures.aprPercent },
    payment_term_months: figures.termMonths,
    monthly_payment_estimate: figures.payment,
    loan_amount_range: { min: figures.amountMin, max: figures.largestLoan },
    term_months: tables.termMonths.filter((_months, at) => (terms & (1 << at)) !== 0),
    mortgage: {
      loan_type: offer.loan_type,
      rate_type: getRateType(offer),
      fixed_months: offer.adjustable?.fixed_months ?? null,
      rate: figures.ratePercent,
      points_percent: figures.pointsPercent,
      lender_fees: figures.lenderFees,
      loan_amount: figures.amount,
      ltv_percent: figures.ltvPercent,
      principal_and_interest: figures.principalAndInterest,
      mortgage_insurance: figures.firstPremium,
      mortgage_insurance_months: figures.premiumMonths,
      cost_over_five_years: figures.costOverFiveYears,
      lock_days: offer.lock_days,
      nmls_id: tables.nmlsIds[index]!,
    },
  };
}

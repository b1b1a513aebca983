import Type, { type Static } from 'typebox';
import type { OfferRendererOptions, OfferView } from '../../catalogs/offer-view.ts';
import { roundHalfUp } from '../../domain/money.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import {
  copyDescribedMembers,
  createOfferPricing,
  type OfferFigures,
  type OfferValue,
  TemplateOfferRenderer,
  type TemplatePricedOffer,
} from '../common/template-offer-renderer.ts';
import {
  lenderFeesFigureIndex,
  type MortgageTables,
  pointsFigureIndex,
  scheduleFigureIndex,
} from './mortgage-tables.ts';
import { getRateAdjustment, getRateType, loanTypes, type MortgageOffer } from './offer-schema.ts';
import {
  computeCostOverFiveYearsCents,
  computeLoanAprPercent,
  createEmptyMortgageLoanPrice,
  listPaymentPeriods,
  type PaymentPeriod,
  priceLoan,
} from './price-loan.ts';
import {
  type Applicant,
  computeAvailableTermBits,
  computeLargestLoanUsd,
  createEmptyLoanQuote,
  quoteLoan,
  readApplicant,
} from './quote-loan.ts';
import { toAprHundredths } from './rank-mortgages.ts';

const percent = (description: string) => Type.Number({ minimum: 0, description: `${description}, in percent.` });

/** Schema of the member `adjustable` of `mortgage`. */
const adjustableRateSchema = Type.Object(
  {
    index_percent: percent('Value of the index on the date `as_of`'),
    margin_percent: percent('Margin, which is added to the index'),
    fully_indexed_rate: percent('Sum of index and margin'),
    caps_percent: Type.Object(
      {
        first: percent('Largest change of the rate at the first adjustment'),
        periodic: percent('Largest change of the rate at each later adjustment'),
        lifetime: percent('Largest increase over the initial rate'),
      },
      { additionalProperties: false, description: 'Limits of the changes of the rate.' },
    ),
    adjustment_months: Type.Integer({ minimum: 1, description: 'Months between two adjustments of the rate.' }),
    payments: Type.Array(
      Type.Object(
        {
          from_month: Type.Integer({ minimum: 1, description: 'Number of the first of these payments.' }),
          rate: percent('Yearly rate'),
          payment: Type.Number({
            minimum: 0,
            description: 'Monthly payment of principal, interest and mortgage insurance, in USD.',
          }),
        },
        { additionalProperties: false },
      ),
      {
        minItems: 1,
        description: 'All payments of the loan: an item for each change. The APR is the APR of these payments.',
      },
    ),
  },
  { additionalProperties: false, description: 'Rule and payments of an adjustable rate; `null` for a fixed rate.' },
);

/** Schema of the member `mortgage` of an offer view (docs/verticals/mortgage.md#offer-members). */
export const mortgageViewMembers = {
  mortgage: Type.Object(
    {
      loan_type: Type.Enum([...loanTypes], { type: 'string', description: 'Program of the loan.' }),
      rate_type: Type.Enum(['fixed', 'adjustable'], { type: 'string' }),
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
      upfront_premium: Type.Number({
        minimum: 0,
        description: 'Upfront premium or fee of the loan type in USD, added to the loan; 0 if none.',
      }),
      adjustable: nullableSchema(adjustableRateSchema),
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

const quote = createEmptyLoanQuote();
const price = createEmptyMortgageLoanPrice();

/** Prices the offers of a response. */
export const priceMortgages = createOfferPricing(
  readApplicant,
  (tables: MortgageTables, index, applicant, { source }) => {
    if (!quoteLoan(tables, index, applicant, quote)) return null;
    return priceMortgage(tables, index, applicant, (source as MortgageOffer).adjustable !== undefined);
  },
);

/**
 * Names of the figures that depend on the borrower, in the order of `TemplatePricedOffer.values`: figures of the common members of an offer,
 * then members of `mortgage`. The payments of an adjustable loan follow as one more value.
 */
const valueNames = [
  ...(['aprPercent', 'termMonths', 'payment', 'amountMin', 'largestLoan'] as const),
  'rate',
  'points_percent',
  'lender_fees',
  'loan_amount',
  'ltv_percent',
  'principal_and_interest',
  'mortgage_insurance',
  'mortgage_insurance_months',
  'upfront_premium',
  'cost_over_five_years',
] as const;

type LoanValues = Readonly<Record<(typeof valueNames)[number], number>>;

/** Computes the offer's figures at the term and price in `quote`. */
function priceMortgage(
  tables: MortgageTables,
  index: number,
  applicant: Applicant,
  isAdjustable: boolean,
): TemplatePricedOffer {
  priceLoan(tables, index, applicant, quote, price);
  const { amount, ltvHundredths } = applicant;
  const { slot: priceSlot } = quote;
  const { schedules, prices } = tables;
  const schedule = prices[priceSlot + scheduleFigureIndex]!;
  const figures: LoanValues = {
    aprPercent: toAprHundredths(computeLoanAprPercent(tables, index, applicant, quote, price)) / 100,
    termMonths: schedules.termMonths[schedule]!,
    payment: roundHalfUp(price.principalAndInterest + price.firstPremium, 2),
    amountMin: tables.amountMin[index]!,
    largestLoan: computeLargestLoanUsd(tables, index, applicant, quote),
    rate: schedules.rate[schedule]! / 1_000,
    points_percent: prices[priceSlot + pointsFigureIndex]! / 1_000,
    lender_fees: prices[priceSlot + lenderFeesFigureIndex]!,
    loan_amount: amount,
    ltv_percent: ltvHundredths / 100,
    principal_and_interest: roundHalfUp(price.principalAndInterest, 2),
    mortgage_insurance: roundHalfUp(price.firstPremium, 2),
    mortgage_insurance_months: price.premiumMonths,
    upfront_premium: roundHalfUp(price.upfrontPremium, 2),
    cost_over_five_years: computeCostOverFiveYearsCents(tables, index, applicant, quote, price) / 100,
  };
  const values: OfferValue[] = valueNames.map((name) => figures[name]);
  if (isAdjustable) values.push(listPaymentPeriods(tables, index, applicant, quote, price));
  return {
    index,
    slot: templateNumberOf(tables, index, computeAvailableTermBits(tables, index, applicant, quote)),
    values,
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
  values: readonly OfferValue[],
): OfferFigures {
  const figures = Object.fromEntries(valueNames.map((name, at) => [name, values[at]])) as LoanValues;
  const { offer: index, terms } = decodeTemplateNumber(tables, template);
  return {
    apr_range: { min: figures.aprPercent, max: figures.aprPercent },
    payment_term_months: figures.termMonths,
    monthly_payment_estimate: figures.payment,
    loan_amount_range: { min: figures.amountMin, max: figures.largestLoan },
    term_months: tables.termMonths.filter((_months, at) => (terms & (1 << at)) !== 0),
    mortgage: copyDescribedMembers(mortgageViewMembers.mortgage, offer, {
      ...figures,
      rate_type: getRateType(offer),
      fixed_months: offer.adjustable?.fixed_months,
      adjustable: createAdjustableRate(offer, values[valueNames.length] as PaymentPeriod[]),
      nmls_id: tables.nmlsIds[index],
    }),
  };
}

/** Creates the member `adjustable` of an offer; null for a fixed rate, which has no `payments`. */
function createAdjustableRate(offer: MortgageOffer, payments: PaymentPeriod[]): MortgageView['adjustable'] {
  if (offer.adjustable === undefined) return null;
  const { index_percent, margin_percent, caps_percent, adjustment_months } = offer.adjustable;
  const fully_indexed_rate = getRateAdjustment(offer)!.indexedRate / 1_000;
  return { index_percent, margin_percent, fully_indexed_rate, caps_percent, adjustment_months, payments };
}

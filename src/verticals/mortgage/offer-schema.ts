import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import {
  catalogSchema,
  createDictionarySchema,
  disclosedOfferSchemas,
  lenderSchema,
  minimumAgeFileMembers,
  strictObject,
} from '../../catalogs/catalog-schema.ts';
import { type Price, percentToThousandths, pricePartSchemas, sumPriceParts, toMortgagePrice } from './price-parts.ts';

/** Schema of the members that only the catalog files of mortgages have (docs/verticals/mortgage.md#catalog). */

export const loanTypes = ['conventional', 'fha', 'va', 'usda', 'jumbo'] as const;
const percent = (minimum: number, maximum: number) => Type.Number({ minimum, maximum });
const probability = Type.Number({ minimum: 0, maximum: 1 });
const amountUsd = Type.Integer({ minimum: 1, maximum: bounds.offerAmountUsdMax });
const loanToValue = percent(1, 100);
const rate = percent(0, bounds.aprPercentMax);

const term = Type.Object({ ...pricePartSchemas, rate_percent: rate }, strictObject);
const loanToValueBand = Type.Object({ max_ltv_percent: loanToValue, ...pricePartSchemas }, strictObject);
const creditBand = Type.Object(
  {
    max_ltv_percent: loanToValue,
    ...pricePartSchemas,
    approval_likelihood: probability,
    confirm_rate: probability,
  },
  strictObject,
);
const adjustable = Type.Object(
  {
    fixed_months: Type.Enum([36, 60, 84, 120]),
    adjustment_months: Type.Enum([6, 12]),
    index_percent: rate,
    margin_percent: rate,
    caps_percent: Type.Object({ first: rate, periodic: rate, lifetime: rate }, strictObject),
  },
  strictObject,
);

const offer = Type.Object(
  {
    ...disclosedOfferSchemas,
    loan_type: Type.Enum([...loanTypes]),
    adjustable: Type.Optional(adjustable),
    amount: Type.Object({ min: amountUsd, max: amountUsd }, strictObject),
    max_debt_to_income_percent: Type.Optional(percent(1, 100)),
    lock_days: Type.Integer({ minimum: 1, maximum: 365 }),
    terms: createDictionarySchema(term),
    ltv_bands: Type.Array(loanToValueBand, { minItems: 1, maxItems: bounds.mortgageLoanToValueBandsMax }),
    bands: createDictionarySchema(creditBand),
  },
  strictObject,
);

const lenderMembers = { nmls_id: Type.String({ pattern: '^[1-9][0-9]{0,9}$' }) };

export const mortgageSchema = { fileMembers: minimumAgeFileMembers, lenderMembers, offer };

const lender = lenderSchema(lenderMembers, offer);
const catalog = catalogSchema(minimumAgeFileMembers, lender);

export type MortgageCatalog = Static<typeof catalog>;
export type MortgageLender = Static<typeof lender>;
export type MortgageOffer = Static<typeof offer>;

/** Price of an offer with the combination of bands and term for which it is valid. */
export interface OfferPrice {
  readonly creditBand: string;
  /** Index in `ltv_bands`. */
  readonly ltvBand: number;
  /** Term in months, as named in `terms`. */
  readonly term: string;
  readonly price: Price;
}

/**
 * Lists the prices of an offer that borrowers can reach: one for each term, credit band and loan-to-value band within the limit of the
 * credit band.
 */
export function listOfferPrices(offer: MortgageOffer): OfferPrice[] {
  const terms = Object.entries(offer.terms).map(([term, part]) => ({ term, part: toMortgagePrice(part) }));
  const ltvParts = offer.ltv_bands.map(toMortgagePrice);
  const prices: OfferPrice[] = [];
  for (const [creditBand, band] of Object.entries(offer.bands)) {
    const bandPart = toMortgagePrice(band);
    for (const [ltvBand, ltvPart] of ltvParts.entries()) {
      if (ltvBand > 0 && band.max_ltv_percent <= offer.ltv_bands[ltvBand - 1]!.max_ltv_percent) break;
      for (const { term, part } of terms) {
        prices.push({ creditBand, ltvBand, term, price: sumPriceParts(part, ltvPart, bandPart) });
      }
    }
  }
  return prices;
}

/** Returns how mortgage insurance works for a loan type (docs/verticals/mortgage.md#mortgage-insurance). */
export function getInsuranceKind({ loan_type }: Pick<MortgageOffer, 'loan_type'>): 'private' | 'fha' | 'usda' | 'none' {
  if (loan_type === 'fha' || loan_type === 'usda') return loan_type;
  return loan_type === 'va' ? 'none' : 'private';
}

/** Loan-to-value ratio, in percent, above which conventional and jumbo loans have mortgage insurance. */
export const privateInsuranceLtvPercent = 80;

export function getRateType({ adjustable }: MortgageOffer): 'fixed' | 'adjustable' {
  return adjustable === undefined ? 'fixed' : 'adjustable';
}

/** Returns the numbers that determine the payments of an adjustable loan, in the units of `RateAdjustment`; null for a fixed loan. */
export function getRateAdjustment({ adjustable }: MortgageOffer) {
  if (adjustable === undefined) return null;
  const { fixed_months, adjustment_months, index_percent, margin_percent, caps_percent } = adjustable;
  return {
    fixedMonths: fixed_months,
    intervalMonths: adjustment_months,
    indexedRate: percentToThousandths(index_percent) + percentToThousandths(margin_percent),
    firstCap: percentToThousandths(caps_percent.first),
    periodicCap: percentToThousandths(caps_percent.periodic),
    lifetimeCap: percentToThousandths(caps_percent.lifetime),
  };
}

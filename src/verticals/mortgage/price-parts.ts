import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import { strictObject } from '../../catalogs/catalog-schema.ts';

/**
 * Prices of an offer. Each figure of a price is the sum of three parts: the part of the term, of the loan-to-value band and of the credit
 * band (docs/verticals/mortgage.md#prices). Rates, points and premiums are integers in thousandths of a percent, so that sums are exact.
 */

const part = (max: number) => Type.Optional(Type.Number({ minimum: -max, maximum: max }));
const integerPart = (max: number) => Type.Optional(Type.Integer({ minimum: -max, maximum: max }));

/** Figures of a price: the largest sum of the parts, and the step of which each part must be a multiple, both in the unit of the catalog. */
const figures = {
  rate_percent: { max: bounds.aprPercentMax, step: 0.005 },
  points_percent: { max: 5, step: 0.001 },
  lender_fees_usd: { max: 20_000, step: 1 },
  prepaid_interest_days: { max: 31, step: 1 },
  upfront_premium_percent: { max: 5, step: 0.001 },
  annual_premium_percent: { max: 5, step: 0.001 },
} as const;

type FigureName = keyof typeof figures;
export const figureNames = Object.keys(figures) as FigureName[];

/** Schemas of the figures. A part may be negative, the sum may not. */
export const pricePartSchemas = {
  rate_percent: part(figures.rate_percent.max),
  points_percent: part(figures.points_percent.max),
  lender_fees_usd: integerPart(figures.lender_fees_usd.max),
  prepaid_interest_days: integerPart(figures.prepaid_interest_days.max),
  upfront_premium_percent: part(figures.upfront_premium_percent.max),
  annual_premium_percent: part(figures.annual_premium_percent.max),
};

const pricePart = Type.Object(pricePartSchemas, strictObject);
export type PricePart = Static<typeof pricePart>;

/** Price of a term in a loan-to-value band and a credit band. Percentages are in thousandths of a percent. */
export type Price = Readonly<Record<FigureName, number>>;

/** Adds the three parts of a price. */
export function sumPrice(parts: readonly PricePart[]): Price {
  const sum = (name: FigureName) => parts.reduce((total, part) => total + toUnits(name, part[name] ?? 0), 0);
  return {
    rate_percent: sum('rate_percent'),
    points_percent: sum('points_percent'),
    lender_fees_usd: sum('lender_fees_usd'),
    prepaid_interest_days: sum('prepaid_interest_days'),
    upfront_premium_percent: sum('upfront_premium_percent'),
    annual_premium_percent: sum('annual_premium_percent'),
  };
}

function toUnits(name: FigureName, value: number): number {
  return name.endsWith('_percent') ? percentToUnits(value) : value;
}

/** Converts percent to thousandths of a percent. */
export function percentToUnits(percent: number): number {
  return Math.round(percent * 1_000);
}

/** Returns the rule that a part of a price breaks, or null. */
export function findPartProblem(name: FigureName, value: number): string | null {
  return isMultipleOf(value, figures[name].step) ? null : `must be a multiple of ${figures[name].step}`;
}

/** Whether a number is a multiple of a step, apart from the rounding of decimal fractions. */
export function isMultipleOf(value: number, step: number): boolean {
  const steps = value / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Returns the allowed range of a figure that is outside this range, as a text; null if all figures are within their range. */
export function findSumProblem(price: Price): { readonly figure: FigureName; readonly range: string } | null {
  for (const figure of figureNames) {
    const { max, step } = figures[figure];
    const least = figure === 'rate_percent' ? step : 0;
    if (price[figure] < toUnits(figure, least) || price[figure] > toUnits(figure, max)) {
      return { figure, range: `${least} to ${max}` };
    }
  }
  return null;
}

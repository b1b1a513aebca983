import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import { strictObject } from '../../catalogs/catalog-schema.ts';

/**
 * Prices of an offer. Each figure of a price is the sum of three parts: the part of the term, of the loan-to-value band and of the credit
 * band (docs/verticals/mortgage.md#prices). Rates, points and premiums are integers in thousandths of a percent, so that sums are exact.
 */

const part = (max: number) => Type.Optional(Type.Number({ minimum: -max, maximum: max }));
const integerPart = (max: number) => Type.Optional(Type.Integer({ minimum: -max, maximum: max }));

/**
 * Limits of each figure of a price, in the unit of the catalog: the largest sum of the parts, and the step. Each part must be a multiple of
 * the step.
 */
const figures = {
  rate_percent: { max: bounds.aprPercentMax, step: 0.005 },
  points_percent: { max: 5, step: 0.001 },
  lender_fees_usd: { max: 20_000, step: 1 },
  prepaid_interest_days: { max: 31, step: 1 },
  upfront_premium_percent: { max: 5, step: 0.001 },
  annual_premium_percent: { max: 5, step: 0.001 },
} as const;

type FigureName = keyof typeof figures;
export const priceFigureNames = Object.keys(figures) as FigureName[];

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

/** Converts a part of a price to the units of `Price`. Figures that the part does not have are 0. */
export function toMortgagePrice(part: PricePart): Price {
  return createPrice((name) => part[name] ?? 0);
}

/** Adds the three parts of a price. */
export function sumPriceParts(one: Price, two: Price, three: Price): Price {
  return {
    rate_percent: one.rate_percent + two.rate_percent + three.rate_percent,
    points_percent: one.points_percent + two.points_percent + three.points_percent,
    lender_fees_usd: one.lender_fees_usd + two.lender_fees_usd + three.lender_fees_usd,
    prepaid_interest_days: one.prepaid_interest_days + two.prepaid_interest_days + three.prepaid_interest_days,
    upfront_premium_percent: one.upfront_premium_percent + two.upfront_premium_percent + three.upfront_premium_percent,
    annual_premium_percent: one.annual_premium_percent + two.annual_premium_percent + three.annual_premium_percent,
  };
}

/** Creates a price from figures in the units of the catalog. */
function createPrice(figureOf: (name: FigureName) => number): Price {
  const toUnits = (name: FigureName, value: number) =>
    name.endsWith('_percent') ? percentToThousandths(value) : value;
  return Object.fromEntries(priceFigureNames.map((name) => [name, toUnits(name, figureOf(name))])) as Price;
}

/** Converts percent to thousandths of a percent. */
export function percentToThousandths(percent: number): number {
  return Math.round(percent * 1_000);
}

/** Returns the rule that a part of a price breaks, or null. */
export function findPricePartProblem(name: FigureName, value: number): string | null {
  return isMultipleOf(value, figures[name].step) ? null : `must be a multiple of ${figures[name].step}`;
}

/** Whether a number is a multiple of a step, ignoring the rounding of decimal fractions. */
export function isMultipleOf(value: number, step: number): boolean {
  const steps = value / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Returns the first figure that is outside its allowed range, and this range as a text; null if all figures are within their ranges. */
export function findOutOfRangeFigure(price: Price): { readonly figure: FigureName; readonly range: string } | null {
  const figure = priceFigureNames.find((name) => price[name] < leastSums[name] || price[name] > highestSums[name]);
  return figure === undefined ? null : { figure, range: `${leastPart(figure)} to ${figures[figure].max}` };
}

/** Returns the smallest allowed sum of the parts of a figure, in the unit of the catalog. */
function leastPart(name: FigureName): number {
  return name === 'rate_percent' ? figures.rate_percent.step : 0;
}

const leastSums = createPrice(leastPart);
const highestSums = createPrice((name) => figures[name].max);

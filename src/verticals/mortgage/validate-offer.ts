import { bounds } from '../../bounds.ts';
import type { CatalogErrors, CatalogValuePath } from '../../catalogs/catalog-errors.ts';
import { getChoiceValues, listAllowedValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { checkAdvertisedRates, type RateRange } from '../common/advertised-rates.ts';
import { monthlyPaymentPerDollar } from '../common/loan-math.ts';
import { PaymentStream, solveAnnualPercentageRate } from './annual-percentage-rate.ts';
import {
  getInsuranceKind,
  getRateAdjustment,
  listOfferPrices,
  type MortgageOffer,
  type OfferPrice,
  privateInsuranceLtvPercent,
} from './offer-schema.ts';
import {
  findOutOfRangeFigure,
  findPricePartProblem,
  isMultipleOf,
  type PricePart,
  priceFigureNames,
} from './price-parts.ts';
import { ScheduleNumberMap } from './schedule-tables.ts';

/** Reports limits and prices of a mortgage offer that contradict each other or that the vertical does not allow. */
export function validateMortgageOffer(
  offer: MortgageOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
  lender: { readonly name: unknown; readonly nmls_id?: unknown },
): void {
  const before = errors.count;
  const { nmls_id: nmlsId } = lender;
  if (typeof nmlsId === 'string' && !new RegExp(String.raw`\b${nmlsId}\b`).test(offer.legal)) {
    errors.addWarning([...path, 'legal'], `does not contain the NMLS id of the lender, ${nmlsId} (12 CFR 1026.36(g))`);
  }
  const addError = (member: string, problem: string) => errors.add([...path, member], problem);
  if (offer.amount.min > offer.amount.max) addError('amount', 'min must not exceed max');
  checkLoanTerms(offer, path, vertical, errors);
  checkAdjustableRate(offer, path, errors);
  checkLoanToValueBands(offer, path, errors);
  checkCreditBands(offer, path, vertical, errors);
  checkVeteranCriterion(offer, path, errors);
  for (const [partPath, part] of listPriceParts(offer)) checkPricePart(part, [...path, ...partPath], errors);
  // Checking the sums of invalid parts would report the errors of the parts again.
  if (errors.count === before) checkPrices(offer, path, errors);
}

/** Reports an error if the loans of the catalog have too many different payment schedules. */
export function validateScheduleCount(offers: readonly MortgageOffer[], errors: CatalogErrors): void {
  const { mortgageSchedulesMax } = bounds;
  const schedules = new ScheduleNumberMap();
  for (const offer of offers) {
    const adjustment = schedules.findOrAddAdjustmentNumber(getRateAdjustment(offer));
    for (const { term, price } of listOfferPrices(offer)) {
      schedules.findOrAddScheduleNumber(price.rate_percent, Number(term), adjustment);
    }
    if (schedules.count > mortgageSchedulesMax) {
      errors.add(['lenders'], `must have at most ${mortgageSchedulesMax} combinations of rate, term and adjustment`);
      return;
    }
  }
}

function checkLoanTerms(
  { terms }: MortgageOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const { term: fieldName } = vertical.roles;
  const field = vertical.fields.find(({ name }) => name === fieldName);
  const allowed = field === undefined ? [] : listAllowedValues(field).map(String);
  const names = Object.keys(terms);
  if (names.length === 0) errors.add([...path, 'terms'], 'must hold at least one term');
  for (const name of names) {
    if (!allowed.includes(name)) errors.add([...path, 'terms', name], `is not a value of ${fieldName}`);
  }
}

function checkAdjustableRate(
  { adjustable, terms }: MortgageOffer,
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  if (adjustable === undefined) return;
  const addError = (member: string, problem: string) => errors.add([...path, 'adjustable', member], problem);
  const { fixed_months, index_percent, margin_percent, caps_percent } = adjustable;
  if (Object.keys(terms).some((term) => Number(term) <= fixed_months)) {
    addError('fixed_months', 'must be less than every term');
  }
  const indexed = index_percent + margin_percent;
  if (indexed <= 0 || indexed > bounds.aprPercentMax) {
    addError('margin_percent', `plus index_percent must be above 0 and at most ${bounds.aprPercentMax}`);
  }
  for (const [name, value] of Object.entries({ index_percent, margin_percent })) {
    if (!isMultipleOf(value, 0.001)) addError(name, 'must be a multiple of 0.001');
  }
  for (const name of ['first', 'periodic'] as const) {
    if (caps_percent[name] > caps_percent.lifetime) addError('caps_percent', `${name} must not exceed lifetime`);
  }
  for (const [name, value] of Object.entries(caps_percent)) {
    if (!isMultipleOf(value, 0.001)) addError('caps_percent', `${name} must be a multiple of 0.001`);
  }
}

function checkLoanToValueBands(offer: MortgageOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const { ltv_bands: bands } = offer;
  for (const [at, { max_ltv_percent: max }] of bands.entries()) {
    const bandPath = [...path, 'ltv_bands', at, 'max_ltv_percent'];
    if (!isMultipleOf(max, 0.01)) errors.add(bandPath, 'must be a multiple of 0.01');
    if (at > 0 && max <= bands[at - 1]!.max_ltv_percent) errors.add(bandPath, 'must exceed that of the band before');
  }
  const isInsured = getInsuranceKind(offer) === 'private' && bands.at(-1)!.max_ltv_percent > privateInsuranceLtvPercent;
  if (isInsured && !bands.some(({ max_ltv_percent }) => max_ltv_percent === privateInsuranceLtvPercent)) {
    errors.add([...path, 'ltv_bands'], 'must have a band that ends at 80, because mortgage insurance starts there');
  }
}

function checkCreditBands(
  offer: MortgageOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const names = getChoiceValues(vertical, vertical.roles.creditBand);
  const highest = offer.ltv_bands.at(-1)!.max_ltv_percent;
  const bands = Object.entries(offer.bands);
  if (bands.length === 0) errors.add([...path, 'bands'], 'must hold at least one band');
  for (const [name, { max_ltv_percent: max }] of bands) {
    const bandPath = [...path, 'bands', name];
    if (!names.includes(name)) errors.add(bandPath, `is not a value of ${vertical.roles.creditBand}`);
    if (!isMultipleOf(max, 0.01)) errors.add([...bandPath, 'max_ltv_percent'], 'must be a multiple of 0.01');
    if (max > highest) errors.add([...bandPath, 'max_ltv_percent'], 'exceeds the last of ltv_bands');
  }
}

/** Reports a VA loan that is offered to borrowers who did not state that they are veterans. */
function checkVeteranCriterion(offer: MortgageOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const asksVeterans = offer.criteria.some(
    ({ field, in: values }) => field === 'veteran' && values?.every((value) => value === true),
  );
  if (offer.loan_type === 'va' && !asksVeterans) {
    errors.add([...path, 'criteria'], 'must allow only veteran true, because the loan_type is va');
  }
}

function listPriceParts(offer: MortgageOffer): [CatalogValuePath, PricePart][] {
  return [
    ...Object.entries(offer.terms).map(([name, part]): [CatalogValuePath, PricePart] => [['terms', name], part]),
    ...offer.ltv_bands.map((part, at): [CatalogValuePath, PricePart] => [['ltv_bands', at], part]),
    ...Object.entries(offer.bands).map(([name, part]): [CatalogValuePath, PricePart] => [['bands', name], part]),
  ];
}

function checkPricePart(part: PricePart, path: CatalogValuePath, errors: CatalogErrors): void {
  for (const name of priceFigureNames) {
    const problem = findPricePartProblem(name, part[name] ?? 0);
    if (problem !== null) errors.add([...path, name], problem);
  }
}

/** Reports the first invalid price of an offer. If all prices are valid, reports an APR that could exceed the highest allowed APR. */
function checkPrices(offer: MortgageOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const prices = listOfferPrices(offer);
  const insurance = getInsuranceKind(offer);
  for (const { creditBand, ltvBand, term, price } of prices) {
    const sum = `plus the parts in terms.${term} and ltv_bands[${ltvBand}]`;
    const outside = findOutOfRangeFigure(price);
    if (outside !== null) {
      errors.add([...path, 'bands', creditBand, outside.figure], `${sum} must be ${outside.range}`);
      return;
    }
    if (price.upfront_premium_percent > 0 && insurance === 'private') {
      errors.add([...path, 'bands', creditBand, 'upfront_premium_percent'], `${sum} must be 0 for ${offer.loan_type}`);
      return;
    }
    if (price.annual_premium_percent > 0 && insurance === 'none') {
      errors.add([...path, 'bands', creditBand, 'annual_premium_percent'], `${sum} must be 0 for ${offer.loan_type}`);
      return;
    }
  }
  if (prices.length === 0) return;
  checkHighestApr(offer, prices, path, errors);
  checkGovernmentPremiums(offer, prices, path, errors);
  checkAdvertisedRates(offer.legal, [...path, 'legal'], errors, () => [findAprBounds(offer, prices)]);
}

/** Warns about an FHA or USDA loan without the upfront premium or the annual premium that each such loan has. */
function checkGovernmentPremiums(
  offer: MortgageOffer,
  prices: readonly OfferPrice[],
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  if (offer.loan_type !== 'fha' && offer.loan_type !== 'usda') return;
  for (const member of ['upfront_premium_percent', 'annual_premium_percent'] as const) {
    const without = prices.find(({ price }) => price[member] === 0);
    if (without === undefined) continue;
    const { creditBand, ltvBand, term } = without;
    const sum = `plus the parts in terms.${term} and ltv_bands[${ltvBand}] is 0`;
    errors.addWarning(
      [...path, 'bands', creditBand, member],
      `${sum}, but each ${offer.loan_type} loan has this premium`,
    );
  }
}

/** Returns a lower and an upper bound of the APRs of an offer. */
function findAprBounds(offer: MortgageOffer, prices: readonly OfferPrice[]): RateRange {
  const rates = prices.map(({ price }) => price.rate_percent);
  const adjustment = getRateAdjustment(offer);
  const laterRates = adjustment === null ? rates : [adjustment.indexedRate, ...rates];
  return {
    min: Math.min(...laterRates) / 1_000,
    max: highestAprPercent(prices, Math.max(...laterRates) / 1_000, offer.amount.min),
  };
}

/**
 * Reports an APR that is too high. The error names the smallest amount if the APR is allowed without lender fees, otherwise the highest
 * rate.
 */
function checkHighestApr(
  offer: MortgageOffer,
  prices: readonly OfferPrice[],
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  const { aprPercentMax } = bounds;
  const dearest = prices.reduce((one, other) => (other.price.rate_percent > one.price.rate_percent ? other : one));
  const initialRate = dearest.price.rate_percent;
  const adjustment = getRateAdjustment(offer);
  const laterRate = adjustment === null ? 0 : Math.min(adjustment.indexedRate, initialRate + adjustment.lifetimeCap);
  const ratePercent = Math.max(initialRate, laterRate) / 1_000;
  const isTooHigh = (amountUsd: number) => highestAprPercent(prices, ratePercent, amountUsd) > aprPercentMax;
  const problem = `that the APR could exceed ${aprPercentMax} %`;
  if (!isTooHigh(offer.amount.min)) return;
  if (!isTooHigh(Number.POSITIVE_INFINITY)) errors.add([...path, 'amount', 'min'], `is so small ${problem}`);
  else if (laterRate > initialRate) {
    errors.add([...path, 'adjustable', 'margin_percent'], `plus index_percent is so high ${problem}`);
  } else {
    const sum = `plus the parts in terms.${dearest.term} and ltv_bands[${dearest.ltvBand}]`;
    errors.add([...path, 'bands', dearest.creditBand, 'rate_percent'], `${sum} is so high ${problem}`);
  }
}

/**
 * Returns an upper bound of the APR of all loans of at least `amountUsd`: the APR of a loan of this amount over the shortest term, with the
 * highest rate from the start and the highest value of each other figure.
 */
function highestAprPercent(prices: readonly OfferPrice[], ratePercent: number, amountUsd: number): number {
  const highest = (figure: (typeof priceFigureNames)[number]) => Math.max(...prices.map(({ price }) => price[figure]));
  const shortest = Math.min(...prices.map(({ term }) => Number(term)));
  const loan = 1 + highest('upfront_premium_percent') / 100_000;
  const charges =
    highest('points_percent') / 100_000 +
    highest('lender_fees_usd') / amountUsd +
    (loan * ratePercent * highest('prepaid_interest_days')) / 36_500;
  if (charges >= 1) return Number.POSITIVE_INFINITY;
  const stream = new PaymentStream();
  const premium = highest('annual_premium_percent') / 1_200_000;
  stream.add(loan * monthlyPaymentPerDollar(ratePercent, shortest) + premium, shortest, 0);
  return solveAnnualPercentageRate(1 - charges, stream);
}

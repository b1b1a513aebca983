import { bounds } from '../bounds.ts';
import type { CatalogCriterion, CatalogFile, CatalogLender, CatalogOffer } from '../catalogs/catalog-schema.ts';
import { roundHalfUp, usdToMicros } from '../domain/money.ts';
import { absentValue, choiceValues, enumValues, fieldIndex } from '../verticals/field-vector.ts';
import { aprPercent, paymentFactor } from '../verticals/loan-math.ts';
import {
  admitsValue,
  compileStateRules,
  offerPayoutModel,
  type StateRuleTables,
  servedScoreShare,
  termPrice,
} from '../verticals/personal-loans/offer-rules.ts';
import { debtShareScale } from '../verticals/personal-loans/price-offer.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import { addOffer, emptyOfferSet, type OfferSet } from './offer-set.ts';

/**
 * A catalog as matching reads it: columns of numbers, and a bit for each offer where a field has few values.
 *
 * Offers are numbered by ascending id, so the number breaks ties (docs/contract.md#sort-orders). A *row* is one offer in
 * one credit band, a *slot* one row at one term.
 */
export interface MatchTables extends StateRuleTables {
  readonly offerCount: number;
  readonly bandCount: number;
  /** Places of each order of a ranking: more where offers may close, so that enough open ones are left for an answer. */
  readonly orderLength: number;
  /** Every term of the catalog, in months, ascending; a set of terms is kept as the bits of a number in this order. */
  readonly termMonths: readonly number[];
  /** The terms in the order they are quoted when the borrower's own is not open: nearest to 36 months, the shorter first. */
  readonly termPreference: readonly number[];
  readonly roles: RoleIndexes;

  readonly choiceFilters: readonly ChoiceFilter[];
  readonly rangeFilters: readonly RangeFilter[];
  readonly ageFilters: readonly AgeFilter[];

  /** By offer. */
  readonly amountMin: Float64Array;
  /** By offer: the largest share of income that debt may take with the new payment, in millionths; infinite where unlimited. */
  readonly debtToIncomeMax: Float64Array;
  readonly stars: Float64Array;

  /** By row: largest amount; 0 where the offer is not made to the band. */
  readonly amountMax: Float64Array;
  readonly approvalLikelihood: Float64Array;
  /** By row: what a click is expected to earn, in micro-dollars. */
  readonly expectedRevenueMicros: Float64Array;

  /** By slot: APR range in hundredths of a percent, as answered. */
  readonly aprMin: Uint16Array;
  readonly aprMax: Uint16Array;
  /** By slot: upper end of the APR range in percent, unrounded; infinite where the offer has no such term. */
  readonly aprMaxPercent: Float64Array;
  /** By slot: monthly payment for each dollar at the midpoint note rate. */
  readonly paymentFactor: Float64Array;
}

/** Positions in the pocket vector; -1 where the vertical has no such field. */
interface RoleIndexes {
  readonly amount: number;
  readonly creditBand: number;
  readonly annualIncome: number;
  readonly state: number;
  readonly term: number;
  readonly monthlyDebt: number;
  readonly birthdate: number;
}

/** Which offers each value of a field leaves. */
interface ChoiceFilter {
  readonly field: number;
  readonly allowed: ReadonlyMap<number, OfferSet>;
}

/** By offer, the least and greatest value of a whole-number field. An absent value passes only where nothing is asked. */
interface RangeFilter {
  readonly field: number;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/** By offer, the least age in completed years; 0 where nothing is asked. */
interface AgeFilter {
  readonly field: number;
  readonly minYears: Uint8Array;
}

/** Offers of a catalog with their lenders, in the order they are numbered. */
export function offersById(catalog: CatalogFile): { lender: CatalogLender; offer: CatalogOffer }[] {
  return catalog.lenders
    .flatMap((lender) => lender.offers.map((offer) => ({ lender, offer })))
    .sort((one, other) => (one.offer.id < other.offer.id ? -1 : 1));
}

/**
 * Compiles a catalog that `parseCatalog` accepted for this vertical. Most of the time goes into finding the offers that each
 * value of a field leaves: `onShare` is told which share of the values is done, from 0 to 1.
 */
export function compileMatchTables(
  catalog: CatalogFile,
  vertical: Vertical,
  onShare?: (share: number) => void,
): MatchTables {
  const numbered = offersById(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const { roles } = vertical;
  const bands = choiceValues(vertical, roles.creditBand);
  const termMonths = [...new Set(offers.flatMap((offer) => offer.term_months))].sort((a, b) => a - b);
  const aprOf = memoizeApr();

  const rows = offers.length * bands.length;
  const slots = rows * termMonths.length;
  const tables = {
    offerCount: offers.length,
    bandCount: bands.length,
    orderLength: offers.some((offer) => offer.daily_cap !== undefined) ? bounds.offersRankedMax : bounds.offersShownMax,
    termMonths,
    termPreference: termMonths
      .map((months, term) => ({ distance: Math.abs(months - 36), term }))
      .sort((a, b) => a.distance - b.distance || a.term - b.term)
      .map(({ term }) => term),
    roles: {
      amount: fieldIndex(vertical, roles.amount),
      creditBand: fieldIndex(vertical, roles.creditBand),
      annualIncome: fieldIndex(vertical, roles.annualIncome),
      state: fieldIndex(vertical, roles.state),
      term: roles.term === undefined ? -1 : fieldIndex(vertical, roles.term),
      monthlyDebt: roles.monthlyDebt === undefined ? -1 : fieldIndex(vertical, roles.monthlyDebt),
      birthdate: roles.birthdate === undefined ? -1 : fieldIndex(vertical, roles.birthdate),
    },
    ...compileFilters(offers, vertical, onShare),
    ...compileStateRules(catalog, numbered, vertical),
    amountMin: new Float64Array(offers.length),
    debtToIncomeMax: new Float64Array(offers.length).fill(Number.POSITIVE_INFINITY),
    stars: new Float64Array(offers.length),
    amountMax: new Float64Array(rows),
    approvalLikelihood: new Float64Array(rows),
    expectedRevenueMicros: new Float64Array(rows),
    aprMin: new Uint16Array(slots),
    aprMax: new Uint16Array(slots),
    aprMaxPercent: new Float64Array(slots).fill(Number.POSITIVE_INFINITY),
    paymentFactor: new Float64Array(slots),
  } satisfies MatchTables;

  for (const [at, offer] of offers.entries()) {
    tables.amountMin[at] = offer.amount.min;
    tables.stars[at] = offer.stars;
    if (offer.max_debt_to_income_percent !== undefined) {
      tables.debtToIncomeMax[at] = Math.round((offer.max_debt_to_income_percent * debtShareScale) / 100);
    }
    for (const [name, band] of Object.entries(offer.bands)) {
      const bandAt = bands.indexOf(name);
      const share = servedScoreShare(offer, vertical, bandAt);
      if (share === 0) continue;
      const row = at * bands.length + bandAt;
      tables.amountMax[row] = Math.min(offer.amount.max, band.max_amount);
      tables.approvalLikelihood[row] = band.approval_likelihood * share;
      tables.expectedRevenueMicros[row] = expectedRevenueMicros(offer, name, vertical);
      for (const months of offer.term_months) {
        const { min, max, feePercent } = termPrice(band, months);
        const slot = row * termMonths.length + termMonths.indexOf(months);
        const aprMaxPercent = aprOf(max, feePercent, months);
        tables.aprMin[slot] = roundHalfUp(aprOf(min, feePercent, months) * 100, 0);
        tables.aprMax[slot] = roundHalfUp(aprMaxPercent * 100, 0);
        tables.aprMaxPercent[slot] = aprMaxPercent;
        tables.paymentFactor[slot] = paymentFactor((min + max) / 2, months);
      }
    }
  }
  return tables;
}

/** Expected revenue of a click in this band (docs/contract.md#click-revenue): payout x P(confirmed | click), or the payout of a click. */
function expectedRevenueMicros(offer: CatalogOffer, bandName: string, vertical: Vertical): number {
  const payoutMicros = usdToMicros(offer.payout_usd);
  if (offerPayoutModel(offer, vertical) === 'cost_per_click') return payoutMicros;
  return Math.round(payoutMicros * offer.bands[bandName]!.confirm_rate!);
}

/** Many offers share rates, fees and terms; an APR is solved once for each combination. */
function memoizeApr(): typeof aprPercent {
  const known = new Map<string, number>();
  return (noteRatePercent, feePercent, months) => {
    if (feePercent === 0) return noteRatePercent;
    const key = `${noteRatePercent}/${feePercent}/${months}`;
    let apr = known.get(key);
    if (apr === undefined) {
      apr = aprPercent(noteRatePercent, feePercent, months);
      known.set(key, apr);
    }
    return apr;
  };
}

function compileFilters(
  offers: readonly CatalogOffer[],
  vertical: Vertical,
  onShare?: (share: number) => void,
): { choiceFilters: ChoiceFilter[]; rangeFilters: RangeFilter[]; ageFilters: AgeFilter[] } {
  const choiceFilters: ChoiceFilter[] = [];
  const rangeFilters: RangeFilter[] = [];
  const ageFilters: AgeFilter[] = [];
  const { creditBand, coBorrower } = vertical.roles;
  const joint = offers.some(({ joint_applications }) => joint_applications !== undefined);
  const values = vertical.fields.reduce((sum, field) => sum + enumValues(field).length, 0);
  let done = 0;
  for (const [position, field] of vertical.fields.entries()) {
    const criteria = offers.map((offer) => offer.criteria.filter((criterion) => criterion.field === field.name));
    const decides = field.name === creditBand || (field.name === coBorrower && joint);
    if (!decides && criteria.every((list) => list.length === 0)) continue;
    if (field.kind === 'integer') rangeFilters.push(rangeFilter(position, criteria));
    else if (field.kind === 'birthdate') ageFilters.push(ageFilter(position, criteria));
    else
      choiceFilters.push(choiceFilter(position, field, offers, vertical, onShare && (() => onShare(++done / values))));
  }
  return { choiceFilters, rangeFilters, ageFilters };
}

function choiceFilter(
  position: number,
  field: PocketField,
  offers: readonly CatalogOffer[],
  vertical: Vertical,
  onValue?: () => void,
): ChoiceFilter {
  const allowed = new Map<number, OfferSet>();
  const admit = (code: number, value: unknown) => {
    const bits = emptyOfferSet(offers.length);
    for (const [at, offer] of offers.entries()) {
      if (admitsValue(offer, field, value, vertical)) addOffer(bits, at);
    }
    allowed.set(code, bits);
  };
  for (const [at, value] of enumValues(field).entries()) {
    admit(encodeChoice(field, value, at), value);
    onValue?.();
  }
  admit(absentValue, undefined);
  return { field: position, allowed };
}

/** How the pocket vector keeps one of few values: a word or a boolean as its place among them, a whole number as itself. */
export function encodeChoice(field: PocketField, value: unknown, at: number): number {
  return field.kind === 'integer_choice' ? (value as number) : at;
}

function rangeFilter(field: number, criteria: readonly (readonly CatalogCriterion[])[]): RangeFilter {
  return {
    field,
    min: Float64Array.from(criteria, (list) =>
      list.reduce((min, criterion) => Math.max(min, 0, criterion.min ?? 0), absentValue),
    ),
    max: Float64Array.from(criteria, (list) =>
      list.reduce(
        (max, criterion) => Math.min(max, criterion.max ?? Number.POSITIVE_INFINITY),
        Number.POSITIVE_INFINITY,
      ),
    ),
  };
}

function ageFilter(field: number, criteria: readonly (readonly CatalogCriterion[])[]): AgeFilter {
  return {
    field,
    minYears: Uint8Array.from(criteria, (list) =>
      list.reduce((min, criterion) => Math.max(min, criterion.min_age ?? 0), 0),
    ),
  };
}

import { bounds } from '../bounds.ts';
import { completedYearsBetween } from '../domain/calendar.ts';
import {
  absentValue,
  type FieldVector,
  findFieldIndex,
  getChoiceValues,
  listAllowedValues,
} from '../domain/field-vector.ts';
import { defaultProductName, type PocketField, type Vertical } from '../domain/vertical.ts';
import { addOffer, emptyOfferSet, type OfferSet } from './offer-set.ts';

/**
 * Catalog in the form that matching uses: arrays of numbers, and a bit set of offers for each value of a choice field. Each kind of
 * product, such as loans, adds tables to this interface. Offers are numbered in ascending order of their ids; equally ranked offers are
 * sorted by number (docs/contract.md#sort-orders). A *row* of a table is one offer in one credit band. Rows are sorted by
 * credit band, then by offer, because a ranking reads the rows of one credit band (`rowOf`).
 */
export interface MatchTables extends OfferFilterTables {
  /** Name of the product whose rules were used to compile the tables. */
  readonly product: string;
  readonly offerCount: number;
  readonly bandCount: number;
  /** Number of offers in each sort order of a ranking, including spare offers that replace unavailable offers. */
  readonly orderLength: number;
  /** Positions of the state and birthdate fields in the field vector of a borrower; -1 for a field that the vertical does not have. */
  readonly roles: { readonly state: number; readonly birthdate: number };
  /** Minimum age of a borrower in each state, in completed years; 0 if the state has no minimum. */
  readonly stateAgeMin: Uint8Array;
  /** Expected revenue of a click by row (offer and credit band), in micro-dollars. */
  readonly expectedRevenueMicros: Float64Array;
}

/** Criteria of all offers, compiled into one filter per field and grouped by the kind of field. */
export interface OfferFilterTables {
  readonly choiceFilters: readonly ChoiceFilter[];
  readonly rangeFilters: readonly RangeFilter[];
}

/** Filter on a choice field: for each encoded value, the offers that accept this value. */
interface ChoiceFilter {
  readonly field: number;
  readonly allowed: ReadonlyMap<number, OfferSet>;
}

/**
 * Filter on an integer field, or on the borrower's age in completed years: inclusive limits of each offer. If the field was not submitted,
 * only offers without limits match.
 */
interface RangeFilter {
  readonly field: number;
  /** Whether the field is a birthdate. */
  readonly isAge: boolean;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/** Condition on a pocket field that a borrower must meet to get an offer (docs/catalog.md). */
export interface OfferCriterion {
  readonly field: string;
  readonly in?: unknown[];
  readonly not_in?: unknown[];
  readonly min?: number;
  readonly max?: number;
  readonly min_age?: number;
}

/** Members of an offer in a catalog file that the common tables are compiled from. */
export interface MatchableOffer {
  readonly id: string;
  readonly criteria: readonly OfferCriterion[];
  readonly daily_cap?: number;
  readonly budget?: object;
}

/** Returns the row of an offer in a credit band, in tables with one value for each row. */
export function rowOf({ offerCount }: Pick<MatchTables, 'offerCount'>, offer: number, creditBand: number): number {
  return creditBand * offerCount + offer;
}

/** Lists the expected revenue of a click on an offer in each credit band, in micro-dollars. */
export function listClickRevenueMicros(tables: MatchTables, offer: number): number[] {
  const { bandCount, expectedRevenueMicros } = tables;
  return Array.from({ length: bandCount }, (_, band) => expectedRevenueMicros[rowOf(tables, offer, band)]!);
}

/** Lists the offers of a catalog with their lenders, in ascending order of the offer ids. */
export function listOffersSortedById<Lender extends { readonly offers: readonly MatchableOffer[] }>(catalog: {
  readonly lenders: readonly Lender[];
}): { lender: Lender; offer: Lender['offers'][number] }[] {
  return catalog.lenders
    .flatMap((lender) => lender.offers.map((offer) => ({ lender, offer })))
    .sort((one, other) => (one.offer.id < other.offer.id ? -1 : 1));
}

/**
 * Returns the index of the first item of each list in a table that contains the items of all lists, one list after the other. The last
 * number is the size of the table.
 */
export function indexFirstItems(lists: readonly { readonly length: number }[]): Uint32Array {
  const first = new Uint32Array(lists.length + 1);
  for (const [at, { length }] of lists.entries()) first[at + 1] = first[at]! + length;
  return first;
}

/** Compiles the tables that all products have, except the expected revenue of clicks. */
export function compileCommonTables<Offer extends MatchableOffer>(
  offers: readonly Offer[],
  stateRules: Readonly<Record<string, { readonly min_age?: number }>> | undefined,
  vertical: Vertical,
  rules: readonly ChoiceFieldRule<Offer>[],
): MatchTables {
  const { state, birthdate, creditBand } = vertical.roles;
  const bandCount = creditBand === undefined ? 1 : getChoiceValues(vertical, creditBand).length;
  return {
    product: vertical.product ?? defaultProductName,
    offerCount: offers.length,
    bandCount,
    orderLength: countRankedOffers(offers),
    roles: { state: findFieldIndex(vertical, state), birthdate: findFieldIndex(vertical, birthdate) },
    stateAgeMin: Uint8Array.from(getChoiceValues(vertical, state), (code) => stateRules?.[code]?.min_age ?? 0),
    ...compileFilters(offers, vertical, rules),
    expectedRevenueMicros: new Float64Array(offers.length * bandCount),
  };
}

/**
 * Returns the number of offers in each sort order of a ranking; includes spare offers if offers can become unavailable several times a day.
 */
function countRankedOffers(offers: readonly MatchableOffer[]): number {
  const canClose = offers.some(({ daily_cap, budget }) => daily_cap !== undefined || budget !== undefined);
  return canClose ? bounds.offersRankedMax : bounds.offersShownMax;
}

/** Product rule that restricts a choice field in addition to the offers' criteria. `value` is undefined if the field was not submitted. */
export interface ChoiceFieldRule<Offer> {
  readonly field: string | undefined;
  readonly admits: (offer: Offer, value: unknown, field: PocketField) => boolean;
}

function compileFilters<Offer extends MatchableOffer>(
  offers: readonly Offer[],
  vertical: Vertical,
  rules: readonly ChoiceFieldRule<Offer>[],
): OfferFilterTables {
  const choiceFilters: ChoiceFilter[] = [];
  const rangeFilters: RangeFilter[] = [];
  for (const [position, field] of vertical.fields.entries()) {
    const criteria = offers.map((offer) => offer.criteria.filter((criterion) => criterion.field === field.name));
    const fieldRules = rules.filter((rule) => rule.field === field.name);
    if (fieldRules.length === 0 && criteria.every((list) => list.length === 0)) continue;
    if (field.kind === 'integer' || field.kind === 'birthdate')
      rangeFilters.push(rangeFilter(position, field, criteria));
    else choiceFilters.push(choiceFilter(position, field, offers, fieldRules));
  }
  return { choiceFilters, rangeFilters };
}

function choiceFilter<Offer extends MatchableOffer>(
  position: number,
  field: PocketField,
  offers: readonly Offer[],
  rules: readonly ChoiceFieldRule<Offer>[],
): ChoiceFilter {
  const allowedOffers = (value: unknown) => {
    const allowed = emptyOfferSet(offers.length);
    for (const [index, offer] of offers.entries()) {
      if (rules.every(({ admits }) => admits(offer, value, field)) && meetsOfferCriteria(offer, field, value)) {
        addOffer(allowed, index);
      }
    }
    return allowed;
  };
  const allowed = new Map(
    listAllowedValues(field).map((value, index) => [encodeChoiceValue(field, value, index), allowedOffers(value)]),
  );
  allowed.set(absentValue, allowedOffers(undefined));
  return { field: position, allowed };
}

/** Whether a value of a choice field meets an offer's criteria; a missing value meets none (docs/contract.md#eligibility). */
export function meetsOfferCriteria(offer: MatchableOffer, field: PocketField, value: unknown): boolean {
  return offer.criteria.every(
    (criterion) =>
      criterion.field !== field.name ||
      (value !== undefined && criterion.in?.includes(value) !== false && criterion.not_in?.includes(value) !== true),
  );
}

/** Encodes a value of a choice field: as the value itself for an `integer_choice` field, as `index` for other choice fields. */
export function encodeChoiceValue(field: PocketField, value: unknown, index: number): number {
  return field.kind === 'integer_choice' ? (value as number) : index;
}

function rangeFilter(
  position: number,
  { kind }: PocketField,
  criteria: readonly (readonly OfferCriterion[])[],
): RangeFilter {
  const lowestOf = ({ min = 0, min_age = min }: OfferCriterion) => Math.max(0, min_age);
  return {
    field: position,
    isAge: kind === 'birthdate',
    min: Float64Array.from(criteria, (list) => Math.max(absentValue, ...list.map(lowestOf))),
    max: Float64Array.from(criteria, (list) => Math.min(...list.map(({ max = Number.POSITIVE_INFINITY }) => max))),
  };
}

/** Returns the value of a borrower that a range filter compares with the limits of offers. `today` is a compact date (YYYYMMDD). */
export function readRangeValue({ field, isAge }: RangeFilter, borrower: Readonly<FieldVector>, today: number): number {
  const value = borrower[field]!;
  return isAge && value !== absentValue ? completedYearsBetween(value, today) : value;
}

/**
 * Whether a borrower is old enough for a contract in the borrower's state of residence. Returns true if the borrower's birthdate or state
 * is missing (docs/contributing/decisions/counting-rules.md). `today` is a compact date (YYYYMMDD).
 */
export function meetsStateMinimumAge(tables: MatchTables, borrower: Readonly<FieldVector>, today: number): boolean {
  const state = borrower[tables.roles.state]!;
  const born = tables.roles.birthdate < 0 ? absentValue : borrower[tables.roles.birthdate]!;
  if (state === absentValue || born === absentValue) return true;
  return completedYearsBetween(born, today) >= tables.stateAgeMin[state]!;
}

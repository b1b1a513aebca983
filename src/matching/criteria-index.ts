import { completedYearsBetween } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../domain/field-vector.ts';
import type { OfferFilterTables } from './match-tables.ts';
import { intersectOffers, type OfferSet } from './offer-set.ts';
import { RangeIndex } from './range-index.ts';

/** Index that finds the offers whose criteria a borrower meets. */
export class CriteriaIndex {
  readonly #filters: OfferFilterTables;
  /** Range indexes of criteria on integer fields, in the order of `rangeFilters`. */
  readonly #ranges: readonly RangeIndex[];
  /** Range indexes of criteria on the borrower's age in completed years, in the order of `ageFilters`. */
  readonly #ageRanges: readonly RangeIndex[];

  constructor(filters: OfferFilterTables) {
    this.#filters = filters;
    this.#ranges = filters.rangeFilters.map(({ min, max }) => new RangeIndex(min, max));
    this.#ageRanges = filters.ageFilters.map(({ minYears }) => {
      const noMax = new Float64Array(minYears.length).fill(Number.POSITIVE_INFINITY);
      return new RangeIndex(
        Float64Array.from(minYears, (years) => (years === 0 ? absentValue : years)),
        noMax,
      );
    });
  }

  /** Removes from `eligible` the offers whose criteria the borrower does not meet. */
  filterOffers(eligible: OfferSet, borrower: Readonly<FieldVector>, today: number): void {
    const { choiceFilters, rangeFilters, ageFilters } = this.#filters;
    for (let at = 0; at < choiceFilters.length; at++) {
      const { field, allowed } = choiceFilters[at]!;
      intersectOffers(eligible, allowed.get(borrower[field]!)!);
    }
    for (let at = 0; at < rangeFilters.length; at++) {
      this.#ranges[at]!.filterOffers(eligible, borrower[rangeFilters[at]!.field]!);
    }
    for (let at = 0; at < ageFilters.length; at++) {
      const born = borrower[ageFilters[at]!.field]!;
      this.#ageRanges[at]!.filterOffers(
        eligible,
        born === absentValue ? absentValue : completedYearsBetween(born, today),
      );
    }
  }
}

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
  /** Size in bytes of the parts of the index that `clearBuckets` does not delete. */
  readonly byteLength: number;

  /** @param reserveBytes called before a part of the index is built, with the size of the part */
  constructor(filters: OfferFilterTables, reserveBytes: (bytes: number) => void = () => {}) {
    this.#filters = filters;
    this.#ranges = filters.rangeFilters.map(({ min, max }) => new RangeIndex(min, max, reserveBytes));
    this.#ageRanges = filters.ageFilters.map(({ minYears }) => {
      const noMax = new Float64Array(minYears.length).fill(Number.POSITIVE_INFINITY);
      return new RangeIndex(
        Float64Array.from(minYears, (years) => (years === 0 ? absentValue : years)),
        noMax,
        reserveBytes,
      );
    });
    const ages = filters.ageFilters.reduce((sum, { minYears }) => sum + minYears.length, 0);
    this.byteLength =
      [...this.#ranges, ...this.#ageRanges].reduce((sum, range) => sum + range.byteLength, 0) +
      ages * 2 * Float64Array.BYTES_PER_ELEMENT;
  }

  /** Deletes the parts of the index that can be built again. */
  clearBuckets(): void {
    for (const range of [...this.#ranges, ...this.#ageRanges]) range.clearBuckets();
  }

  /**
   * Removes from `eligible` the offers whose criteria the borrower does not meet. Does not check criteria on the fields `firstChecked` and
   * `secondChecked`, which the caller has checked.
   */
  filterOffers(
    eligible: OfferSet,
    borrower: Readonly<FieldVector>,
    today: number,
    firstChecked = -1,
    secondChecked = -1,
  ): void {
    const { choiceFilters, rangeFilters, ageFilters } = this.#filters;
    for (let at = 0; at < choiceFilters.length; at++) {
      const { field, allowed } = choiceFilters[at]!;
      if (field !== firstChecked && field !== secondChecked) intersectOffers(eligible, allowed.get(borrower[field]!)!);
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

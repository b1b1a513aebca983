import type { FieldVector } from '../domain/field-vector.ts';
import { type OfferFilterTables, readRangeValue } from './match-tables.ts';
import { intersectOffers, type OfferSet } from './offer-set.ts';
import { RangeIndex } from './range-index.ts';

/** Index that finds the offers whose criteria a borrower meets. */
export class CriteriaIndex {
  readonly #filters: OfferFilterTables;
  /** Range indexes in the order of `rangeFilters`. */
  readonly #ranges: readonly RangeIndex[];

  constructor(filters: OfferFilterTables) {
    this.#filters = filters;
    this.#ranges = filters.rangeFilters.map(({ min, max }) => new RangeIndex(min, max));
  }

  /** Removes from `eligible` the offers whose criteria the borrower does not meet. */
  filterOffers(eligible: OfferSet, borrower: Readonly<FieldVector>, today: number): void {
    const { choiceFilters, rangeFilters } = this.#filters;
    for (let at = 0; at < choiceFilters.length; at++) {
      const { field, allowed } = choiceFilters[at]!;
      intersectOffers(eligible, allowed.get(borrower[field]!)!);
    }
    for (let at = 0; at < rangeFilters.length; at++) {
      this.#ranges[at]!.filterOffers(eligible, readRangeValue(rangeFilters[at]!, borrower, today));
    }
  }
}

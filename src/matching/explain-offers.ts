import { setImmediate } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { absentValue, type FieldVector } from '../domain/field-vector.ts';
import type { Vertical } from '../domain/vertical.ts';
import { type MatchTables, meetsStateMinimumAge, readRangeValue } from './match-tables.ts';
import { hasOffer } from './offer-set.ts';
import type { MismatchCallback, MismatchReason, ProductRanking } from './product-ranking.ts';

export interface MismatchCount {
  readonly reason: MismatchReason;
  /** Name of the pocket field that causes the mismatch; null if no field causes the mismatch. */
  readonly field: string | null;
  /** Number of offers that this reason excludes, including offers that other reasons exclude as well. */
  readonly offers: number;
  /** Number of offers that only this reason excludes. */
  readonly alone: number;
}

/** Explanation of why a borrower gets only some offers of a catalog; `offers_in_catalog` equals `matched` plus `not_matched`. */
export interface MatchExplanation {
  readonly offers_in_catalog: number;
  readonly matched: number;
  readonly not_matched: number;
  /**
   * Mismatch reasons, sorted by the number of excluded offers (largest first), then by reason and field. An offer is counted once for each
   * reason that excludes the offer.
   */
  readonly reasons: readonly MismatchCount[];
}

/**
 * Counts, by reason, the offers of a catalog that are not shown to a borrower. Checks the offers one by one with the same rules as
 * `rankLoans`. Yields to the event loop every `bounds.explainedOffersPerTurn` offers. The caller must not change `borrower` before the
 * promise resolves.
 */
export async function explainOffers(
  product: Pick<ProductRanking, 'createMismatchFinder'>,
  tables: MatchTables,
  vertical: Vertical,
  borrower: Readonly<FieldVector>,
  today: number,
  /** Lists the reasons why an offer is unavailable to all borrowers, such as its daily cap; null if all offers are available. */
  listUnavailabilityReasons: ((offer: number) => readonly MismatchReason[]) | null,
): Promise<MatchExplanation> {
  const findPriceMismatches = product.createMismatchFinder(tables, borrower);
  const counts = new Map<string, { -readonly [Name in keyof MismatchCount]: MismatchCount[Name] }>();
  const isOfAge = meetsStateMinimumAge(tables, borrower, today);
  let matched = 0;
  for (let offer = 0; offer < tables.offerCount; offer++) {
    if (offer > 0 && offer % bounds.explainedOffersPerTurn === 0) await setImmediate();
    const mismatches = new Set<string>();
    const add: MismatchCallback = (reason, position) => {
      const field = position < 0 ? null : vertical.fields[position]!.name;
      const key = `${reason} ${field}`;
      if (!counts.has(key)) counts.set(key, { reason, field, offers: 0, alone: 0 });
      mismatches.add(key);
    };
    findFieldMismatches(tables, offer, borrower, today, add);
    if (!isOfAge) add('not_accepted', tables.roles.birthdate);
    findPriceMismatches(offer, add);
    for (const reason of listUnavailabilityReasons?.(offer) ?? []) add(reason, -1);
    if (mismatches.size === 0) matched++;
    for (const key of mismatches) {
      const count = counts.get(key)!;
      count.offers++;
      if (mismatches.size === 1) count.alone++;
    }
  }
  const reasons = [...counts].sort(
    ([oneKey, one], [otherKey, other]) => other.offers - one.offers || (oneKey < otherKey ? -1 : 1),
  );
  return {
    offers_in_catalog: tables.offerCount,
    matched,
    not_matched: tables.offerCount - matched,
    reasons: reasons.map(([, count]) => count),
  };
}

/** Reports the criteria that the borrower does not meet. If a field was not submitted, all criteria on the field count as not met. */
function findFieldMismatches(
  tables: MatchTables,
  offer: number,
  borrower: Readonly<FieldVector>,
  today: number,
  add: MismatchCallback,
): void {
  const check = (field: number, isRequired: boolean, isMet: boolean) => {
    if (isRequired && borrower[field] === absentValue) add('not_told', field);
    else if (!isMet) add('not_accepted', field);
  };
  for (const { field, allowed } of tables.choiceFilters) {
    const admits = (value: number) => hasOffer(allowed.get(value)!, offer);
    check(field, !admits(absentValue), admits(borrower[field]!));
  }
  for (const filter of tables.rangeFilters) {
    const { field, min, max } = filter;
    const value = readRangeValue(filter, borrower, today);
    check(field, min[offer]! > absentValue, value >= min[offer]! && value <= max[offer]!);
  }
}

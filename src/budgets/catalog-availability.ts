import { bounds } from '../bounds.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { dayStartMs, daysSinceEpoch } from '../domain/calendar.ts';
import { allOffersAvailable, createUnavailableOfferSet, type UnavailableOffers } from '../matching/matcher.ts';
import { addOffer, emptyOfferSet, hasOffer, removeOffer } from '../matching/offer-set.ts';
import type { ClickDistribution } from './click-distribution.ts';
import type { BudgetState, OfferBookings } from './offer-bookings.ts';

/** Reasons why an offer is unavailable (docs/contract.md#budgets-and-pacing). */
export const unavailabilityReasons = ['outdated', 'daily_cap', 'budget', 'paced'] as const;
export type UnavailabilityReason = (typeof unavailabilityReasons)[number];

const bitOf = Object.fromEntries(unavailabilityReasons.map((reason, index) => [reason, 1 << index])) as Readonly<
  Record<UnavailabilityReason, number>
>;

/** Use of the limits of an offer at the moment. */
export interface OfferLimits {
  /** Clicks of the current UTC day that count toward the daily cap; null if the number is unknown, so that the offer is hidden. */
  readonly dailyCap: { readonly limit: number; readonly used: number | null } | null;
  readonly budget: BudgetState | null;
}

/** Budgets of the offers of a catalog, and what these offers have booked in the same period, in micro-dollars. */
export interface BudgetUse {
  readonly budgetMicros: number;
  readonly bookedMicros: number;
}

/**
 * The unavailable offers of an active catalog. Only offers whose availability may have changed are checked again: offers whose bookings
 * changed (`markBookingsChanged`), and hidden offers that pacing may show again. All offers are checked at the start of a UTC day, and
 * after the wall clock was set back.
 */
export class CatalogAvailability {
  readonly catalog: CompiledCatalog;
  readonly #clickDistribution: ClickDistribution;
  /** Bookings of the offers that can become unavailable, by index in the catalog. */
  readonly #bookings = new Map<number, OfferBookings>();
  /** Reasons why each offer is unavailable, as a bit set with one bit for each reason (see `bitOf`). */
  readonly #reasons: Uint8Array;
  /** Times until which pacing hides the paced offers, by index in the catalog. */
  readonly #hiddenUntilMs = new Map<number, number>();
  /** Offers whose bookings changed since the last check. */
  readonly #changed = new Set<number>();
  #unavailable: UnavailableOffers = allOffersAvailable;
  /** Time of the last check of all offers; infinity before the first check. */
  #checkedMs = Number.POSITIVE_INFINITY;
  #dayEndMs = 0;
  #nextPacingCheckMs = Number.POSITIVE_INFINITY;

  /** @param bookings bookings of the catalog's offers, in the order of the catalog */
  constructor(catalog: CompiledCatalog, bookings: readonly OfferBookings[], clickDistribution: ClickDistribution) {
    this.catalog = catalog;
    this.#clickDistribution = clickDistribution;
    this.#reasons = new Uint8Array(catalog.offers.length);
    for (const [index, { asOfDay }] of catalog.offers.entries()) {
      const offerBookings = bookings[index]!;
      if (offerBookings.hasLimits || (asOfDay !== null && catalog.maxAgeDays !== null))
        this.#bookings.set(index, offerBookings);
    }
  }

  /** Call this method after the bookings of an offer changed. */
  markBookingsChanged(catalogIndex: number): void {
    if (this.#bookings.has(catalogIndex)) this.#changed.add(catalogIndex);
  }

  /** Returns the unavailable offers. Returns the same object as before unless the set has changed. */
  unavailableOffers(nowMs: number): UnavailableOffers {
    if (this.#bookings.size === 0) return allOffersAvailable;
    if (nowMs >= this.#dayEndMs || nowMs < this.#checkedMs) this.#checkAvailabilityOfAllOffers(nowMs);
    else if (this.#changed.size > 0 || nowMs >= this.#nextPacingCheckMs) this.#checkAvailabilityOfChangedOffers(nowMs);
    return this.#unavailable;
  }

  /** Lists the reasons why an offer was unavailable at the last call of `unavailableOffers`. */
  listUnavailabilityReasons(catalogIndex: number): readonly UnavailabilityReason[] {
    const bits = this.#reasons[catalogIndex]!;
    return bits === 0 ? [] : unavailabilityReasons.filter((reason) => (bits & bitOf[reason]) !== 0);
  }

  /** Returns the number of offers that are unavailable for this reason. */
  countOffers(reason: UnavailabilityReason, nowMs: number): number {
    this.unavailableOffers(nowMs);
    return this.#reasons.reduce((count, bits) => count + ((bits & bitOf[reason]) !== 0 ? 1 : 0), 0);
  }

  /** Returns the number of shown offers, and the number of offers that are hidden for each reason. An offer can have several reasons. */
  countOffersByState(nowMs: number): Readonly<Record<'shown' | UnavailabilityReason, number>> {
    this.unavailableOffers(nowMs);
    const counts = { shown: 0, outdated: 0, daily_cap: 0, budget: 0, paced: 0 };
    for (const bits of this.#reasons) {
      if (bits === 0) counts.shown++;
      else for (const reason of unavailabilityReasons) if ((bits & bitOf[reason]) !== 0) counts[reason]++;
    }
    return counts;
  }

  /** Returns the use of the limits of an offer. */
  describeLimits(catalogIndex: number, nowMs: number): OfferLimits {
    const bookings = this.#bookings.get(catalogIndex);
    const dailyCap = bookings?.dailyCap ?? null;
    return {
      dailyCap: dailyCap === null ? null : { limit: dailyCap, used: bookings!.countClicksOfDay(nowMs) },
      budget: bookings?.describeBudget(nowMs, this.#clickDistribution) ?? null,
    };
  }

  /** Returns the sums over the offers that have a budget of the current UTC day, and over those that have one of the month. */
  sumBudgets(nowMs: number): Readonly<Record<'day' | 'month', BudgetUse>> {
    const day = { budgetMicros: 0, bookedMicros: 0 };
    const month = { budgetMicros: 0, bookedMicros: 0 };
    for (const offerBookings of this.#bookings.values()) {
      const { budget } = offerBookings;
      if (budget === null) continue;
      const booked = offerBookings.getBookedMicros(daysSinceEpoch(nowMs));
      if (budget.perDayMicros !== null) {
        day.budgetMicros += budget.perDayMicros;
        day.bookedMicros += booked.day;
      }
      if (budget.perMonthMicros !== null) {
        month.budgetMicros += budget.perMonthMicros;
        month.bookedMicros += booked.month;
      }
    }
    return { day, month };
  }

  #checkAvailabilityOfAllOffers(nowMs: number): void {
    this.#checkedMs = nowMs;
    this.#dayEndMs = dayStartMs(daysSinceEpoch(nowMs) + 1);
    this.#nextPacingCheckMs = Number.POSITIVE_INFINITY;
    this.#hiddenUntilMs.clear();
    this.#changed.clear();
    this.#updateUnavailableOffers(this.#bookings.keys(), nowMs);
  }

  #checkAvailabilityOfChangedOffers(nowMs: number): void {
    if (nowMs >= this.#nextPacingCheckMs) {
      this.#nextPacingCheckMs = Number.POSITIVE_INFINITY;
      for (const [index, untilMs] of this.#hiddenUntilMs) {
        if (nowMs >= untilMs) this.#changed.add(index);
        else this.#schedulePacingCheck(untilMs, nowMs);
      }
    }
    const changed = [...this.#changed];
    this.#changed.clear();
    this.#updateUnavailableOffers(changed, nowMs);
  }

  /**
   * Schedules a check of the paced offers at `untilMs`, but at the earliest `pacingCheckIntervalMs` after `nowMs`. Does not replace a check
   * that is scheduled for an earlier time.
   */
  #schedulePacingCheck(untilMs: number, nowMs: number): void {
    this.#nextPacingCheckMs = Math.min(
      this.#nextPacingCheckMs,
      Math.max(untilMs, nowMs + bounds.pacingCheckIntervalMs),
    );
  }

  #updateUnavailableOffers(indexes: Iterable<number>, nowMs: number): void {
    const { bits: before } = this.#unavailable;
    let bits: Int32Array | null = null;
    for (const index of indexes) {
      this.#reasons[index] = this.#computeReasonBits(index, nowMs);
      const isUnavailable = this.#reasons[index] !== 0;
      if (isUnavailable === (before !== null && hasOffer(before, index))) continue;
      bits ??= before === null ? emptyOfferSet(this.catalog.offers.length) : before.slice();
      if (isUnavailable) addOffer(bits, index);
      else removeOffer(bits, index);
    }
    if (bits === null) return;
    this.#unavailable = createUnavailableOfferSet(bits);
  }

  /** Returns the reasons of one offer as a bit set, and updates `#hiddenUntilMs`. */
  #computeReasonBits(index: number, nowMs: number): number {
    const offerBookings = this.#bookings.get(index)!;
    const { asOfDay } = this.catalog.offers[index]!;
    const { maxAgeDays } = this.catalog;
    const day = daysSinceEpoch(nowMs);
    let reasons = 0;
    if (asOfDay !== null && maxAgeDays !== null && day - asOfDay > maxAgeDays) reasons |= bitOf.outdated;
    if (offerBookings.hasReachedCap(day)) reasons |= bitOf.daily_cap;
    if (offerBookings.hasUsedUpBudget(day)) reasons |= bitOf.budget;
    const untilMs = offerBookings.computeHiddenUntilMs(nowMs, this.#clickDistribution);
    if (untilMs <= nowMs || (reasons & bitOf.budget) !== 0) this.#hiddenUntilMs.delete(index);
    else {
      this.#hiddenUntilMs.set(index, untilMs);
      this.#schedulePacingCheck(untilMs, nowMs);
      reasons |= bitOf.paced;
    }
    return reasons;
  }
}

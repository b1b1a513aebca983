import { bounds } from '../bounds.ts';
import { dayStartMs, daysSinceEpoch, msPerDay } from '../domain/calendar.ts';
import type { ClickCountsOfDay } from '../quotas/quota-store.ts';

const slotMs = bounds.clickDistributionSlotMs;
const slotsPerDay = msPerDay / slotMs;
/** The days from which the distribution is computed, today, and one more day in case the wall clock is set back past midnight. */
const storedDays = bounds.clickDistributionDays + 2;

/** Recorded clicks of one day: the day number, and the number of clicks in each time slot. */
export type DailyClickCounts = ClickCountsOfDay;

/**
 * Usual distribution of the clicks of one vertical and mode over a day (docs/contract.md#budgets-and-pacing), computed from the recorded
 * clicks of the last 14 days. With fewer than 1,000 clicks in these days, the distribution is uniform. The class assumes that the clicks
 * inside a time slot of ten minutes are evenly distributed.
 */
export class ClickDistribution {
  /** Clicks by day and slot. Day `d` uses the entry `d % storedDays`. */
  readonly #counts = Array.from({ length: storedDays }, () => new Uint32Array(slotsPerDay));
  readonly #days = new Int32Array(storedDays).fill(-1);
  /** Clicks that other shards have recorded. */
  #countsElsewhere: readonly DailyClickCounts[] = [];
  /** Day for which `#sharesBefore` was computed; -1 if `#sharesBefore` is outdated because clicks of an earlier day were added. */
  #sharesDay = -1;
  /** Share of a day's clicks before the start of each slot; the last element is 1. */
  #sharesBefore = new Float64Array(slotsPerDay + 1);

  addClick(wallMs: number): void {
    const day = daysSinceEpoch(wallMs);
    const counts = this.#findOrAddDay(day);
    if (counts === null) return;
    counts[Math.floor((wallMs - dayStartMs(day)) / slotMs)]! += 1;
    if (day < this.#sharesDay) this.#sharesDay = -1;
  }

  /** Returns the share of a day's clicks that usually comes before a moment of the day: a number from 0 to 1. */
  computeClickShareBefore(wallMs: number): number {
    const day = daysSinceEpoch(wallMs);
    const shares = this.#computeClickShares(day);
    const slots = (wallMs - dayStartMs(day)) / slotMs;
    const slot = Math.floor(slots);
    return shares[slot]! + (shares[slot + 1]! - shares[slot]!) * (slots - slot);
  }

  /**
   * Returns the earliest time of a day by which at least `share` of the day's clicks usually came; the end of the day if there is no such
   * time.
   */
  findTimeWhenShareIsReached(day: number, share: number): number {
    const shares = this.#computeClickShares(day);
    let [low, high] = [0, slotsPerDay];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shares[middle]! >= share) high = middle;
      else low = middle + 1;
    }
    if (low === 0) return dayStartMs(day);
    const [before, after] = [shares[low - 1]!, shares[low]!];
    const part = after > before ? Math.min(1, (share - before) / (after - before)) : 1;
    return Math.ceil(dayStartMs(day) + (low - 1 + part) * slotMs);
  }

  listDays(): DailyClickCounts[] {
    return [...this.#days].flatMap((day, at) => (day < 0 ? [] : [[day, [...this.#counts[at]!]] as const]));
  }

  /** Replaces the click counts of a day with counts that `listDays` returned in an earlier run of the service. */
  restoreDailyClickCounts([day, counts]: DailyClickCounts): void {
    this.#findOrAddDay(day)?.set(counts.slice(0, slotsPerDay));
    this.#sharesDay = -1;
  }

  /** Replaces the clicks that other shards have recorded. A day may have several items. */
  setClickCountsElsewhere(counts: readonly DailyClickCounts[]): void {
    this.#countsElsewhere = counts;
    this.#sharesDay = -1;
  }

  /** Returns the click counts of a day, or null if the day is older than the stored days. Adds a new day in place of the oldest day. */
  #findOrAddDay(day: number): Uint32Array | null {
    const at = day % storedDays;
    if (day < this.#days[at]!) return null;
    const counts = this.#counts[at]!;
    if (day > this.#days[at]!) {
      counts.fill(0);
      this.#days[at] = day;
    }
    return counts;
  }

  #computeClickShares(today: number): Float64Array {
    if (this.#sharesDay === today) return this.#sharesBefore;
    this.#sharesDay = today;
    const shares = new Float64Array(slotsPerDay + 1);
    const addDay = (day: number, counts: ArrayLike<number>) => {
      if (day >= today || day < today - bounds.clickDistributionDays) return;
      for (let slot = 0; slot < slotsPerDay; slot++) shares[slot + 1]! += counts[slot] ?? 0;
    };
    for (const [at, day] of this.#days.entries()) addDay(day, this.#counts[at]!);
    for (const [day, counts] of this.#countsElsewhere) addDay(day, counts);
    for (let slot = 0; slot < slotsPerDay; slot++) shares[slot + 1]! += shares[slot]!;
    const clicks = shares[slotsPerDay]!;
    for (let slot = 0; slot <= slotsPerDay; slot++) {
      shares[slot] = clicks < bounds.clickDistributionClicksMin ? slot / slotsPerDay : shares[slot]! / clicks;
    }
    this.#sharesBefore = shares;
    return shares;
  }
}

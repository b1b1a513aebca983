import { randomBytes } from 'node:crypto';
import type { OfferBudget } from '../catalogs/offer-limits.ts';
import { dayStartMs, daysSinceEpoch, monthOfDay } from '../domain/calendar.ts';
import type { ClickRhythm } from './click-rhythm.ts';
import type { OfferKeyBits } from './session-offer-pairs.ts';

/** Figures of an offer on one UTC day. */
interface DayFigures {
  day: number;
  /** Number of clicks that booked revenue. */
  clicks: number;
  micros: number;
  /** Whether a click booked nothing because its amount did not fit into the budget. */
  hasRefusedClick: boolean;
}

interface MonthFigures {
  /** Number of the month, see `CalendarMonth`. */
  month: number;
  micros: number;
}

/** Figures of an offer in a snapshot: of the last two days and of the last two months with clicks. */
export type StoredAccount = readonly [
  days: readonly (readonly [day: number, clicks: number, micros: number, hasRefusedClick: 0 | 1])[],
  months: readonly (readonly [month: number, micros: number])[],
  tracksSessions: 0 | 1,
];

/**
 * Clicks and revenue that an offer has booked in the current UTC day and month, with the limits of the offer (docs/contract.md#daily-caps,
 * docs/contract.md#budgets-and-pacing). The figures of the previous day and month are also stored, because the wall clock may be set back
 * past midnight.
 */
export class OfferAccount {
  /** Maximum number of clicks per day that book revenue; null for no cap. */
  dailyCap: number | null = null;
  budget: OfferBudget | null = null;
  /** Time at which the offer left the active catalog, or null. The limits still apply to links that were shown before `removedMs`. */
  removedMs: number | null = null;
  /** Whether the sessions that got the offer are stored, so that a click can be checked by docs/contract.md#counting-clicks. */
  tracksSessions = false;
  /**
   * Whether the account comes from a snapshot without session tracking. The number of clicks is then not part of the snapshot and must be
   * counted from the ledger.
   */
  recountsClicks = false;
  /** Index of the offer in the active catalog, or -1. */
  catalogIndex = -1;
  /** Smallest and largest revenue of a click on the offer, see `CompiledCatalog.clickValueRange`. */
  clickMicros = { minMicros: 0, maxMicros: 0 };
  readonly randomId: OfferKeyBits;
  /** Even days use the first entry, odd days the second; months likewise. */
  readonly #days: readonly DayFigures[] = [0, 1].map(() => ({ day: -1, clicks: 0, micros: 0, hasRefusedClick: false }));
  readonly #months: readonly MonthFigures[] = [0, 1].map(() => ({ month: -1, micros: 0 }));

  constructor() {
    const bits = randomBytes(8);
    this.randomId = { high: bits.readUInt32BE(0), low: bits.readUInt32BE(4) };
  }

  get hasLimits(): boolean {
    return this.dailyCap !== null || this.budget !== null;
  }

  /** Adds a click that books its revenue. */
  addBookedClick(clickedMs: number, micros: number): void {
    const day = this.#findOrStartDay(daysSinceEpoch(clickedMs));
    if (day !== null) day.clicks++;
    this.addRevenue(clickedMs, micros);
  }

  addRevenue(clickedMs: number, micros: number): void {
    const dayNumber = daysSinceEpoch(clickedMs);
    const day = this.#findOrStartDay(dayNumber);
    if (day !== null) day.micros += micros;
    const month = this.#findOrStartMonth(monthOfDay(dayNumber).number);
    if (month !== null) month.micros += micros;
  }

  /** Remembers that a click of the day did not fit into the budget. */
  markClickRefused(clickedMs: number): void {
    const day = this.#findOrStartDay(daysSinceEpoch(clickedMs));
    if (day !== null) day.hasRefusedClick = true;
  }

  hasReachedCap(day: number): boolean {
    return this.dailyCap !== null && (this.#findDay(day)?.clicks ?? 0) >= this.dailyCap;
  }

  /** Whether a click of this amount fits into the budgets of the day and of its month. */
  fitsBudget(day: number, micros: number): boolean {
    return this.budget === null || micros <= this.#remainingMicros(day, this.budget);
  }

  /**
   * Whether one more click would exceed the budget. Clicks of different credit bands can have different amounts. The method assumes the
   * smallest amount; after the budget has refused a click on this day, the method assumes the largest amount.
   */
  hasUsedUpBudget(day: number): boolean {
    const { minMicros, maxMicros } = this.clickMicros;
    return !this.fitsBudget(day, this.#findDay(day)?.hasRefusedClick === true ? maxMicros : minMicros);
  }

  /**
   * Returns the time from which pacing shows the offer, on the day of `nowMs`; a time up to `nowMs` if the offer is shown now. The offer is
   * shown while its booked revenue is at most the budget of the day multiplied by the usual share of clicks, plus the amount of one click.
   */
  pacedUntilMs(nowMs: number, rhythm: ClickRhythm): number {
    const day = daysSinceEpoch(nowMs);
    if (this.budget?.pacing !== 'even') return nowMs;
    const aheadMicros = (this.#findDay(day)?.micros ?? 0) - this.clickMicros.minMicros;
    const dayMicros = this.#pacedDayMicros(day, this.budget);
    if (aheadMicros <= dayMicros * rhythm.shareBefore(nowMs)) return nowMs;
    if (dayMicros <= 0) return dayStartMs(day + 1);
    return Math.max(nowMs + 1, rhythm.findTimeOfShare(day, aheadMicros / dayMicros));
  }

  /** Copies the booked revenue of another account, without the number of clicks. */
  adoptRevenue(other: OfferAccount): void {
    for (const [at, { day, micros, hasRefusedClick }] of other.#days.entries()) {
      const own = this.#days[at]!;
      if (own.day === day) Object.assign(own, { micros, hasRefusedClick });
      else if (own.day < day) Object.assign(own, { day, clicks: 0, micros, hasRefusedClick });
      else own.micros = 0;
    }
    for (const [at, month] of other.#months.entries()) Object.assign(this.#months[at]!, month);
  }

  /** Whether the account has booked revenue or clicks in this month or a later month. */
  hasFiguresSince(month: number): boolean {
    return this.#months.some((figures) => figures.month >= month);
  }

  toStored(): StoredAccount {
    return [
      this.#days
        .filter(({ day }) => day >= 0)
        .map(({ day, clicks, micros, hasRefusedClick }) => [day, clicks, micros, hasRefusedClick ? 1 : 0]),
      this.#months.filter(({ month }) => month >= 0).map(({ month, micros }) => [month, micros]),
      this.tracksSessions ? 1 : 0,
    ];
  }

  restore([days, months, tracksSessions]: StoredAccount): void {
    this.recountsClicks = tracksSessions === 0;
    for (const [day, storedClicks, micros, hasRefusedClick] of days) {
      const clicks = this.recountsClicks ? 0 : storedClicks;
      Object.assign(this.#days[day & 1]!, { day, clicks, micros, hasRefusedClick: hasRefusedClick === 1 });
    }
    for (const [month, micros] of months) Object.assign(this.#months[month & 1]!, { month, micros });
  }

  #remainingMicros(day: number, { perDayMicros, perMonthMicros }: OfferBudget): number {
    const dayRemaining =
      perDayMicros === null ? Number.POSITIVE_INFINITY : perDayMicros - (this.#findDay(day)?.micros ?? 0);
    const monthRemaining =
      perMonthMicros === null ? Number.POSITIVE_INFINITY : perMonthMicros - this.#monthMicros(monthOfDay(day).number);
    return Math.min(dayRemaining, monthRemaining);
  }

  /**
   * Returns the budget of a day for pacing: the budget per day, or the part of the budget per month that was left at the start of the day,
   * divided by the remaining days of the month, whichever is smaller.
   */
  #pacedDayMicros(day: number, { perDayMicros, perMonthMicros }: OfferBudget): number {
    const dayLimit = perDayMicros ?? Number.POSITIVE_INFINITY;
    if (perMonthMicros === null) return dayLimit;
    const month = monthOfDay(day);
    const bookedBefore = this.#monthMicros(month.number) - (this.#findDay(day)?.micros ?? 0);
    return Math.min(dayLimit, Math.max(0, Math.floor((perMonthMicros - bookedBefore) / (month.endDay - day))));
  }

  #monthMicros(month: number): number {
    const figures = this.#months[month & 1]!;
    return figures.month === month ? figures.micros : 0;
  }

  #findDay(day: number): DayFigures | null {
    const figures = this.#days[day & 1]!;
    return figures.day === day ? figures : null;
  }

  /** Returns the figures of a day, or null if figures of a later day have replaced them. */
  #findOrStartDay(day: number): DayFigures | null {
    const figures = this.#days[day & 1]!;
    if (day < figures.day) return null;
    if (day > figures.day) Object.assign(figures, { day, clicks: 0, micros: 0, hasRefusedClick: false });
    return figures;
  }

  #findOrStartMonth(month: number): MonthFigures | null {
    const figures = this.#months[month & 1]!;
    if (month < figures.month) return null;
    if (month > figures.month) Object.assign(figures, { month, micros: 0 });
    return figures;
  }
}

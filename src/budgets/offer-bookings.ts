import { randomFillSync } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { OfferBudget } from '../catalogs/offer-view.ts';
import { dayStartMs, daysSinceEpoch, monthOfDay } from '../domain/calendar.ts';
import type { Quota, QuotaKind } from '../quotas/quota-store.ts';
import type { ClickDistribution } from './click-distribution.ts';
import { HourlyRevenue, hoursPerDay, msPerHour, type StoredHourlyRevenue } from './hourly-revenue.ts';
import { RecentFigures } from './recent-figures.ts';
import type { OfferKeyBits } from './session-offer-pairs.ts';

/** Spending of an offer with a budget on all shards, as `GET /catalogs/{vertical}/{mode}/offers` shows it. Amounts are in micro-dollars. */
export interface BudgetState {
  readonly budget: OfferBudget;
  /** Booked revenue of the current UTC day and month; null if it is unknown, so that the offer books no revenue. */
  readonly spent: { readonly day: number; readonly month: number } | null;
  /** Booked revenue of each hour of the current UTC day; null if an earlier release or another shard has booked a part of it. */
  readonly spentByHour: readonly number[] | null;
  /** State of even pacing; null without even pacing. */
  readonly pacing: {
    readonly dayBudgetMicros: number;
    /** Part of the day's budget that is usually spent now. */
    readonly targetMicros: number;
    /** Part of the day's budget that is usually spent at the end of each hour of the day. */
    readonly targetByHour: readonly number[];
    /** Time until which pacing hides the offer; null if pacing shows it. */
    readonly hiddenUntilMs: number | null;
  } | null;
}

/** Figures of an offer in a snapshot, for each stored day and month, and the revenue of the last day by hour. */
export type StoredOfferBookings = readonly [
  days: readonly (readonly [day: number, clicks: number, micros: number, hasRefusedClick: 0 | 1])[],
  months: readonly (readonly [month: number, micros: number])[],
  tracksSessions: 0 | 1,
  /** Null if the offer has no booked revenue. */
  hourly: StoredHourlyRevenue | null,
  randomId: OfferKeyBits,
];

/** Limit of an offer for a day or month, and how much of it the offer has used, in clicks or micro-dollars. */
export interface LimitUse extends Pick<Quota, 'kind' | 'period'> {
  readonly limit: number;
  readonly used: number;
}

const randomBits = new Uint32Array(bounds.offerRandomBitsBuffered);
let usedRandomBits = randomBits.length;

/** Returns 32 random bits. Gets many at once, because a call for each offer takes a third of the activation of a large catalog. */
function nextRandomBits(): number {
  if (usedRandomBits === randomBits.length) {
    randomFillSync(randomBits);
    usedRandomBits = 0;
  }
  return randomBits[usedRandomBits++]!;
}

/**
 * Clicks and revenue that an offer has booked in the last UTC days and months, with the limits of the offer (docs/contract.md#daily-caps,
 * docs/contract.md#budgets-and-pacing). If the figures of a day or month are unknown, an offer with limits books no revenue.
 */
export class OfferBookings {
  /** Maximum number of clicks per day that book revenue; null for no cap. */
  dailyCap: number | null = null;
  budget: OfferBudget | null = null;
  /** Time at which the offer left the active catalog, or null. The limits still apply to links that were shown before `removedMs`. */
  removedMs: number | null = null;
  /** Whether the service stores which sessions got the offer. The rules of docs/contract.md#counting-clicks need these sessions. */
  tracksSessions = false;
  /** Position of the last ledger record that the figures contained when they were captured for the snapshot. */
  restoredPosition = 0;
  /** Index of the offer in the active catalog, or -1. */
  catalogIndex = -1;
  /** Smallest and largest revenue of a click on the offer, see `CompiledCatalog.computeClickValueRange`. */
  clickMicros = { minMicros: 0, maxMicros: 0 };
  /** Identifies the offer in session-offer pairs. */
  randomId: OfferKeyBits;
  readonly #days: RecentFigures;
  readonly #months: RecentFigures;
  #hourly = new HourlyRevenue();
  /** Use of the limits by other shards, by kind and period; null if there are none. Latest change last. */
  #useElsewhere: Map<string, number> | null = null;

  /** @param knownSinceDay first UTC day of the period in which all clicks are applied to the bookings */
  constructor(knownSinceDay: number) {
    this.randomId = { high: nextRandomBits(), low: nextRandomBits() };
    const { number, firstDay } = monthOfDay(knownSinceDay);
    this.#days = new RecentFigures(bounds.bookedDaysStoredMax, knownSinceDay);
    const firstMonth = knownSinceDay === firstDay ? number : number + 1;
    this.#months = new RecentFigures(bounds.bookedMonthsStoredMax, firstMonth);
  }

  get hasLimits(): boolean {
    return this.dailyCap !== null || this.budget !== null;
  }

  /** Adds a click that books its revenue. */
  addBookedClick(clickedMs: number, micros: number): void {
    const day = this.#days.findOrAddPeriod(daysSinceEpoch(clickedMs));
    if (day !== null) day.clicks++;
    this.addRevenue(clickedMs, micros);
  }

  addRevenue(clickedMs: number, micros: number): void {
    const dayNumber = daysSinceEpoch(clickedMs);
    const day = this.#days.findOrAddPeriod(dayNumber);
    if (day !== null) day.micros += micros;
    const month = this.#months.findOrAddPeriod(monthOfDay(dayNumber).number);
    if (month !== null) month.micros += micros;
    this.#hourly.add(clickedMs, micros);
  }

  /** Remembers that a click of the day did not fit into the budget. */
  markClickRefused(clickedMs: number): void {
    const day = this.#days.findOrAddPeriod(daysSinceEpoch(clickedMs));
    if (day !== null) day.hasRefusedClick = true;
  }

  hasReachedCap(day: number): boolean {
    if (this.dailyCap === null) return false;
    return this.#days.isPeriodUnknown(day) || this.#countClicks(day) >= this.dailyCap;
  }

  /** Returns the limit that a click of this amount would exceed, or null. */
  findReachedLimit(day: number, micros: number): 'cap' | 'budget' | null {
    if (this.hasReachedCap(day)) return 'cap';
    return this.fitsBudget(day, micros) ? null : 'budget';
  }

  /** Lists the limits that apply to a click on a day, with the use by this process. Returns null if a use is unknown. */
  listLimitUses(day: number): readonly LimitUse[] | null {
    const month = monthOfDay(day).number;
    const limits = [
      { kind: 'day_clicks', period: day, limit: this.dailyCap },
      { kind: 'day_micros', period: day, limit: this.budget?.perDayMicros ?? null },
      { kind: 'month_micros', period: month, limit: this.budget?.perMonthMicros ?? null },
    ] as const;
    const uses: LimitUse[] = [];
    if (this.#days.isPeriodUnknown(day) || (this.budget !== null && this.#months.isPeriodUnknown(month))) return null;
    for (const { kind, period, limit } of limits) {
      if (limit !== null) uses.push({ kind, period, limit, used: this.findUse(kind, period) ?? 0 });
    }
    return uses;
  }

  /** Lists the kinds of use that other shards must know. */
  get sharedKinds(): readonly QuotaKind[] {
    const ofCap: readonly QuotaKind[] = this.dailyCap === null ? [] : ['day_clicks'];
    return this.budget === null ? ofCap : [...ofCap, 'day_micros', 'month_micros', 'day_refusal'];
  }

  /** Returns the clicks or the revenue that this process has booked in a period; null if they are unknown. */
  findUse(kind: QuotaKind, period: number): number | null {
    const figures = kind === 'month_micros' ? this.#months : this.#days;
    if (figures.isPeriodUnknown(period)) return null;
    const found = figures.find(period);
    if (kind === 'day_refusal') return Number(found?.hasRefusedClick === true);
    return (kind === 'day_clicks' ? found?.clicks : found?.micros) ?? 0;
  }

  /** Lists the periods with bookings of a kind. */
  listPeriods(kind: QuotaKind): number[] {
    const { figuresByPeriod } = kind === 'month_micros' ? this.#months : this.#days;
    return figuresByPeriod.map(([period]) => period);
  }

  /** Sets how much other shards have booked in a period. */
  setUseElsewhere(kind: QuotaKind, period: number, amount: number): void {
    this.#useElsewhere ??= new Map();
    const key = `${kind} ${period}`;
    this.#useElsewhere.delete(key);
    this.#useElsewhere.set(key, amount);
    if (this.#useElsewhere.size <= bounds.usesElsewhereMax) return;
    const [oldest] = this.#useElsewhere.keys();
    this.#useElsewhere.delete(oldest!);
  }

  /** Whether a click of this amount fits into the budgets of the day and of its month. */
  fitsBudget(day: number, micros: number): boolean {
    if (this.budget === null) return true;
    const isUnknown = this.#days.isPeriodUnknown(day) || this.#months.isPeriodUnknown(monthOfDay(day).number);
    return !isUnknown && micros <= this.#computeRemainingBudgetMicros(day, this.budget);
  }

  /**
   * Whether one more click would exceed the budget. Clicks of different credit bands can have different amounts. The method assumes the
   * smallest amount, or the largest amount after a click of this day did not fit into the budget.
   */
  hasUsedUpBudget(day: number): boolean {
    const { minMicros, maxMicros } = this.clickMicros;
    const hasRefusedClick =
      this.#days.find(day)?.hasRefusedClick === true || this.#findUseElsewhere('day_refusal', day) > 0;
    return !this.fitsBudget(day, hasRefusedClick ? maxMicros : minMicros);
  }

  /**
   * Returns the time until which pacing hides the offer, at the latest the end of the day of `nowMs`. Returns `nowMs` if pacing shows the
   * offer now. The offer is shown while its booked revenue is at most the budget of the day multiplied by the usual share of clicks, plus
   * the amount of one click.
   */
  computeHiddenUntilMs(nowMs: number, clickDistribution: ClickDistribution): number {
    const day = daysSinceEpoch(nowMs);
    if (this.budget?.pacing !== 'even') return nowMs;
    const aheadMicros = this.#sumDayMicros(day) - this.clickMicros.minMicros;
    const budgetMicros = this.#computeDayBudgetMicros(day, this.budget);
    if (aheadMicros <= budgetMicros * clickDistribution.computeClickShareBefore(nowMs)) return nowMs;
    if (budgetMicros <= 0) return dayStartMs(day + 1);
    return Math.max(nowMs + 1, clickDistribution.findTimeWhenShareIsReached(day, aheadMicros / budgetMicros));
  }

  /** Returns the revenue that this process has booked on a UTC day, and in the month of the day. */
  getBookedMicros(day: number): { readonly day: number; readonly month: number } {
    const month = monthOfDay(day).number;
    return { day: this.#days.find(day)?.micros ?? 0, month: this.#months.find(month)?.micros ?? 0 };
  }

  /** Returns the number of clicks of the current UTC day that booked revenue on all shards; null if the number is unknown. */
  countClicksOfDay(nowMs: number): number | null {
    const day = daysSinceEpoch(nowMs);
    return this.#days.isPeriodUnknown(day) ? null : this.#countClicks(day);
  }

  /** Returns how much of the budget is spent; null for an offer without a budget. */
  describeBudget(nowMs: number, clickDistribution: ClickDistribution): BudgetState | null {
    const { budget } = this;
    if (budget === null) return null;
    const day = daysSinceEpoch(nowMs);
    const spent = { day: this.#sumDayMicros(day), month: this.#sumMonthMicros(monthOfDay(day).number) };
    const isUnknown = this.#days.isPeriodUnknown(day) || this.#months.isPeriodUnknown(monthOfDay(day).number);
    return {
      budget,
      spent: isUnknown ? null : spent,
      spentByHour: isUnknown ? null : this.#hourly.find(day, spent.day),
      pacing: budget.pacing === 'even' ? this.#describePacing(nowMs, budget, clickDistribution) : null,
    };
  }

  /** Overwrites the booked revenue with the booked revenue of `other`. Does not change the number of clicks. */
  copyRevenueFrom(other: OfferBookings): void {
    for (const [, figures] of this.#days.figuresByPeriod) Object.assign(figures, { micros: 0, hasRefusedClick: false });
    for (const [day, { micros, hasRefusedClick }] of other.#days.figuresByPeriod) {
      Object.assign(this.#days.findOrAddPeriod(day) ?? {}, { micros, hasRefusedClick });
    }
    for (const [month, { micros }] of other.#months.figuresByPeriod) {
      Object.assign(this.#months.findOrAddPeriod(month) ?? {}, { micros });
    }
    this.#hourly = other.#hourly;
  }

  get hasFigures(): boolean {
    return this.#days.figuresByPeriod.length > 0;
  }

  /** Whether there are clicks or revenue in this month or a later month. */
  hasBookingsSinceMonth(month: number): boolean {
    return this.#months.figuresByPeriod.some(([stored]) => stored >= month);
  }

  toStoredBookings(tracksSessions = this.tracksSessions): StoredOfferBookings {
    return [
      this.#days.figuresByPeriod.map(([day, { clicks, micros, hasRefusedClick }]) => [
        day,
        clicks,
        micros,
        hasRefusedClick ? 1 : 0,
      ]),
      this.#months.figuresByPeriod.map(([month, { micros }]) => [month, micros]),
      tracksSessions ? 1 : 0,
      this.#hourly.toStored(),
      this.randomId,
    ];
  }

  /** @param position position of the last ledger record that the figures contain */
  restoreBookings([days, months, tracksSessions, hourly, { high, low }]: StoredOfferBookings, position: number): void {
    this.#hourly = new HourlyRevenue(hourly);
    this.tracksSessions = tracksSessions === 1;
    this.randomId = { high, low };
    this.restoredPosition = position;
    for (const [day, clicks, micros, hasRefusedClick] of days) {
      Object.assign(this.#days.findOrAddPeriod(day) ?? {}, { clicks, micros, hasRefusedClick: hasRefusedClick === 1 });
    }
    for (const [month, micros] of months) Object.assign(this.#months.findOrAddPeriod(month) ?? {}, { micros });
  }

  #describePacing(nowMs: number, budget: OfferBudget, clickDistribution: ClickDistribution): BudgetState['pacing'] {
    const day = daysSinceEpoch(nowMs);
    const dayBudgetMicros = this.#computeDayBudgetMicros(day, budget);
    const hiddenUntilMs = this.computeHiddenUntilMs(nowMs, clickDistribution);
    const targetBefore = (wallMs: number) =>
      Math.round(dayBudgetMicros * clickDistribution.computeClickShareBefore(wallMs));
    const startMs = dayStartMs(day);
    // The last hour ends with the day, and the share before the start of the next day would be 0.
    const targetByHour = Array.from({ length: hoursPerDay }, (_, hour) =>
      hour === hoursPerDay - 1 ? dayBudgetMicros : targetBefore(startMs + (hour + 1) * msPerHour),
    );
    return {
      dayBudgetMicros,
      targetMicros: targetBefore(nowMs),
      targetByHour,
      hiddenUntilMs: hiddenUntilMs > nowMs ? hiddenUntilMs : null,
    };
  }

  #computeRemainingBudgetMicros(day: number, { perDayMicros, perMonthMicros }: OfferBudget): number {
    const dayRemaining = perDayMicros === null ? Number.POSITIVE_INFINITY : perDayMicros - this.#sumDayMicros(day);
    const monthRemaining =
      perMonthMicros === null
        ? Number.POSITIVE_INFINITY
        : perMonthMicros - this.#sumMonthMicros(monthOfDay(day).number);
    return Math.min(dayRemaining, monthRemaining);
  }

  /**
   * Returns the budget of a day for pacing: the part of the month's budget that was left at the start of the day, divided by the remaining
   * days of the month, or the budget per day if it is smaller.
   */
  #computeDayBudgetMicros(day: number, { perDayMicros, perMonthMicros }: OfferBudget): number {
    if (perMonthMicros === null) return perDayMicros!;
    const month = monthOfDay(day);
    const bookedBefore = this.#sumMonthMicros(month.number) - this.#sumDayMicros(day);
    const monthShare = Math.max(0, Math.floor((perMonthMicros - bookedBefore) / (month.endDay - day)));
    return perDayMicros === null ? monthShare : Math.min(perDayMicros, monthShare);
  }

  #countClicks(day: number): number {
    return (this.#days.find(day)?.clicks ?? 0) + this.#findUseElsewhere('day_clicks', day);
  }

  #sumDayMicros(day: number): number {
    return (this.#days.find(day)?.micros ?? 0) + this.#findUseElsewhere('day_micros', day);
  }

  #sumMonthMicros(month: number): number {
    return (this.#months.find(month)?.micros ?? 0) + this.#findUseElsewhere('month_micros', month);
  }

  #findUseElsewhere(kind: QuotaKind, period: number): number {
    return this.#useElsewhere?.get(`${kind} ${period}`) ?? 0;
  }
}

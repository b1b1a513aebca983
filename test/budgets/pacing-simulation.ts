import { seededRandom } from '../../bench/population/random.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import { hasOffer } from '../../src/matching/offer-set.ts';
import { plainBand } from '../matching/loan-fixtures.ts';
import { AvailabilityBench, catalogWithOffers } from './availability-bench.ts';

const hourMs = 60 * 60 * 1000;
const minuteMs = 60 * 1000;
const monthStartMs = Date.UTC(2026, 4, 1);
const monthDays = 31;
/** Days before the month, in which the service collects the clicks for the click distribution. */
const warmUpDays = 14;

/** Relative number of sessions in each hour of a day (UTC). */
const sessionsByHour = [4, 3, 2, 2, 2, 3, 5, 7, 9, 10, 11, 12, 12, 11, 11, 10, 10, 11, 12, 13, 12, 10, 8, 6];
/** Number of sessions of a day relative to a Monday, from Sunday to Saturday. */
const weekdayFactors = [0.6, 1, 1.05, 1.05, 1, 0.95, 0.7];
const sessionsPerMonday = 6_000;
/** Probability that a session clicks an offer that it got. */
const clickProbability = 0.12;
const meanClickDelayMs = 40_000;

const bands = ['700-749', '750-799'] as const;
const confirmRates = [0.02, 0.025] as const;
const payoutUsd = 50;
/** Largest revenue of one click. */
export const largestClickMicros = payoutUsd * Math.max(...confirmRates) * 1_000_000;

const dayBudgetUsd = 300;
const monthBudgetUsd = 9_000;
/** Offers with even pacing, with a budget per day, with a budget per month, and with both. */
export const pacedOffers = ['per-day', 'per-month', 'per-day-and-month'] as const;
export type PacedOffer = (typeof pacedOffers)[number];

function createCatalog(): CompiledCatalog {
  const listed = bands.map((band, at) => [band, plainBand({ confirm_rate: confirmRates[at]! })]);
  const offer = { payout_usd: payoutUsd, bands: Object.fromEntries(listed) };
  const pacedBy = (budget: object) => ({ ...offer, budget: { ...budget, pacing: 'even' as const } });
  return catalogWithOffers({
    'per-day': pacedBy({ per_day_usd: dayBudgetUsd }),
    'per-month': pacedBy({ per_month_usd: monthBudgetUsd }),
    'per-day-and-month': pacedBy({ per_day_usd: dayBudgetUsd, per_month_usd: monthBudgetUsd }),
    unlimited: offer,
  });
}

/** Returns the part of a day's sessions that comes before a moment of the day on average. */
function idealShare(msOfDay: number): number {
  const hour = Math.floor(msOfDay / hourMs);
  const before = sessionsByHour.slice(0, hour).reduce((sum, sessions) => sum + sessions, 0);
  const total = sessionsByHour.reduce((sum, sessions) => sum + sessions, 0);
  return (before + ((sessionsByHour[hour] ?? 0) * (msOfDay - hour * hourMs)) / hourMs) / total;
}

/** Booked revenue of an offer on the current day, at the end of an hour. */
export interface SimulatedHour {
  readonly endMs: number;
  readonly bookedMicros: number;
  /** Budget of the day multiplied by the average share of a day's sessions before `endMs`. */
  readonly idealMicros: number;
  readonly dayBudgetMicros: number;
}

export type SimulatedMonth = Readonly<Record<PacedOffer, readonly SimulatedHour[]>>;

interface PendingClick {
  readonly atMs: number;
  readonly sub: Buffer;
  readonly offerId: string;
  readonly band: number;
}

/** Simulates the sessions, views and clicks of a month. Equal seeds give equal results. */
export function simulateMonth(seed: number): SimulatedMonth {
  return new PacingSimulation(seed).run();
}

class PacingSimulation {
  readonly #random: () => number;
  readonly #bench = new AvailabilityBench(createCatalog(), monthStartMs - warmUpDays * msPerDay);
  readonly #booked = new Map<string, number>();
  readonly #bookedBeforeDay = new Map<string, number>();
  #pendingClicks: PendingClick[] = [];

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  run(): SimulatedMonth {
    const hours: Record<PacedOffer, SimulatedHour[]> = { 'per-day': [], 'per-month': [], 'per-day-and-month': [] };
    for (let day = -warmUpDays; day < monthDays; day++) {
      const dayMs = monthStartMs + day * msPerDay;
      for (const id of pacedOffers) this.#bookedBeforeDay.set(id, day < 0 ? 0 : (this.#booked.get(id) ?? 0));
      for (let hour = 0; hour < 24; hour++) {
        for (let minute = 0; minute < 60; minute++) this.#runMinute(dayMs + hour * hourMs + minute * minuteMs);
        if (day < 0) continue;
        for (const id of pacedOffers) hours[id].push(this.#reportHour(id, day, dayMs + (hour + 1) * hourMs));
      }
      if (day === -1) this.#booked.clear();
    }
    return hours;
  }

  #runMinute(startMs: number): void {
    const hour = sessionsByHour[new Date(startMs).getUTCHours()]!;
    const total = sessionsByHour.reduce((sum, sessions) => sum + sessions, 0);
    const mean = (sessionsPerMonday * weekdayFactors[new Date(startMs).getUTCDay()]! * hour) / total / 60;
    for (let atMs = startMs; ; ) {
      atMs += (-Math.log(1 - this.#random()) / mean) * minuteMs;
      if (atMs >= startMs + minuteMs) break;
      this.#runClicksUntil(Math.floor(atMs));
      this.#showOffers(Math.floor(atMs));
    }
    this.#runClicksUntil(startMs + minuteMs - 1);
  }

  #showOffers(nowMs: number): void {
    this.#bench.nowMs = nowMs;
    const { bookings, catalog } = this.#bench;
    const { bits } = bookings.unavailableOffers(catalog, nowMs);
    const ids = catalog.offers.flatMap(({ id }, index) => (bits === null || !hasOffer(bits, index) ? [id] : []));
    const sub = this.#bench.session(ids);
    for (const offerId of ids) {
      if (this.#random() >= clickProbability) continue;
      const delayMs = 2_000 - Math.log(1 - this.#random()) * meanClickDelayMs;
      const band = this.#random() < 0.6 ? 0 : 1;
      this.#pendingClicks.push({ atMs: nowMs + Math.floor(delayMs), sub, offerId, band });
    }
    this.#pendingClicks.sort((one, other) => one.atMs - other.atMs);
  }

  #runClicksUntil(nowMs: number): void {
    while (this.#pendingClicks.length > 0 && this.#pendingClicks[0]!.atMs <= nowMs) {
      const { atMs, sub, offerId, band } = this.#pendingClicks.shift()!;
      const fullValue = payoutUsd * confirmRates[band]! * 1_000_000;
      this.#bench.nowMs = atMs;
      const decision = this.#bench.clickWorth(sub, offerId, fullValue);
      if (decision.isBooked) this.#booked.set(offerId, (this.#booked.get(offerId) ?? 0) + fullValue);
    }
  }

  #reportHour(id: PacedOffer, day: number, endMs: number): SimulatedHour {
    const before = this.#bookedBeforeDay.get(id)!;
    const leftMicros = Math.floor((monthBudgetUsd * 1_000_000 - before) / (monthDays - day));
    const dayBudgetMicros = {
      'per-day': dayBudgetUsd * 1_000_000,
      'per-month': leftMicros,
      'per-day-and-month': Math.min(dayBudgetUsd * 1_000_000, leftMicros),
    }[id];
    const msOfDay = endMs - daysSinceEpoch(endMs - 1) * msPerDay;
    const bookedMicros = (this.#booked.get(id) ?? 0) - before;
    return { endMs, bookedMicros, idealMicros: dayBudgetMicros * idealShare(msOfDay), dayBudgetMicros };
  }
}

import type { CatalogOffer } from '../../src/catalogs/catalog-schema.ts';
import { toClickRecordItems } from '../../src/clicks/click-decision.ts';
import { daysSinceEpoch, formatIsoDate } from '../../src/domain/calendar.ts';
import { microsPerUsd } from '../../src/domain/money.ts';
import type { LedgerRecord, OfferClickedRecord, UnbookedReason } from '../../src/ledger/ledger-record.ts';
import { ledgerRecordKind } from '../../src/ledger/ledger-record.ts';
import type { DemoOffer } from './demo-offers.ts';

/** Share of the clicks of a usual day that a daily cap or a budget of a day allows, so that the limit is reached on most days. */
const allowedShare = 0.4;
/** Budget of a month as a multiple of the revenue of 30 usual days, so that it is not used up. */
const monthlyReserve = 1.3;
const daysPerMonth = 30;

/** Limits of an offer, as a catalog file contains them. */
export type DemoLimit = Pick<CatalogOffer, 'daily_cap' | 'budget'>;

/**
 * Gives a limit to the three offers with the most clicks: a budget of a day that is used up early, a daily cap that is reached, and an evenly
 * paced budget of a month that lasts.
 *
 * @param offers all offers of the demo, without repetition
 * @param days number of days of the clicks
 */
export function chooseLimits(
  offers: readonly DemoOffer[],
  clicks: readonly OfferClickedRecord[],
  days: number,
): ReadonlyMap<string, DemoLimit> {
  const clicksOf = Map.groupBy(clicks, ([, , , , offerId]) => offerId);
  const [budgeted, capped, paced] = [...clicksOf].sort(([, one], [, other]) => other.length - one.length);
  const usdPerDay = ([id, clicked]: [string, readonly OfferClickedRecord[]], share: number, dayCount = 1) => {
    const { largestClickMicros } = offers.find((offer) => offer.id === id)!;
    const booked = clicked.reduce((sum, [, , , , , , valueMicros]) => sum + valueMicros, 0) / days;
    return Math.ceil(Math.max(booked * share * dayCount, largestClickMicros) / microsPerUsd);
  };
  return new Map<string, DemoLimit>([
    [budgeted![0], { budget: { per_day_usd: usdPerDay(budgeted!, allowedShare), pacing: 'asap' } }],
    [capped![0], { daily_cap: Math.max(1, Math.floor((capped![1].length / days) * allowedShare)) }],
    [paced![0], { budget: { per_month_usd: usdPerDay(paced!, monthlyReserve, daysPerMonth), pacing: 'even' } }],
  ]);
}

interface Bookings {
  day: number;
  month: string;
  clicks: number;
  dayMicros: number;
  monthMicros: number;
}

/** Decides which clicks on offers with a limit book revenue, as the service would. The clicks must be passed in the order of their times. */
export class DemoBookings {
  readonly #limits: ReadonlyMap<string, DemoLimit>;
  readonly #bookings = new Map<string, Bookings>();

  /** @param limits limits by offer ID, for each vertical. Offers of different verticals have different IDs */
  constructor(limits: readonly ReadonlyMap<string, DemoLimit>[]) {
    this.#limits = new Map(limits.flatMap((each) => [...each]));
  }

  /** Returns the record, or the record of a click that books nothing. */
  decide(record: LedgerRecord): LedgerRecord {
    if (record[0] !== ledgerRecordKind.offerClicked) return record;
    const [kind, wallMs, sub, catalogVersion, offerId, lenderName, valueMicros, , , , payoutMicros] = record;
    const limit = this.#limits.get(offerId);
    if (limit === undefined) return record;
    const bookings = this.#bookingsOf(offerId, daysSinceEpoch(wallMs));
    const reason = findReason(limit, bookings, valueMicros);
    if (reason === null) {
      bookings.clicks++;
      bookings.dayMicros += valueMicros;
      bookings.monthMicros += valueMicros;
      return record;
    }
    const items = toClickRecordItems({ hasValue: false, isBooked: false, unbookedReason: reason }, payoutMicros);
    return [kind, wallMs, sub, catalogVersion, offerId, lenderName, valueMicros, ...items] as OfferClickedRecord;
  }

  #bookingsOf(offerId: string, day: number): Bookings {
    const month = formatIsoDate(day).slice(0, 'yyyy-mm'.length);
    const known = this.#bookings.get(offerId);
    if (known?.day === day) return known;
    const monthMicros = known?.month === month ? known.monthMicros : 0;
    const bookings = { day, month, clicks: 0, dayMicros: 0, monthMicros };
    this.#bookings.set(offerId, bookings);
    return bookings;
  }
}

function findReason(
  { daily_cap: cap = Number.POSITIVE_INFINITY, budget }: DemoLimit,
  { clicks, dayMicros, monthMicros }: Bookings,
  valueMicros: number,
): UnbookedReason | null {
  if (clicks >= cap) return 'cap';
  const { per_day_usd = Number.POSITIVE_INFINITY, per_month_usd = Number.POSITIVE_INFINITY } = budget ?? {};
  const fits =
    dayMicros + valueMicros <= per_day_usd * microsPerUsd && monthMicros + valueMicros <= per_month_usd * microsPerUsd;
  return fits ? null : 'budget';
}

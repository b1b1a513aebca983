import type { OfferMetrics, OffersPage, OffersQuery } from './analytics.ts';
import { readShownOffers } from './offer-views.ts';
import { SessionReader } from './session-reader.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Sums of the clicks on one offer with one name of its lender. */
interface ClickRow {
  readonly offer: number;
  readonly lender: string;
  readonly lastDay: number;
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
}

/** Skips the offer number 0, which has the clicks of days that an earlier release archived without offers. */
const selectClicksSql = `
  SELECT offer, name AS lender, max(day) AS lastDay, sum(clicks) AS clicks,
    total(attributed_micros) AS attributedMicros, total(confirmed_micros) AS confirmedMicros
  FROM offer_counter JOIN lender ON number = lender WHERE tag_number = ? AND day BETWEEN ? AND ? AND offer > 0
  GROUP BY offer, lender ORDER BY offer, lastDay DESC, name`;

/** Reads a page of the offers of a tag (docs/contract.md#offers), in the alphabetical order of their ids. */
export function readOffers(database: SqlDatabase, query: OffersQuery): OffersPage {
  const { fromDay, toDay, afterOfferId, limit } = query;
  const reader = new SessionReader(database);
  const tagNumber = reader.findTagNumber(query);
  const found: OfferMetrics[] = [];
  if (tagNumber !== null) {
    const clicks = database.objects<ClickRow>(selectClicksSql, [tagNumber, fromDay, toDay]);
    const clicksByOffer = Map.groupBy(clicks, ({ offer }) => offer);
    for (const [offer, shownByPosition] of readShownOffers(database, tagNumber, fromDay, toDay)) {
      const offerId = database.value<string>('SELECT id FROM offer WHERE number = ?', [offer])!;
      if (offerId > afterOfferId)
        found.push({ offerId, shownByPosition, ...sumClicks(clicksByOffer.get(offer) ?? []) });
    }
  }
  const page = found.sort((a, b) => (a.offerId < b.offerId ? -1 : 1)).slice(0, limit);
  return {
    offers: page,
    ...reader.getCoverage(query),
    offersFromDay: database.value<number>('SELECT offers_from_day FROM retention')!,
    nextAfterOfferId: found.length > limit ? page.at(-1)!.offerId : null,
  };
}

function sumClicks(rows: readonly ClickRow[]): Omit<OfferMetrics, 'offerId' | 'shownByPosition'> {
  const sums = { clicks: 0, attributedMicros: 0, confirmedMicros: 0 };
  for (const { clicks, attributedMicros, confirmedMicros } of rows) {
    sums.clicks += clicks;
    sums.attributedMicros += attributedMicros;
    sums.confirmedMicros += confirmedMicros;
  }
  return { ...sums, lender: rows[0]?.lender ?? null };
}

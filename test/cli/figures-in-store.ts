import Database from 'better-sqlite3';
import { unbookedClickColumns } from '../../src/analytics/analytics-database.ts';
import { decodeVarints } from '../../src/analytics/sql-database.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';

/** Returns the counts of the table `offer_view` as `<offer> <position> <count>`. */
function shownPlaces(shown: Buffer, offers: ReadonlyMap<number, unknown>): string[] {
  const numbers = decodeVarints(shown);
  let place = 0;
  const places = numbers.flatMap((number, index) => {
    if (index % 2 === 0) place += number;
    return index % 2 === 0 ? [] : [`${offers.get(Math.floor(place / 20))} ${place % 20} ${number}`];
  });
  return places.sort();
}

/**
 * Returns the sessions, clicks, payouts and counters of a store. Uses names instead of row numbers, because row numbers
 * depend on the order of the records. Joins the cohort lists, because their partition depends on the batches.
 */
export function figuresInStore(file: string): Record<string, unknown> {
  const database = new Database(file, { readonly: true });
  try {
    database.defaultSafeIntegers();
    const rows = (sql: string) => database.prepare<[], unknown[]>(sql).raw().all() as unknown[][];
    const offers = new Map(rows('SELECT number, id FROM offer').map(([number, id]) => [Number(number), id]));
    const tag = `account || ' ' || vertical || ' ' || test || ' ' || tag`;
    const lists = new Map<unknown, string>();
    for (const [list, subs] of rows(
      `SELECT day || ' ' || ${tag}, subs FROM cohort_piece JOIN referrer_tag ON number = tag_number ORDER BY day, last_position`,
    )) {
      lists.set(list, (lists.get(list) ?? '') + (subs as Buffer).toString('hex'));
    }
    return {
      retainedFromDay: rows('SELECT kept_from_day FROM retention'),
      progress: rows('SELECT position, segment, "offset", crc, last_wall_ms FROM progress'),
      segments: rows('SELECT * FROM ledger_segment ORDER BY first'),
      lists: [...lists].sort(),
      sessions: rows(
        `SELECT sub, ${tag}, position, device, views, clicks, last_event_ms, hex(widget_events), shown
        FROM session JOIN referrer_tag ON number = tag_number ORDER BY sub`,
      ).map(([sub, ...values]) => {
        const shown = decodeVarints(values.pop() as Buffer | null).map((number) => offers.get(number));
        return [(sub as Buffer).toString('hex'), ...values, shown];
      }),
      metadata: rows('SELECT * FROM session_metadata ORDER BY session'),
      clicks: rows(
        `SELECT session, id, name, clicked_ms, attributed_micros, confirmed_micros, booking, unbooked_reasons
        FROM click JOIN offer ON offer.number = offer JOIN lender ON lender.number = lender ORDER BY session, id`,
      ),
      payouts: rows(
        `SELECT session, id, txid, funded_micros, funded_ms, reversed_micros, reversed_ms
        FROM payout JOIN offer ON number = offer ORDER BY session, id, txid`,
      ),
      reversals: rows(
        `SELECT session, id, txid, reversed_micros, reversed_ms, reason
        FROM click_reversal JOIN offer ON number = offer ORDER BY session, id, txid`,
      ),
      days: rows(
        `SELECT ${tag}, day, device, sessions, views, clicks, attributed_micros, confirmed_micros, confirmed_cents_squared,
          ${unbookedClickColumns.join(', ')}
        FROM day_counter JOIN referrer_tag ON number = tag_number ORDER BY 1, 2, 3`,
      ),
      widgets: rows(
        `SELECT ${tag}, day, device, ${widgetEventTypes.join(', ')}
        FROM widget_counter JOIN referrer_tag ON number = tag_number ORDER BY 1, 2, 3`,
      ),
      offers: rows(
        `SELECT ${tag}, day, name, id, clicks, attributed_micros, confirmed_micros FROM offer_counter
        JOIN referrer_tag ON referrer_tag.number = tag_number JOIN lender ON lender.number = lender
        LEFT JOIN offer ON offer.number = offer ORDER BY 1, 2, 3, 4`,
      ),
      totals: rows(
        `SELECT vertical, test, id, day, shown, clicks, attributed_micros, confirmed_micros
        FROM offer_total JOIN offer ON number = offer ORDER BY 1, 2, 3, 4`,
      ),
      shown: rows(
        `SELECT ${tag}, day, shown FROM offer_view JOIN referrer_tag ON number = tag_number ORDER BY 1, 2`,
      ).map(([list, day, shown]) => [list, day, shownPlaces(shown as Buffer, offers)]),
    };
  } finally {
    database.close();
  }
}

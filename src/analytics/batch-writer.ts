import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import { reversalReasons } from '../ledger/ledger-record.ts';
import { createIncrementSql, encodeVarints, RowWriter, type SqlValue } from './analytics-database.ts';
import type { DailyCounters } from './daily-counters.ts';
import type { LedgerProjection } from './ledger-projection.ts';
import { recordCountColumns, recordCountNames } from './projection-state.ts';

/** Writes the changes in a `LedgerProjection` to the store. The caller must open a transaction first. */
export class AnalyticsBatchWriter {
  readonly #sessionWriter: RowWriter;
  readonly #cohortPieceWriter: RowWriter;
  readonly #clickWriter: RowWriter;
  readonly #counters: DailyCounters;
  readonly #segmentWriter: RowWriter;
  readonly #payoutWriter: RowWriter;
  readonly #reversalWriter: RowWriter;
  readonly #addClickRevenue: Statement<[number, number, number]>;
  readonly #updateProgress: Statement<SqlValue[]>;

  constructor(database: Database, counters: DailyCounters) {
    this.#counters = counters;
    this.#segmentWriter = new RowWriter(
      database,
      'ledger_segment',
      ['first', 'last_day'],
      'ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day)',
    );
    this.#sessionWriter = new RowWriter(
      database,
      'session',
      ['sub', 'experiment', 'position', 'device', 'views', 'clicks', 'shown', 'last_event_ms', 'widget_events'],
      `ON CONFLICT DO UPDATE SET views = excluded.views, clicks = excluded.clicks, shown = excluded.shown,
        last_event_ms = excluded.last_event_ms, widget_events = excluded.widget_events`,
    );
    const pieceColumns = ['experiment', 'day', 'last_position', 'first_position', 'subs'];
    this.#cohortPieceWriter = new RowWriter(database, 'cohort_piece', pieceColumns);
    this.#clickWriter = new RowWriter(
      database,
      'click',
      ['session', 'offer', 'lender', 'clicked_ms', 'attributed_micros', 'booking', 'unbooked_reasons', 'payout_micros'],
      `ON CONFLICT DO UPDATE SET clicked_ms = excluded.clicked_ms, attributed_micros = excluded.attributed_micros,
        booking = excluded.booking, unbooked_reasons = excluded.unbooked_reasons`,
    );
    this.#payoutWriter = new RowWriter(
      database,
      'payout',
      ['session', 'offer', 'txid', 'funded_micros', 'funded_ms', 'reversed_micros', 'reversed_ms'],
      'ON CONFLICT DO UPDATE SET reversed_micros = excluded.reversed_micros, reversed_ms = excluded.reversed_ms',
    );
    const reversalColumns = ['session', 'offer', 'txid', 'reversed_micros', 'reversed_ms', 'reason'];
    this.#reversalWriter = new RowWriter(database, 'click_reversal', reversalColumns);
    this.#addClickRevenue = database.prepare(
      'UPDATE click SET confirmed_micros = confirmed_micros + ? WHERE session = ? AND offer = ?',
    );
    this.#updateProgress = database.prepare(`
      INSERT INTO progress VALUES (1, ?, ?, ?, ?, ?, ${recordCountColumns.map(() => '?').join(', ')})
      ON CONFLICT DO UPDATE SET position = excluded.position, segment = excluded.segment, "offset" = excluded."offset",
        crc = excluded.crc, last_wall_ms = coalesce(excluded.last_wall_ms, last_wall_ms),
        ${createIncrementSql(recordCountColumns)}`);
  }

  write(projection: LedgerProjection, cursor: LogCursor): void {
    this.#sessionWriter.writeRows(sessionRows(projection));
    this.#cohortPieceWriter.writeRows(cohortPieceRows(projection));
    this.#clickWriter.writeRows(clickRows(projection));
    this.#counters.addCounterChanges(projection);
    this.#segmentWriter.writeRows(projection.lastCohortDayBySegment);
    this.#payoutWriter.writeRows(payoutRows(projection));
    this.#reversalWriter.writeRows(reversalRows(projection));
    for (const { micros, session, offer } of projection.revenue.clickDeltas.values())
      this.#addClickRevenue.run(micros, session, offer);
    const { position, segment, offset, crc } = cursor;
    const totals = recordCountNames.map((name) => projection.totals[name]);
    this.#updateProgress.run(position, segment, offset, crc, projection.lastWallMs, ...totals);
  }
}

type Rows = Generator<readonly SqlValue[], void>;

/** Yields a row for each session that the batch changed, sorted by key, so that adjacent rows of the table are written together. */
function* sessionRows({ changedSessions }: LedgerProjection): Rows {
  for (const session of [...changedSessions.values()].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const { key, experiment, position, device, views, clickedOffers, shownOffers, lastEventMs, widgetEvents } = session;
    const sub = Buffer.from(key, 'latin1');
    const events = widgetEvents === null ? null : encodeVarints(widgetEvents);
    const shown = encodeVarints(shownOffers);
    yield [sub, experiment, position, device, views, clickedOffers.length, shown, lastEventMs, events];
  }
}

function* cohortPieceRows({ cohortDeltas }: LedgerProjection): Rows {
  for (const { experiment, day, createdSessions } of cohortDeltas.values()) {
    for (let start = 0; start < createdSessions.length; start += bounds.cohortRowSessionsMax) {
      const piece = createdSessions.slice(start, start + bounds.cohortRowSessionsMax);
      const subs = Buffer.from(piece.map(({ key }) => key).join(''), 'latin1');
      yield [experiment, day, piece.at(-1)!.position, piece[0]!.position, subs];
    }
  }
}

function* clickRows({ changedClicks }: LedgerProjection): Rows {
  for (const click of changedClicks) {
    const { session, offer, lender, clickedMs, attributedMicros, booking, unbookedReasons, payoutMicros } = click;
    yield [session, offer, lender, clickedMs, attributedMicros, booking, unbookedReasons, payoutMicros];
  }
}

function* reversalRows({ revenue }: LedgerProjection): Rows {
  for (const { session, offer, txid, amountMicros, occurredMs, reason } of revenue.newReversals.values()) {
    yield [session, offer, txid, amountMicros, occurredMs, reversalReasons.indexOf(reason)];
  }
}

function* payoutRows({ revenue }: LedgerProjection): Rows {
  for (const { session, offer, txid, funded, reversed } of revenue.changedPayouts.values()) {
    const { amountMicros = null, occurredMs = null } = reversed ?? {};
    yield [session, offer, txid, funded.amountMicros, funded.occurredMs, amountMicros, occurredMs];
  }
}

import { daysSinceEpoch } from '../domain/calendar.ts';
import type { RevenueChange, ReversiblePayout, SessionActivity } from '../experiments/session-figures.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import { clickBookingState, type SessionState } from './projection-state.ts';
import type { SqlDatabase } from './sql-database.ts';

const widgetErrorType = widgetEventTypes.indexOf('widget_error');

type ClickRow = [offer: number, clickedMs: number, attributedMicros: number, confirmedMicros: number, booking: number];
type ChangeRow = [amountMicros: number, occurredMs: number, acceptedMs: number];
type PayoutRow = [offer: number, ...funded: ChangeRow, ...reversed: ChangeRow | [null, null, null]];

/** Returns the counted events of a session. All changes of its clicks and payouts must be in the tables. */
export function readSessionActivity(database: SqlDatabase, session: SessionState): SessionActivity {
  const { position, createdMs, views, clickedOffers, widgetEvents } = session;
  const activity = {
    day: daysSinceEpoch(createdMs),
    views,
    clicks: clickedOffers.length,
    widgetErrors: widgetEvents?.[widgetErrorType] ?? 0,
  };
  // Most sessions have no click, and therefore no revenue.
  if (clickedOffers.length === 0) return { ...activity, attributedMicros: 0, payouts: [] };
  const clicks = database.rows<ClickRow>(
    'SELECT offer, clicked_ms, attributed_micros, confirmed_micros, booking FROM click WHERE session = ?',
    [position],
  );
  const attributedMicros = clicks.reduce((sum, [, , micros]) => sum + micros, 0);
  return { ...activity, attributedMicros, payouts: readPayouts(database, position, clicks) };
}

function readPayouts(database: SqlDatabase, session: number, clicks: readonly ClickRow[]): ReversiblePayout[] {
  const netMicros = new Map<number, number>();
  const payouts = database
    .rows<PayoutRow>(
      `SELECT offer, funded_micros, funded_ms, funded_accepted_ms, reversed_micros, reversed_ms, reversed_accepted_ms
        FROM payout WHERE session = ?`,
      [session],
    )
    .map(([offer, fundedMicros, fundedMs, fundedAcceptedMs, ...reversed]) => {
      const reversals = reversed[0] === null ? [] : [toRevenueChange(reversed)];
      const net = fundedMicros - (reversed[0] ?? 0);
      netMicros.set(offer, (netMicros.get(offer) ?? 0) + net);
      return { ...toRevenueChange([fundedMicros, fundedMs, fundedAcceptedMs]), reversals };
    });
  for (const [offer, clickedMs, , confirmedMicros, booking] of clicks) {
    if (booking !== clickBookingState.confirmed) continue;
    const reversals = database
      .rows<ChangeRow>(
        'SELECT reversed_micros, reversed_ms, reversed_accepted_ms FROM click_reversal WHERE session = ? AND offer = ?',
        [session, offer],
      )
      .map(toRevenueChange);
    const reversedMicros = reversals.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
    const ownMicros = confirmedMicros - (netMicros.get(offer) ?? 0) + reversedMicros;
    if (ownMicros > 0) payouts.push({ ...toRevenueChange([ownMicros, clickedMs, clickedMs]), reversals });
  }
  return payouts;
}

function toRevenueChange([amountMicros, occurredMs, acceptedMs]: ChangeRow): RevenueChange {
  return { amountMicros, occurredMs, acceptedMs };
}

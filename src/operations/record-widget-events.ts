import type { Clock } from '../domain/clock.ts';
import { type Outcome, succeeded } from '../domain/outcome.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { SubIds } from '../ids/sub-id.ts';
import { ledgerRecordKind, type WidgetEventType, widgetEventTypes } from '../ledger/ledger-record.ts';
import type { Session } from '../sessions/session-store.ts';
import { parseWidgetBeacon } from '../widgets/widget-beacon.ts';
import { awaitDurable } from './await-durable.ts';

export interface RecordWidgetEventsDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly ledger: EventLog;
  /** Called with the types of the events that the ledger has taken, for a metric. */
  readonly onWidgetEvents: (types: readonly WidgetEventType[]) => void;
}

/**
 * Records events of a widget (docs/contract.md#widget-events), durable before the answer. What the session has told before, by its event
 * ids, is left out, also after a restart, and answered when it is durable, too. None of it books revenue: only the redirect does.
 */
export async function recordWidgetEvents(
  ports: RecordWidgetEventsDeps,
  session: Session,
  subId: string,
  body: unknown,
): Promise<Outcome<null>> {
  const beacon = parseWidgetBeacon(body);
  if (!beacon.ok) return beacon;
  const use = session.widgetUsage;
  // Taken at once, so that the same batch sent twice at a time is recorded once.
  const events = beacon.value.events.filter(({ digest }) => use.claimEvent(digest));
  const { ledger } = ports;
  // No record is durable before those ahead of it, so with the last report all are.
  if (events.length === 0) return use.lastReport === null ? succeeded(null) : awaitDurable(ledger, use.lastReport);
  const types = events.map(({ type }) => type);
  const { appendedPosition } = ledger;
  const durable = ledger.append([
    ledgerRecordKind.widgetEventsReported,
    ports.clock.wallMs(),
    ports.subIds.toBytes(subId),
    beacon.value.load,
    Buffer.concat(events.map(({ digest }) => digest)),
    types,
    events.map(({ offerId }) => offerId),
  ]);
  const report = { position: ledger.appendedPosition, durable };
  if (report.position > appendedPosition) {
    use.lastReport = report;
    ports.onWidgetEvents(types.map((type) => widgetEventTypes[type]!));
  } else {
    for (const { digest } of events) use.releaseEvent(digest);
  }
  const outcome = await awaitDurable(ledger, report);
  if (outcome.ok && use.lastReport === report) use.lastReport = null;
  return outcome;
}

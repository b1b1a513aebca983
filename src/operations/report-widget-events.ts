import type { Clock } from '../domain/clock.ts';
import { done, type Outcome } from '../domain/outcome.ts';
import type { EventLog } from '../events/event-log.ts';
import { recordKind, type WidgetEventType, widgetEventTypes } from '../events/ledger-record.ts';
import type { Session } from '../sessions/session.ts';
import type { SubIds } from '../sessions/sub-id.ts';
import { parseWidgetBeacon } from '../widgets/parse-widget-beacon.ts';
import { whenDurable } from './when-durable.ts';

export interface ReportWidgetEventsPorts {
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
export async function reportWidgetEvents(
  ports: ReportWidgetEventsPorts,
  session: Session,
  subId: string,
  body: unknown,
): Promise<Outcome<null>> {
  const beacon = parseWidgetBeacon(body);
  if (!beacon.ok) return beacon;
  const use = session.widget;
  // Taken at once, so that the same batch sent twice at a time is recorded once.
  const events = beacon.value.events.filter(({ digest }) => use.takeEvent(digest));
  const { ledger } = ports;
  // No record is durable before those ahead of it, so with the last report all are.
  if (events.length === 0) return use.lastReport === null ? done(null) : whenDurable(ledger, use.lastReport);
  const types = events.map(({ type }) => type);
  const { appendedPosition } = ledger;
  const durable = ledger.append([
    recordKind.widgetReported,
    ports.clock.wallMs(),
    ports.subIds.bytesOf(subId),
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
    for (const { digest } of events) use.giveBackEvent(digest);
  }
  const outcome = await whenDurable(ledger, report);
  if (outcome.ok && use.lastReport === report) use.lastReport = null;
  return outcome;
}

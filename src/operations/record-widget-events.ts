import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { type Outcome, succeeded, unavailable } from '../domain/outcome.ts';
import type { SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind, type WidgetEventType, widgetEventTypes } from '../ledger/ledger-record.ts';
import type { Session } from '../sessions/session-store.ts';
import { parseWidgetBeacon } from '../widgets/widget-beacon.ts';
import { awaitDurable } from './await-durable.ts';

export interface RecordWidgetEventsDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly ledger: Ledger;
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
  const usage = session.widgetUsage;
  // Claimed before the first await, so that one of two simultaneous requests records an event.
  const events = beacon.value.events.filter(({ digest }) => usage.claimEvent(digest));
  const { ledger } = ports;
  // Records become durable in order, so the earlier reports are durable when the last one is.
  if (events.length === 0) return usage.lastReport === null ? succeeded(null) : awaitDurable(ledger, usage.lastReport);
  const types = events.map(({ type }) => type);
  const report = ledger.append([
    ledgerRecordKind.widgetEventsReported,
    ports.clock.wallMs(),
    ports.subIds.toBytes(subId),
    beacon.value.load,
    Buffer.concat(events.map(({ digest }) => digest)),
    types,
    events.map(({ offerId }) => offerId),
  ]);
  if (report === null) {
    for (const { digest } of events) usage.releaseEvent(digest);
    return unavailable(bounds.retryAfterSeconds);
  }
  usage.lastReport = report;
  ports.onWidgetEvents(types.map((type) => widgetEventTypes[type]!));
  const outcome = await awaitDurable(ledger, report);
  if (outcome.ok && usage.lastReport === report) usage.lastReport = null;
  return outcome;
}

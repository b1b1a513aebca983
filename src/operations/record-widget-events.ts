import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { offerIdPattern } from '../catalogs/catalog-schema.ts';
import type { Clock } from '../domain/clock.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { type Outcome, serviceUnavailable, successOutcome } from '../domain/outcome.ts';
import type { SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind, type WidgetEventType, widgetEventTypes } from '../ledger/ledger-record.ts';
import type { Session } from '../sessions/session.ts';
import { parseWidgetBeacon, widgetEventIdPattern } from '../widgets/widget-beacon.ts';
import { awaitDurableRecord } from './await-durable.ts';
import { stringEnum, widgetLoadIdSchema } from './schema-parts.ts';

/** Schema of the request body of `POST /w/events`, which `parseWidgetBeacon` checks. */
export const widgetBeaconSchema = Type.Object(
  {
    load: widgetLoadIdSchema,
    events: Type.Array(
      Type.Object({
        event_id: Type.String({ pattern: widgetEventIdPattern, description: 'A known id is not counted again.' }),
        type: stringEnum(widgetEventTypes, { description: 'Type of the event.' }),
        svc_offer_id: Type.Optional(
          nullableSchema(Type.String({ pattern: offerIdPattern, description: 'The offer, for types `offer_*`.' })),
        ),
      }),
      { minItems: 1, maxItems: bounds.widgetEventsPerBatchMax },
    ),
  },
  { title: 'WidgetBeacon' },
);

export interface RecordWidgetEventsDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly ledger: Ledger;
  /** Called with the types of the recorded events, so that a metric can count the events. */
  readonly onWidgetEvents: (types: readonly WidgetEventType[]) => void;
}

/**
 * Records widget events (docs/contract.md#widget-events), which are durable before the response. An event is skipped if an earlier event of
 * the session, also one before a restart of the service, had the same ID. If all events of a request are skipped, the response waits until
 * the session's earlier events are durable. Widget events book no revenue; only click redirects do.
 */
export async function recordWidgetEvents(
  deps: RecordWidgetEventsDeps,
  session: Session,
  subId: string,
  body: unknown,
): Promise<Outcome<null>> {
  const beacon = parseWidgetBeacon(body);
  if (!beacon.ok) return beacon;
  const usage = session.widgetUsage;
  // Event IDs are marked as used before the first `await`, so that two simultaneous requests with the same event record the event once.
  const events = beacon.value.events.filter(({ digest }) => usage.tryRememberEvent(digest));
  const { ledger } = deps;
  // Records become durable in order, so all earlier events are durable once the last record of widget events is durable.
  if (events.length === 0)
    return usage.lastReport === null ? successOutcome(null) : awaitDurableRecord(ledger, usage.lastReport);
  const types = events.map(({ type }) => type);
  const report = ledger.append([
    ledgerRecordKind.widgetEventsReported,
    deps.clock.wallMs(),
    deps.subIds.toBytes(subId),
    beacon.value.load,
    Buffer.concat(events.map(({ digest }) => digest)),
    types,
    events.map(({ offerId }) => offerId),
  ]);
  if (report === null) {
    for (const { digest } of events) usage.forgetEvent(digest);
    return serviceUnavailable(bounds.retryAfterSeconds);
  }
  usage.lastReport = report;
  deps.onWidgetEvents(types.map((type) => widgetEventTypes[type]!));
  const outcome = await awaitDurableRecord(ledger, report);
  if (outcome.ok && usage.lastReport === report) usage.lastReport = null;
  return outcome;
}

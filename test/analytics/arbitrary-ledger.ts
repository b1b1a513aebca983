import fc from 'fast-check';
import type { SummaryQuery } from '../../src/analytics/analytics.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import {
  type DeviceClass,
  type LedgerRecord,
  unbookedReasons,
  widgetEventTypes,
} from '../../src/ledger/ledger-record.ts';
import {
  type ClickDecision,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { noon, today } from './sample-query.ts';

const offers = ['a', 'b', 'c', 'd'];

/** Generates four sub_ids, because a payout requires a session, a view and a click of the same sub_id. */
const earner = fc
  .record({ age: fc.constantFrom(0, 46), serial: fc.nat({ max: 1 }) })
  .map(({ age, serial }) => subIdBytes({ createdMs: noon - age * msPerDay, serial }));

/** Generates few sub_ids, so that many records refer to the same session. The ids have several tenants and days. */
const sub = fc.oneof(
  earner,
  fc
    .record({
      serial: fc.nat({ max: 3 }),
      account: fc.constantFrom(1, 1, 2),
      vertical: fc.constantFrom(1, 1, 1, 2),
      mode: fc.constantFrom('live' as const, 'live' as const, 'test' as const),
      age: fc.constantFrom(0, 0, 1, 45, 46, 47),
    })
    .map(({ age, ...wanted }) => subIdBytes({ createdMs: noon - age * msPerDay, ...wanted })),
);

const created = fc
  .tuple(
    sub,
    fc.constantFrom('tag-one', 'tag-one', 'tag-two'),
    fc.nat({ max: 4 }),
    fc.constantFrom(null, '{"page":"a"}', '{"page":"b","bid":1.5}'),
  )
  .map(([sub, tag, device, metadata]) => sessionCreatedRecord(sub, { tag, device: device as DeviceClass, metadata }));

const viewed = fc
  .tuple(sub, fc.shuffledSubarray(offers), fc.constantFrom(1_000, 1_000, msPerDay))
  .map(([sub, shown, afterMs]) => offersViewedRecord(sub, shown, sub.readUIntBE(0, 6) + afterMs));

/** Generates two widget load ids per session. A refresh does not require an earlier view. */
const widgetViewed = fc
  .tuple(sub, fc.shuffledSubarray(offers), fc.record({ load: fc.constantFrom(1, 2), again: fc.boolean() }))
  .map(([sub, shown, options]) => widgetViewedRecord(sub, shown, options));

/** Generates events of known types and of a type of a later version. Some of the events are late. */
const reported = fc
  .tuple(
    sub,
    fc.array(fc.nat({ max: widgetEventTypes.length }), { minLength: 1, maxLength: 6 }),
    fc.constantFrom(null, 'a'),
    fc.constantFrom(0, 3_000, msPerDay),
  )
  .map(([sub, types, offerId, afterMs]) =>
    widgetEventsRecord(sub, types, { offerId, wallMs: sub.readUIntBE(0, 6) + afterMs }),
  );

/** Decisions of this release, of earlier releases, which wrote no reason, and of a later release with an unknown reason. */
const decision = fc.constantFrom<ClickDecision>(
  ...([[], [], [], [true], [false], [null]] as const),
  ...([
    [true, null],
    [true, null, true],
    [true, null, true],
    [null, null, false],
    [false, 0, false],
    [false, 1, true],
    [false, 2, true],
    [false, 2, true],
    [false, 3, true],
    [false, unbookedReasons.length, true],
  ] as const),
);

const clicked = fc
  .tuple(
    fc.oneof(earner, sub),
    fc.constantFrom('a', ...offers),
    fc.oneof(
      { weight: 9, arbitrary: fc.nat({ max: 5_000_000 }) },
      { weight: 1, arbitrary: fc.constant(60_000_000_000) },
    ),
    fc.constantFrom(0, 0, 0, msPerDay, msPerDay + 1),
    decision,
    fc.constantFrom(undefined, undefined, undefined, 25_000_000),
  )
  .map(([sub, offer, valueMicros, afterMs, decision, payoutMicros]) =>
    offerClickedRecord(sub, offer, {
      valueMicros,
      decision,
      // Only earlier releases wrote a decision without a reason.
      ...(payoutMicros === undefined || decision.length === 1 ? {} : { payoutMicros }),
      wallMs: sub.readUIntBE(0, 6) + afterMs,
      // Two offers have the same lender.
      lender: lenderOf(offer),
    }),
  );

/** Generates few different payouts, so that repeats and conflicts are frequent. Some rows are too late, too early or too large. */
const micros = fc.constantFrom(1, 12_345, 25_000_000, 25_000_000, 60_000_000_000);
const booking = fc.record({
  sub: fc.oneof({ weight: 5, arbitrary: earner }, { weight: 1, arbitrary: sub }),
  offer: fc.constantFrom('a', 'a', ...offers),
  txid: fc.constantFrom('tx-1', 'tx-1', 'tx-2'),
  micros,
  occurredAfterMs: fc.constantFrom(msPerDay, msPerDay, 2 * msPerDay, 0),
  reportedAfterMs: fc.constantFrom(0, 0, 1, 89 * msPerDay, 90 * msPerDay, -5_000, -5_001),
});
type Booking = typeof booking extends fc.Arbitrary<infer Value> ? Value : never;
const evidence = fc.option(
  fc.record({
    afterMs: fc.constantFrom(0, 5_000, msPerDay, msPerDay + 1),
    valueMicros: fc.nat({ max: 5_000_000 }),
  }),
);

const lenderOf = (offer: string) => (offer === 'd' ? 'Lender of a' : `Lender of ${offer}`);
function payoutOptions({ sub, offer, txid, micros, occurredAfterMs, reportedAfterMs }: Booking) {
  const occurredMs = sub.readUIntBE(0, 6) + occurredAfterMs;
  return { txid, micros, lender: lenderOf(offer), occurredMs, wallMs: occurredMs + reportedAfterMs };
}

const flatPayout = fc.constantFrom(undefined, undefined, undefined, null, 25_000_000);
const confirmed = fc.tuple(booking, evidence, flatPayout).map(([row, click, flat]) =>
  revenueConfirmedRecord(row.sub, row.offer, {
    ...payoutOptions(row),
    ...(flat === undefined ? {} : { flatPayout: flat }),
    click: click && { clickedMs: row.sub.readUIntBE(0, 6) + click.afterMs, valueMicros: click.valueMicros },
  }),
);

const reversalOf = (row: Booking, reason?: number) =>
  revenueReversedRecord(row.sub, row.offer, { ...payoutOptions(row), ...(reason === undefined ? {} : { reason }) });
/** Generates reversals of payouts, and reversals with a reason of clicks that confirmed their revenue. */
const reversed = fc
  .tuple(booking, fc.constantFrom(undefined, 0, 0, 4, 5))
  .map(([row, reason]) => reversalOf(row, reason));

/** Generates a payout and its reversal, which may be larger than the payout. */
const confirmedAndReversed = fc
  .tuple(booking, micros)
  .map(([row, reversedMicros]): LedgerRecord[] => [
    revenueConfirmedRecord(row.sub, row.offer, payoutOptions(row)),
    reversalOf({ ...row, micros: reversedMicros }),
  ]);

/** The records that must precede a payout, or a reversal with a reason. */
const prelude = fc
  .tuple(
    sub,
    fc.constantFrom<readonly [ClickDecision, { payoutMicros?: number }]>(
      [[], {}],
      [[], { payoutMicros: 25_000_000 }],
      [[true, null, true], {}],
      [[false, 2, true], {}],
    ),
  )
  .map(([sub, [decision, payout]]): LedgerRecord[] => [
    sessionCreatedRecord(sub),
    offersViewedRecord(sub, offers),
    offerClickedRecord(sub, 'a', { decision, ...payout }),
  ]);

const arbitraryRecord: fc.Arbitrary<LedgerRecord> = fc.oneof(
  created,
  viewed,
  viewed,
  widgetViewed,
  reported,
  clicked,
  clicked,
  confirmed,
  confirmed,
  reversed,
  reversed,
);

/** Consecutive records in any order, with views before their session, clicks on offers that were not shown, and repeats. */
export const arbitraryRecords: fc.Arbitrary<LedgerRecord[]> = fc.oneof(
  { weight: 2, arbitrary: prelude },
  { weight: 1, arbitrary: confirmedAndReversed },
  { weight: 6, arbitrary: fc.array(arbitraryRecord, { minLength: 1, maxLength: 8 }) },
);

/** Returns the analytics queries for all figures of `arbitraryRecords`. */
export function everyQuery(records: readonly LedgerRecord[]): SummaryQuery[] {
  const subs = [...new Map(records.map((record) => [Buffer.from(record[2]).toString('hex'), record[2]])).values()];
  const queries: SummaryQuery[] = [];
  for (const account of [1, 2]) {
    for (const mode of ['live', 'test'] as const) {
      for (const [fromDay, toDay, maturedFromDay] of [
        [today - 60, today, today - 60],
        [today - 46, today - 1, today - 60],
      ] as const) {
        const common = { account, vertical: 1, mode, fromDay, toDay, today, maturedFromDay };
        queries.push(
          { ...common, referrerTag: 'tag-one', subs: null },
          { ...common, referrerTag: 'tag-two', subs: null },
        );
        queries.push({ ...common, referrerTag: null, subs }, { ...common, referrerTag: 'tag-one', subs });
      }
    }
  }
  return queries;
}

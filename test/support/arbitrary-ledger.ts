import fc from 'fast-check';
import type { SummaryQuery } from '../../src/analytics/analytics.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import type { DeviceClass, LedgerRecord } from '../../src/events/ledger-record.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from './ledger-records.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const offers = ['a', 'b', 'c', 'd'];

/** A few ids, so that records meet: of two accounts, both modes, several days, some created in another order than their ids. */
const sub = fc
  .record({
    serial: fc.nat({ max: 3 }),
    account: fc.constantFrom(1, 1, 2),
    mode: fc.constantFrom('live' as const, 'live' as const, 'test' as const),
    age: fc.constantFrom(0, 0, 1, 46, 47),
  })
  .map(({ serial, account, mode, age }) => subOf({ createdMs: noon - age * dayMs, serial, account, mode }));

const created = fc
  .tuple(
    sub,
    fc.constantFrom('tag-one', 'tag-one', 'tag-two'),
    fc.nat({ max: 4 }),
    fc.constantFrom(null, '{"page":"a"}', '{"page":"b","bid":1.5}'),
  )
  .map(([sub, tag, device, metadata]) => createdRecord(sub, { tag, device: device as DeviceClass, metadata }));

const viewed = fc.tuple(sub, fc.subarray(offers)).map(([sub, shown]) => viewedRecord(sub, shown));

const clicked = fc
  .tuple(sub, fc.constantFrom(...offers), fc.nat({ max: 5_000_000 }), fc.constantFrom(0, 0, 0, dayMs, dayMs + 1))
  .map(([sub, offer, valueMicros, afterMs]) =>
    clickedRecord(sub, offer, {
      valueMicros,
      wallMs: sub.readUIntBE(0, 6) + afterMs,
      // Two offers share a lender.
      lender: offer === 'd' ? 'Lender of a' : `Lender of ${offer}`,
    }),
  );

/** Records in an order that a ledger may or may not have: views before their session, clicks on offers never shown, repeats. */
export const arbitraryRecords: fc.Arbitrary<LedgerRecord[]> = fc.array(
  fc.oneof(created, viewed, viewed, clicked, clicked),
  {
    maxLength: 150,
    size: 'max',
  },
);

/** Questions that between them look at every figure of what `arbitraryRecords` makes. */
export function everyQuery(records: readonly LedgerRecord[]): SummaryQuery[] {
  const today = dayOf(noon);
  const subs = [...new Map(records.map((record) => [Buffer.from(record[2]).toString('hex'), record[2]])).values()];
  const queries: SummaryQuery[] = [];
  for (const account of [1, 2]) {
    for (const mode of ['live', 'test'] as const) {
      for (const [fromDay, toDay] of [
        [today - 60, today],
        [today - 46, today - 1],
      ] as const) {
        const common = { account, vertical: 1, mode, fromDay, toDay, today };
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

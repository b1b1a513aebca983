import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeRecord, formatRecordLine } from '../../src/cli/commands/log.ts';
import { formatSubId } from '../../src/ids/sub-id.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';

const createdMs = Date.UTC(2026, 4, 20, 12);
const sub = subIdBytes({ createdMs, serial: 7 });
const common = { at: '2026-05-20T12:00:00.000Z', sub_id: formatSubId(sub) };

test('describes the properties, device and event type of a record by name, and ids as hexadecimal digits', () => {
  const shown = { kind: 'offers_viewed', catalog_version: 'catalog-1' };
  const widget = { load: 5, wallMs: createdMs };
  const load = '0000000000000005';
  const session = {
    kind: 'session_created',
    referrer_tag: 'tag-one',
    key_number: 1,
    device: 'unknown',
    metadata: null,
  };
  for (const [record, members] of [
    [
      sessionCreatedRecord(sub, { tag: 'hero', device: 2, metadata: '{"a":1}' }),
      { kind: 'session_created', referrer_tag: 'hero', key_number: 1, device: 'mobile', metadata: '{"a":1}' },
    ],
    [
      [...sessionCreatedRecord(sub), Buffer.alloc(16, 1), Buffer.alloc(16, 2)],
      { ...session, idempotency_key: '01'.repeat(16), payload: '02'.repeat(16) },
    ],
    [[...sessionCreatedRecord(sub), null, null, Buffer.alloc(16, 3)], { ...session, unit: '03'.repeat(16) }],
    [
      [...sessionCreatedRecord(sub), null, null, Buffer.alloc(16, 3), true],
      { ...session, unit: '03'.repeat(16), misassigned: true },
    ],
    [offersViewedRecord(sub, ['one', 'two'], createdMs), { ...shown, offer_ids: ['one', 'two'] }],
    [
      offerClickedRecord(sub, 'one', { lender: 'Lender', valueMicros: 5, wallMs: createdMs }),
      { ...shown, kind: 'offer_clicked', offer_id: 'one', lender_name: 'Lender', value_micros: 5 },
    ],
    [
      offerClickedRecord(sub, 'one', { lender: 'Lender', valueMicros: 5, wallMs: createdMs, payoutMicros: 9 }).with(
        9,
        null,
      ),
      { ...shown, kind: 'offer_clicked', offer_id: 'one', lender_name: 'Lender', value_micros: 5, payout_micros: 9 },
    ],
    [
      revenueConfirmedRecord(sub, 'one', { occurredMs: 7, wallMs: createdMs, flatPayout: null }),
      {
        kind: 'revenue_confirmed',
        offer_id: 'one',
        lender_name: 'Lender of one',
        txid: 'tx-1',
        ...{ amount_micros: 40_000_000, occurred_ms: 7, clicked_ms: null, click_value_micros: null },
        click_payout_micros: null,
      },
    ],
    ...[true, false].map(
      (again) =>
        [
          widgetViewedRecord(sub, ['one'], { ...widget, again }),
          { ...shown, offer_ids: ['one'], load, again },
        ] as const,
    ),
    [
      widgetEventsRecord(sub, ['widget_loaded', 'offer_click', 7], { ...widget, firstEvent: 255, offerId: 'one' }),
      {
        kind: 'widget_reported',
        load,
        event_ids: ['00000000000000ff', '0000000000000100', '0000000000000101'],
        types: ['widget_loaded', 'offer_click', 7],
        offer_ids: ['one', 'one', 'one'],
      },
    ],
  ] as const) {
    assert.deepEqual(describeRecord(record), { ...common, ...members });
  }
});

test('prints malformed record values unchanged, and bytes as hexadecimal digits', () => {
  const [kind, wallMs, id] = widgetEventsRecord(sub, ['widget_loaded']);
  const { load, event_ids, types, offer_ids } = describeRecord([kind, wallMs, id, 5, new Uint8Array(9), 'length', -1]);
  assert.deepEqual([load, event_ids, types, offer_ids], [5, '000000000000000000', 'length', -1]);
  const malformed = describeRecord([kind, wallMs, id, null, 'x', ['length', 0.5, new Uint8Array([1])], null]);
  assert.deepEqual([malformed.load, malformed.event_ids, malformed.types], [null, 'x', ['length', 0.5, '01']]);
});

test('describes a click record with booked true, false or null', () => {
  for (const verdict of [true, false, null]) {
    const { booked, more } = describeRecord([...offerClickedRecord(sub, 'one'), verdict] as unknown[]);
    assert.deepEqual([booked, more], [verdict, undefined]);
  }
});

test('prints values that a newer service version added to a record, and all values of an unknown record kind', () => {
  const { more } = describeRecord([...widgetViewedRecord(sub, []), 'new', new Uint8Array([1, 255])]);
  assert.deepEqual(more, ['new', '01ff']);
  const unknown = describeRecord([99, new Uint8Array([10]), [new Uint8Array([11])]]);
  assert.deepEqual(unknown, { kind: 99, members: ['0a', ['0b']] });
});

test('formats a record as its kind, time and sub_id, followed by its other properties', () => {
  const line = formatRecordLine(12, describeRecord(offersViewedRecord(sub, ['one'], createdMs)), false);
  assert.equal(
    line,
    `12  offers_viewed  2026-05-20T12:00:00.000Z  ${formatSubId(sub)}  catalog_version="catalog-1"  offer_ids=["one"]`,
  );
});

test('formats any record as one line without control characters, as text or JSON', () => {
  const scalar = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, 'length', '\u009b31m', '\u001b[2J', '\n'),
    fc.uint8Array({ maxLength: 40 }),
  );
  const record = fc
    .tuple(
      fc.oneof(fc.constantFrom(1, 2, 3, 6), scalar),
      fc.array(fc.oneof(scalar, fc.array(scalar)), { maxLength: 9 }),
    )
    .map(([kind, rest]) => [kind, ...rest]);
  fc.assert(
    fc.property(record, (value) => {
      const description = describeRecord(value);
      const [text, json] = [false, true].map((asJson) => formatRecordLine(3, description, asJson)) as [string, string];
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not be printed
      for (const line of [text, json]) assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.equal(JSON.parse(json).position, 3);
    }),
  );
});

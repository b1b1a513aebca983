import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeRecord, recordLine } from '../../src/cli/describe-record.ts';
import { subIdText } from '../../src/sessions/sub-id.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from '../support/ledger-records.ts';

const createdMs = Date.UTC(2026, 4, 20, 12);
const sub = subOf({ createdMs, serial: 7 });
const common = { at: '2026-05-20T12:00:00.000Z', sub_id: subIdText(sub) };

test('every kind of record is told with the names of its members', () => {
  assert.deepEqual(describeRecord(createdRecord(sub, { tag: 'hero', device: 2, metadata: '{"a":1}' })), {
    kind: 'session_created',
    ...common,
    referrer_tag: 'hero',
    key_number: 1,
    device: 'mobile',
    metadata: '{"a":1}',
  });
  assert.deepEqual(describeRecord(viewedRecord(sub, ['one', 'two'], createdMs)), {
    kind: 'offers_viewed',
    ...common,
    catalog_version: 'catalog-1',
    offer_ids: ['one', 'two'],
  });
  assert.deepEqual(describeRecord(clickedRecord(sub, 'one', { lender: 'Lender', valueMicros: 5, wallMs: createdMs })), {
    kind: 'offer_clicked',
    ...common,
    catalog_version: 'catalog-1',
    offer_id: 'one',
    lender_name: 'Lender',
    value_micros: 5,
  });
});

test('what a daily cap made of a click is told where there was one', () => {
  for (const verdict of [true, false, null]) {
    const { within_daily_cap, more } = describeRecord([...clickedRecord(sub, 'one'), verdict] as unknown[]);
    assert.deepEqual([within_daily_cap, more], [verdict, undefined]);
  }
});

test('members of a later version are told too', () => {
  const { more } = describeRecord([...viewedRecord(sub, []), 'new', new Uint8Array([1, 255])]);
  assert.deepEqual(more, ['new', '01ff']);
});

test('a record of no known kind is a row of members', () => {
  assert.deepEqual(describeRecord([99, new Uint8Array([10]), [new Uint8Array([11])]]), {
    kind: 99,
    members: ['0a', ['0b']],
  });
});

test('a line for people has kind, time and sub_id first, then the members', () => {
  const line = recordLine(12, describeRecord(viewedRecord(sub, ['one'], createdMs)), false);
  assert.equal(
    line,
    `12  offers_viewed  2026-05-20T12:00:00.000Z  ${subIdText(sub)}  catalog_version="catalog-1"  offer_ids=["one"]`,
  );
});

test('whatever a record holds, it is one line without control characters, and JSON if asked for', () => {
  const scalar = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, 'length', '\u009b31m', '\u001b[2J', '\n'),
    fc.uint8Array({ maxLength: 40 }),
  );
  const record = fc
    .tuple(fc.oneof(fc.constantFrom(1, 2, 3), scalar), fc.array(fc.oneof(scalar, fc.array(scalar)), { maxLength: 9 }))
    .map(([kind, rest]) => [kind, ...rest]);
  fc.assert(
    fc.property(record, (value) => {
      const description = describeRecord(value);
      const [text, json] = [false, true].map((asJson) => recordLine(3, description, asJson)) as [string, string];
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out.
      for (const line of [text, json]) assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.equal(JSON.parse(json).position, 3);
    }),
  );
});

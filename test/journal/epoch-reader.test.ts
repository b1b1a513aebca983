import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createChangeTranslator,
  fieldEncodings,
  parseFieldEncodings,
  serializeFieldEncodings,
} from '../../src/journal/epoch-reader.ts';
import { fieldIndex } from '../../src/verticals/field-vector.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';

const { fields } = personalLoans;
const state = fieldIndex(personalLoans, 'state');
const amount = fieldIndex(personalLoans, 'loan_amount');

function withFields(changed: Vertical['fields']): Vertical {
  return { ...personalLoans, fields: changed };
}

test('parses serialized field encodings', () => {
  const parsed = parseFieldEncodings(serializeFieldEncodings([personalLoans, equipmentLeases]));
  for (const vertical of [personalLoans, equipmentLeases]) {
    assert.deepEqual(parsed.get(vertical.number), fieldEncodings(vertical));
  }
});

test('rejects invalid field encodings', () => {
  for (const text of ['', '[]', '{"1":{}}', '{"1":[{"name":1,"kind":"choice"}]}']) {
    assert.throws(() => parseFieldEncodings(text), text);
  }
});

test('translates no values between equal field encodings', () => {
  assert.equal(createChangeTranslator(fieldEncodings(personalLoans), personalLoans), null);
});

test('translates values between encodings with a different order of fields', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...fields], { minLength: fields.length }), (shuffled) => {
      const today = withFields(shuffled);
      const translate =
        createChangeTranslator(fieldEncodings(personalLoans), today) ?? ((changes: readonly number[]) => changes);
      const changes = fields.flatMap((_, position) => [position, -1]);
      changes[2 * state + 1] = 3;
      changes[2 * amount + 1] = 15_000;
      const translated = translate(changes);
      const kept = (name: string) => {
        const at = translated.findIndex((each, i) => i % 2 === 0 && each === fieldIndex(today, name));
        return translated[at + 1];
      };
      assert.deepEqual([kept('state'), kept('loan_amount'), kept('birthdate')], [3, 15_000, -1]);
    }),
  );
});

test('translates choices with a new position and skips removed choices', () => {
  const moved = withFields(
    fields.map((field) =>
      field.name === 'state' && field.kind === 'choice' ? { ...field, values: ['ZZ', 'CA'] } : field,
    ),
  );
  const translate = createChangeTranslator(fieldEncodings(personalLoans), moved)!;
  const words = (fields[state] as { values: readonly string[] }).values;
  assert.deepEqual(translate([state, words.indexOf('CA'), amount, 5_000]), [state, 1, amount, 5_000]);
  assert.deepEqual(translate([state, words.indexOf('NY'), amount, 5_000]), [amount, 5_000]);
  assert.deepEqual(translate([state, -1]), [state, -1]);
});

test('skips removed fields and fields whose kind has changed', () => {
  const gone = withFields(fields.filter(({ name }) => name !== 'state'));
  assert.deepEqual(createChangeTranslator(fieldEncodings(personalLoans), gone)!([state, 3]), []);
  const other = withFields(
    fields.map((field) => (field.name === 'state' ? { name: 'state', kind: 'boolean' } : field)),
  );
  assert.deepEqual(createChangeTranslator(fieldEncodings(personalLoans), other)!([state, 1]), []);
  assert.deepEqual(createChangeTranslator(fieldEncodings(personalLoans), other)!([99, 1]), []);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { getEncodedValueRange } from '../../src/catalogs/assert-vertical.ts';
import { absentValue, findFieldIndex } from '../../src/domain/field-vector.ts';
import { computeMatchReadiness, validatePocketFields } from '../../src/domain/pocket-fields.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { borrowerOf } from '../matching/loan-fixtures.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const today = 2026_05_20;

const submit = (fields: object, day = today, vertical = personalLoans) => validatePocketFields(vertical, fields, day);

/** Returns the validation error of one value without its message. */
function errorOf(field: string, value: unknown, day = today, vertical: Vertical = personalLoans): object {
  const { invalid, accepted } = submit({ [field]: value }, day, vertical);
  assert.deepEqual([invalid.length, accepted], [1, []], JSON.stringify(value));
  const { message, ...rest } = invalid[0]!;
  assert.equal(typeof message, 'string');
  return rest;
}

/** Returns the encoded form of an accepted value. */
function encoded(field: string, value: unknown, day = today, vertical: Vertical = personalLoans): number {
  const { invalid, accepted, changes } = submit({ [field]: value }, day, vertical);
  assert.deepEqual([invalid, accepted, changes.length], [[], [field], 2]);
  assert.equal(changes[0], findFieldIndex(vertical, field));
  return changes[1]!;
}

for (const { vertical, fields } of allFixtures) {
  describe(`validatePocketFields for ${vertical.segment}`, () => {
    for (const { name, valid, invalid, hints } of fields) {
      it(`encodes the valid values of ${name}, and rejects other values`, () => {
        const field = vertical.fields[findFieldIndex(vertical, name)]!;
        const [least, largest] = getEncodedValueRange(field);
        for (const value of valid) {
          const digits = typeof value === 'string' ? value.replaceAll('-', '') : value;
          const code = encoded(name, value, today, vertical);
          assert.equal(code, field.kind === 'choice' ? field.values.indexOf(value as string) : Number(digits));
          assert.ok(least <= code && code <= largest, `${code}`);
        }
        for (const [value, code] of invalid) {
          const limits = code === 'type' ? (hints.range ?? hints.enum) : hints[code];
          assert.deepEqual(errorOf(name, value, today, vertical), { field: name, code, ...limits });
        }
        assert.equal(encoded(name, null, today, vertical), absentValue);
      });
    }
  });
}

describe('validatePocketFields', () => {
  it('accepts an integer with an exponent, and encodes -0 as 0', () => {
    assert.equal(encoded('loan_amount', JSON.parse('1e4')), 10_000);
    assert.ok(Object.is(encoded('annual_income', JSON.parse('-0')), 0));
  });

  it('rejects NaN, infinity and undefined', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined]) errorOf('annual_income', value);
  });

  // In years without a 29 February, a person born on 29 February becomes one year older on 1 March.
  for (const [birthdate, day, code] of [
    ['0001-01-01', today, 'range'],
    ['9999-12-31', today, 'range'],
    ['2008-02-29', 2026_02_28, 'min_age'],
    ['2008-02-29', 2026_03_01, null],
    ['2010-02-28', 2028_02_29, null],
    ['2010-03-01', 2028_02_29, 'min_age'],
    ['1907-02-28', 2028_02_29, 'range'],
  ] as const) {
    it(`the error code of the birthdate ${birthdate} on ${day} is ${code}`, () => {
      if (code === null) encoded('birthdate', birthdate, day);
      else assert.partialDeepStrictEqual(errorOf('birthdate', birthdate, day), { code });
    });
  }

  it('returns accepted fields, unknown fields and errors in the order of the submission', () => {
    assert.deepEqual(submit({}), { accepted: [], unknown: [], invalid: [], changes: [] });
    const { accepted, unknown } = submit({ zebra: 1, state: 'CA', apple: 2, loan_amount: 5_000, State: 'CA' });
    assert.deepEqual(accepted, ['state', 'loan_amount']);
    assert.deepEqual(unknown, ['zebra', 'apple', 'State']);
    const { invalid } = submit({ state: 'ca', loan_amount: 999, co_borrower: true, address_zip: 1 });
    assert.deepEqual(
      invalid.map(({ field, code }) => `${field} ${code}`),
      ['state enum', 'loan_amount range', 'address_zip type'],
    );
  });

  it('names of built-in properties such as constructor are unknown fields', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'length', ''];
    const sent = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}: {"state": "CA"}`).join(',')}}`);
    assert.deepEqual(submit(sent), { accepted: [], unknown: names, invalid: [], changes: [] });
  });

  const anyName = fc.constantFrom(...personalLoans.fields.map(({ name }) => name));

  it('the error for a rejected value does not contain the value', () => {
    const text = fc.string({ minLength: 12, unit: 'grapheme' }).map((noise) => `§${noise}§`);
    fc.assert(
      fc.property(anyName, text, (field, value) => {
        const { invalid } = submit({ [field]: value });
        assert.equal(invalid.length, 1);
        assert.ok(!JSON.stringify(invalid).includes(JSON.stringify(value).slice(1, -1)));
      }),
    );
  });

  it('validatePocketFields does not throw for any JSON value', () => {
    fc.assert(fc.property(fc.dictionary(anyName, fc.jsonValue()), (fields) => void submit(fields)));
  });
});

for (const { vertical, complete, required, conditional } of allFixtures) {
  it(`computeMatchReadiness lists missing required and conditional fields of ${vertical.segment}`, () => {
    const readinessOf = (fields: Fields) => {
      const { matchReadiness, ...missing } = computeMatchReadiness(vertical, borrowerOf(fields, vertical));
      return [matchReadiness, missing.missingRequired, missing.missingConditional];
    };
    assert.deepEqual(readinessOf({}), ['insufficient', required, []]);
    for (const name of required) {
      assert.deepEqual(readinessOf({ ...complete, [name]: null }), ['insufficient', [name], []]);
    }
    for (const { when, unless, field, value } of conditional) {
      const without = { ...complete, [field]: null };
      assert.deepEqual(readinessOf({ ...without, ...unless }), ['high', [], []]);
      assert.deepEqual(readinessOf({ ...without, ...when }), ['partial', [], [field]]);
      assert.deepEqual(readinessOf({ ...without, ...when, [field]: value }), ['high', [], []]);
      const missing = required.find((name) => !(name in when))!;
      assert.deepEqual(readinessOf({ ...without, ...when, [missing]: null }), ['insufficient', [missing], [field]]);
    }
  });
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { InvalidField } from '../../src/domain/outcome.ts';
import { absentValue, emptyFieldVector, fieldIndex } from '../../src/verticals/field-vector.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { computeMatchReadiness, validatePocketFields } from '../../src/verticals/pocket-fields.ts';
import { usStateCodes } from '../../src/verticals/us-states.ts';

const today = 2026_05_20;

const submit = (fields: object, day = today) => validatePocketFields(personalLoans, fields, day);

/** Returns the validation error of one value without its message. */
function errorOf(field: string, value: unknown, day = today): Partial<InvalidField> {
  const { invalid, accepted } = submit({ [field]: value }, day);
  assert.deepEqual([invalid.length, accepted], [1, []], JSON.stringify(value));
  const { message, ...rest } = invalid[0]!;
  assert.equal(typeof message, 'string');
  return rest;
}

/** Returns the encoded form of an accepted value. */
function encoded(field: string, value: unknown, day = today): number {
  const { invalid, accepted, changes } = submit({ [field]: value }, day);
  assert.deepEqual([invalid, accepted, changes.length], [[], [field], 2]);
  assert.equal(changes[0], fieldIndex(personalLoans, field));
  return changes[1]!;
}

const choices: Record<string, readonly string[]> = {
  loan_purpose: [
    'debt_consolidation',
    'home_improvement',
    'major_purchase',
    'medical_expenses',
    'moving',
    'vacation',
    'wedding',
    'business',
    'other',
  ],
  credit_score_range: ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'],
  employment_status: ['employed', 'self_employed', 'retired', 'other'],
  housing_status: ['own', 'rent', 'other'],
  citizenship_status: ['citizen', 'perm_resident', 'visa'],
  education_level: ['high_school', 'bachelors', 'graduate', 'other'],
  state: usStateCodes,
};

describe('validatePocketFields', () => {
  for (const [field, min, max] of [
    ['loan_amount', 1_000, 100_000],
    ['annual_income', 0, 10_000_000],
    ['monthly_debt_payments', 0, 1_000_000],
  ] as const) {
    it(`accepts a ${field} from ${min} to ${max}, and only integers`, () => {
      assert.deepEqual([encoded(field, min), encoded(field, max)], [min, max]);
      for (const value of [min - 1, max + 1])
        assert.deepEqual(errorOf(field, value), { field, code: 'range', min, max });
      for (const value of ['15000', '', 15_000.5, true, [15_000], { value: 15_000 }, Number.NaN, Infinity, undefined]) {
        assert.deepEqual(errorOf(field, value), { field, code: 'type', min, max });
      }
    });
  }

  it('accepts an integer with an exponent, and encodes -0 as 0', () => {
    assert.equal(encoded('loan_amount', JSON.parse('1e4')), 10_000);
    assert.ok(Object.is(encoded('annual_income', JSON.parse('-0')), 0));
  });

  for (const [field, allowed] of Object.entries(choices)) {
    it(`encodes each choice of ${field} as a different number, and rejects other values`, () => {
      assert.equal(new Set(allowed.map((value) => encoded(field, value))).size, allowed.length);
      const word = allowed[0]!;
      const otherCase = [word.toLowerCase(), word.toUpperCase()].filter((text) => text !== word);
      for (const value of ['', 'no_such', ` ${word}`, `${word}\n`, '__proto__', 'constructor', ...otherCase]) {
        assert.deepEqual(errorOf(field, value), { field, code: 'enum', allowed });
      }
      for (const value of [0, true, [word], {}])
        assert.deepEqual(errorOf(field, value), { field, code: 'type', allowed });
    });
  }

  it('accepts only the allowed loan terms', () => {
    const field = 'loan_term_months';
    const allowed = [12, 24, 36, 48, 60, 84];
    for (const months of allowed) assert.equal(encoded(field, months), months);
    for (const months of [0, -12, 13, 72, 1e9])
      assert.deepEqual(errorOf(field, months), { field, code: 'enum', allowed });
    for (const value of ['36', 36.5, true, [36]])
      assert.deepEqual(errorOf(field, value), { field, code: 'type', allowed });
  });

  it('encodes a boolean, and rejects values that are not booleans', () => {
    assert.deepEqual([encoded('co_borrower', true), encoded('co_borrower', false)], [1, 0]);
    for (const value of ['true', 0, 1, '', [], {}]) {
      assert.deepEqual(errorOf('co_borrower', value), { field: 'co_borrower', code: 'type' });
    }
  });

  it('accepts only ZIP codes of five digits', () => {
    const field = 'address_zip';
    assert.notEqual(encoded(field, '00501'), encoded(field, '00502'));
    for (const value of ['00000', '99999']) encoded(field, value);
    for (const value of [
      '',
      '1234',
      '123456',
      '12345-6789',
      '1234a',
      ' 2345',
      '12345\n',
      '１２３４５',
      '+1234',
      '1e100',
    ]) {
      assert.deepEqual(errorOf(field, value), { field, code: 'format' });
    }
    for (const value of [12_345, true, ['12345'], {}]) assert.deepEqual(errorOf(field, value), { field, code: 'type' });
  });

  // Someone born on 29 February has the birthday on 1 March in common years.
  for (const [birthdate, day, code] of [
    ['2008-05-20', today, null],
    ['2008-05-21', today, 'min_age'],
    ['2026-05-20', today, 'min_age'],
    ['2026-05-21', today, 'range'],
    ['9999-12-31', today, 'range'],
    ['1905-05-21', today, null],
    ['1905-05-20', today, 'range'],
    ['0001-01-01', today, 'range'],
    ['2008-02-29', 2026_02_28, 'min_age'],
    ['2008-02-29', 2026_03_01, null],
    ['2010-02-28', 2028_02_29, null],
    ['2010-03-01', 2028_02_29, 'min_age'],
    ['1907-02-28', 2028_02_29, 'range'],
    ...['1990-02-30', '1900-02-29', '1990-1-1', '19900101', '01/02/1990', ''].map((text) => [text, today, 'format']),
    ...[19_900_101, true, ['1990-01-01'], new Date(0)].map((value) => [value, today, 'type']),
  ] as [unknown, number, string | null][]) {
    it(`${code === null ? 'accepts' : 'rejects'} the birthdate ${JSON.stringify(birthdate)} on ${day}`, () => {
      if (code === null)
        assert.equal(encoded('birthdate', birthdate, day), Number(String(birthdate).replaceAll('-', '')));
      else assert.deepEqual(errorOf('birthdate', birthdate, day).code, code);
    });
  }

  it('the error for a borrower who is too young contains the minimum age', () => {
    assert.deepEqual(errorOf('birthdate', '2008-05-21'), { field: 'birthdate', code: 'min_age', min: 18 });
  });

  it('clears every field whose value is null', () => {
    for (const { name } of personalLoans.fields) assert.equal(encoded(name, null), absentValue);
  });

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

  it('does not throw for any JSON value', () => {
    fc.assert(fc.property(fc.dictionary(anyName, fc.jsonValue()), (fields) => void submit(fields)));
  });
});

describe('computeMatchReadiness', () => {
  const required = {
    loan_amount: 15_000,
    loan_purpose: 'wedding',
    credit_score_range: '700-749',
    annual_income: 0,
    employment_status: 'employed',
    state: 'CA',
  };

  function readinessOf(fields: object) {
    const { changes } = submit(fields);
    const vector = emptyFieldVector(personalLoans);
    for (let at = 0; at < changes.length; at += 2) vector[changes[at]!] = changes[at + 1]!;
    const { matchReadiness, missingRequired, missingConditional } = computeMatchReadiness(personalLoans, vector);
    return [matchReadiness, missingRequired, missingConditional];
  }

  it('readiness is insufficient while a required field is missing, and lists the missing fields in order', () => {
    assert.deepEqual(readinessOf({}), ['insufficient', Object.keys(required), []]);
    for (const missing of Object.keys(required)) {
      assert.deepEqual(readinessOf({ ...required, [missing]: null }), ['insufficient', [missing], []]);
    }
  });

  for (const loan_purpose of choices.loan_purpose!) {
    const [field, value] =
      { debt_consolidation: ['monthly_debt_payments', 0], home_improvement: ['housing_status', 'own'] }[loan_purpose] ??
      [];
    it(`readiness requires ${field ?? 'no conditional field'} for the purpose ${loan_purpose}`, () => {
      const fields = { ...required, loan_purpose };
      if (field === undefined) return assert.deepEqual(readinessOf(fields), ['high', [], []]);
      assert.deepEqual(readinessOf(fields), ['partial', [], [field]]);
      assert.deepEqual(readinessOf({ ...fields, state: null }), ['insufficient', ['state'], [field]]);
      assert.deepEqual(readinessOf({ ...fields, [field]: value }), ['high', [], []]);
    });
  }
});

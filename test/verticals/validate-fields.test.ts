import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { InvalidField } from '../../src/domain/outcome.ts';
import { absentValue, fieldIndex } from '../../src/verticals/field-vector.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { usStateCodes } from '../../src/verticals/us-states.ts';
import { validateFields } from '../../src/verticals/pocket-fields.ts';

const today = 2026_05_20;

function submit(fields: object, day = today) {
  return validateFields(personalLoans, fields, day);
}

/** Returns the validation error of one value without its message; null if the value is accepted. */
function fault(field: string, value: unknown, day = today): Partial<InvalidField> | null {
  const { invalid, accepted } = submit({ [field]: value }, day);
  if (invalid.length === 0) {
    assert.deepEqual(accepted, [field]);
    return null;
  }
  assert.deepEqual(accepted, []);
  assert.equal(invalid.length, 1);
  const { message, ...rest } = invalid[0]!;
  assert.equal(typeof message, 'string');
  return rest;
}

/** Returns the encoded form of an accepted value. */
function kept(field: string, value: unknown, day = today): number {
  const { invalid, changes } = submit({ [field]: value }, day);
  assert.deepEqual(invalid, []);
  assert.equal(changes.length, 2);
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

const integers: Record<string, readonly [min: number, max: number]> = {
  loan_amount: [1_000, 100_000],
  annual_income: [0, 10_000_000],
  monthly_debt_payments: [0, 1_000_000],
};

describe('integer fields', () => {
  for (const [field, [min, max]] of Object.entries(integers)) {
    it(`${field} accepts ${min} to ${max} and rejects the next lower and higher integers`, () => {
      assert.equal(kept(field, min), min);
      assert.equal(kept(field, max), max);
      assert.deepEqual(fault(field, min - 1), { field, code: 'range', min, max });
      assert.deepEqual(fault(field, max + 1), { field, code: 'range', min, max });
    });

    it(`${field} rejects values that are not integers`, () => {
      for (const value of ['15000', '', 15_000.5, true, [15_000], { value: 15_000 }, Number.NaN, Infinity, undefined]) {
        assert.deepEqual(fault(field, value), { field, code: 'type', min, max });
      }
    });
  }

  it('accepts an integer written with an exponent', () => {
    assert.equal(kept('loan_amount', JSON.parse('1e4')), 10_000);
  });

  it('encodes -0 as 0', () => {
    assert(Object.is(kept('annual_income', JSON.parse('-0')), 0));
  });
});

describe('choice fields', () => {
  for (const [field, values] of Object.entries(choices)) {
    it(`${field} encodes each of its choices as a different number`, () => {
      assert.equal(new Set(values.map((value) => kept(field, value))).size, values.length);
    });

    it(`${field} rejects other words, spellings and types`, () => {
      const word = values[0]!;
      const twisted = word === word.toUpperCase() ? word.toLowerCase() : word.toUpperCase();
      for (const value of ['', 'no_such', ` ${word}`, `${word} `, `${word}\n`, '__proto__', 'constructor']) {
        assert.deepEqual(fault(field, value), { field, code: 'enum', allowed: values });
      }
      if (twisted !== word) assert.deepEqual(fault(field, twisted), { field, code: 'enum', allowed: values });
      for (const value of [0, true, [word], {}]) {
        assert.deepEqual(fault(field, value), { field, code: 'type', allowed: values });
      }
    });
  }
});

describe('loan_term_months', () => {
  const field = 'loan_term_months';
  const allowed = [12, 24, 36, 48, 60, 84];

  it('accepts every allowed loan term', () => {
    for (const months of allowed) assert.equal(kept(field, months), months);
  });

  it('rejects other loan terms', () => {
    for (const months of [0, -12, 11, 13, 72, 1e9])
      assert.deepEqual(fault(field, months), { field, code: 'enum', allowed });
  });

  it('rejects a loan term that is not an integer', () => {
    for (const value of ['36', 36.5, true, [36], {}]) {
      assert.deepEqual(fault(field, value), { field, code: 'type', allowed });
    }
  });
});

describe('co_borrower', () => {
  it('encodes true, false and an absent co_borrower differently', () => {
    assert.equal(new Set([kept('co_borrower', true), kept('co_borrower', false), absentValue]).size, 3);
  });

  it('rejects a co_borrower that is not a boolean', () => {
    for (const value of ['true', 'false', 0, 1, '', [], {}]) {
      assert.deepEqual(fault('co_borrower', value), { field: 'co_borrower', code: 'type' });
    }
  });
});

describe('address_zip', () => {
  const field = 'address_zip';

  it('accepts a ZIP code of five digits', () => {
    assert.notEqual(kept(field, '00501'), kept(field, '00502'));
    kept(field, '00000');
    kept(field, '99999');
  });

  it('rejects other ZIP codes', () => {
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
      assert.deepEqual(fault(field, value), { field, code: 'format' });
    }
    for (const value of [12_345, true, ['12345'], {}]) assert.deepEqual(fault(field, value), { field, code: 'type' });
  });
});

describe('birthdate', () => {
  const field = 'birthdate';
  const code = (value: unknown, day = today) => fault(field, value, day)?.code ?? null;

  it('accepts a borrower from the eighteenth birthday on, and not the day before', () => {
    assert.equal(kept(field, '2008-05-20'), 2008_05_20);
    assert.deepEqual(fault(field, '2008-05-21'), { field, code: 'min_age', min: 18 });
  });

  it('accepts an age of 120 and rejects an age of 121', () => {
    assert.equal(code('1906-05-20'), null);
    assert.equal(code('1905-05-21'), null);
    assert.equal(code('1905-05-20'), 'range');
    assert.equal(code('0001-01-01'), 'range');
  });

  it('rejects the birthdate of a minor with min_age, and a future birthdate with range', () => {
    assert.equal(code('2026-05-20'), 'min_age');
    assert.equal(code('2026-05-21'), 'range');
    assert.equal(code('9999-12-31'), 'range');
  });

  it('computes the birthday of someone born on 29 February as 1 March', () => {
    assert.equal(code('2008-02-29', 2026_02_28), 'min_age');
    assert.equal(code('2008-02-29', 2026_03_01), null);
  });

  it('computes ages correctly on 29 February', () => {
    assert.equal(code('2010-02-28', 2028_02_29), null);
    assert.equal(code('2010-03-01', 2028_02_29), 'min_age');
    assert.equal(code('1908-02-29', 2028_02_29), null);
    assert.equal(code('1907-02-28', 2028_02_29), 'range');
  });

  it('rejects a birthdate that does not exist or is not in the format YYYY-MM-DD', () => {
    for (const value of ['1990-02-30', '1990-13-01', '1900-02-29', '1990-1-1', '19900101', '01/02/1990', '', 'x']) {
      assert.deepEqual(fault(field, value), { field, code: 'format' });
    }
  });

  it('rejects a birthdate that is not a string', () => {
    for (const value of [19_900_101, true, ['1990-01-01'], new Date(0)]) {
      assert.deepEqual(fault(field, value), { field, code: 'type' });
    }
  });
});

describe('null values', () => {
  for (const { name } of personalLoans.fields) {
    it(`null clears ${name} and is accepted`, () => assert.equal(kept(name, null), absentValue));
  }
});

describe('validateFields', () => {
  it('accepts an empty submission', () => {
    assert.deepEqual(submit({}), { accepted: [], unknown: [], invalid: [], changes: [] });
  });

  it('returns accepted and unknown names in the order of the submission', () => {
    const { accepted, unknown } = submit({ zebra: 1, state: 'CA', apple: 2, loan_amount: 5_000, State: 'CA' });
    assert.deepEqual(accepted, ['state', 'loan_amount']);
    assert.deepEqual(unknown, ['zebra', 'apple', 'State']);
  });

  it('treats names of built-in properties as unknown fields', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'length', ''];
    const sent = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}: {"state": "CA"}`).join(',')}}`);
    assert.deepEqual(submit(sent), { accepted: [], unknown: names, invalid: [], changes: [] });
  });

  it('returns an error for every invalid value, in the order of the submission', () => {
    const { invalid } = submit({ state: 'ca', loan_amount: 999, co_borrower: true, address_zip: 1 });
    assert.deepEqual(
      invalid.map(({ field, code }) => [field, code]),
      [
        ['state', 'enum'],
        ['loan_amount', 'range'],
        ['address_zip', 'type'],
      ],
    );
  });

  it('does not repeat a rejected value in its error', () => {
    const text = fc.string({ minLength: 12, unit: 'grapheme' }).map((noise) => `§${noise}§`);
    const name = fc.constantFrom(...personalLoans.fields.map((field) => field.name));
    fc.assert(
      fc.property(name, text, (field, value) => {
        const { invalid } = submit({ [field]: value });
        assert.equal(invalid.length, 1);
        assert(!JSON.stringify(invalid).includes(JSON.stringify(value).slice(1, -1)));
      }),
    );
  });

  it('does not throw for any JSON value', () => {
    const name = fc.constantFrom(...personalLoans.fields.map((field) => field.name));
    fc.assert(fc.property(fc.dictionary(name, fc.jsonValue()), (fields) => void submit(fields)));
  });
});

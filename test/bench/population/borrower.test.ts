import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Borrower, drawBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom, type WeightedTable } from '../../../bench/population/random.ts';
import * as tables from '../../../bench/population/tables.ts';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';
import type { PocketField } from '../../../src/verticals/vertical.ts';

const people = draw(20_000, 42);

function draw(count: number, seed: number): Borrower[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => drawBorrower(random));
}

function valid(field: PocketField, value: unknown): boolean {
  switch (field.kind) {
    case 'integer':
      return Number.isInteger(value) && (value as number) >= field.min && (value as number) <= field.max;
    case 'choice':
      return typeof value === 'string' && field.values.includes(value);
    case 'integer_choice':
      return typeof value === 'number' && field.values.includes(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'digits':
      return typeof value === 'string' && /^\d+$/.test(value) && value.length === field.length;
    case 'birthdate': {
      // Judged on the day ages are reckoned for: later on everybody is older, never under age.
      const born = new Date(`${value}T00:00:00Z`);
      const age = 2025 - born.getUTCFullYear() - 1;
      return born.toISOString().startsWith(String(value)) && age >= field.minAgeYears && age <= 95;
    }
  }
}

/** Each share of a table, against the share among those people who filled the field in. */
function assertShares(table: WeightedTable<unknown>, values: readonly unknown[], tolerance: number): void {
  const total = table.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of table) {
    const share = values.filter((other) => other === value).length / values.length;
    assert.ok(Math.abs(share - weight / total) < tolerance, `${value}: ${share} instead of ${weight / total}`);
  }
}

function filled<Name extends keyof Borrower>(name: Name): NonNullable<Borrower[Name]>[] {
  return people.map((person) => person[name]).filter((value) => value !== undefined) as NonNullable<Borrower[Name]>[];
}

test('the same seed gives the same people, another seed others', () => {
  assert.deepEqual(draw(50, 1), draw(50, 1));
  assert.notDeepEqual(draw(50, 1), draw(50, 2));
});

test('every value is one the API accepts, and every name a pocket field', () => {
  const fields = new Map(personalLoans.fields.map((field) => [field.name, field]));
  for (const person of people) {
    for (const [name, value] of Object.entries(person)) {
      const field = fields.get(name);
      assert.ok(field, name);
      assert.ok(valid(field, value), `${name}: ${value}`);
    }
  }
});

test('every required field is always there', () => {
  for (const person of people) for (const name of personalLoans.required) assert.ok(name in person, name);
});

test('some leave out a conditional field whose condition holds, most fill it in', () => {
  for (const { field, when } of personalLoans.conditional) {
    const concerned = people.filter((person) => person[when.field as keyof Borrower] === when.is);
    const share = concerned.filter((person) => field in person).length / concerned.length;
    assert.ok(Math.abs(share - tables.fillRates.conditional) < 0.03, `${field}: ${share}`);
  }
});

test('every table of words names values of the API only', () => {
  const words: Readonly<Record<string, WeightedTable<unknown>>> = {
    credit_score_range: tables.creditBands,
    loan_purpose: tables.loanPurposes,
    housing_status: tables.housing,
    citizenship_status: tables.citizenship,
    education_level: tables.education,
    loan_term_months: tables.loanTerms,
  };
  for (const [name, table] of Object.entries(words)) {
    const field = personalLoans.fields.find((candidate) => candidate.name === name)!;
    for (const [value] of table) assert.ok(valid(field, value), `${name}: ${value}`);
  }
});

test('credit bands, purposes, terms, housing, citizenship and education occur as often as their tables say', () => {
  assertShares(tables.creditBands, filled('credit_score_range'), 0.01);
  assertShares(tables.loanPurposes, filled('loan_purpose'), 0.01);
  assertShares(tables.loanTerms, filled('loan_term_months'), 0.015);
  assertShares(tables.housing, filled('housing_status'), 0.015);
  assertShares(tables.citizenship, filled('citizenship_status'), 0.015);
  assertShares(tables.education, filled('education_level'), 0.02);
});

test('people live where people live', () => {
  assertShares(
    tables.places.map(([place, residents]) => [place.state, residents]),
    filled('state'),
    0.01,
  );
});

test('the fifty states and the District have the residents of the 2020 Census', () => {
  const islands = ['PR', 'GU', 'VI', 'AS', 'MP'];
  const states = tables.places.filter(([place]) => !islands.includes(place.state));
  assert.equal(states.length, 51);
  assert.equal(
    states.reduce((sum, [, residents]) => sum + residents, 0),
    331_449_281,
  );
});

test('incomes meet every published point of the distribution', () => {
  for (const [share, usd] of tables.incomeQuantiles) {
    const below = people.filter((person) => person.annual_income <= usd).length / people.length;
    assert.ok(Math.abs(below - share) < 0.012, `${usd}: ${below} instead of ${share}`);
  }
});

test('income rises with the credit band, and moderately', () => {
  const medians = tables.creditBands.map(([band]) => {
    const incomes = people.filter((person) => person.credit_score_range === band).map((person) => person.annual_income);
    return incomes.sort((a, b) => a - b)[Math.floor(incomes.length / 2)]!;
  });
  for (let i = 1; i < medians.length; i++) assert.ok(medians[i]! > medians[i - 1]!, medians.join(' '));
  assert.ok(medians.at(-1)! < 4 * medians[0]!, medians.join(' '));
});

test('about a fifth are retired, and of the others most are employed', () => {
  assertShares(
    [
      ['employed', 54],
      ['self_employed', 6],
      ['retired', 19],
      ['other', 21],
    ],
    filled('employment_status'),
    0.012,
  );
});

test('amounts asked for have the published means', () => {
  for (const [purpose, published] of [
    ['debt_consolidation', tables.meanLoanAmountUsd.debt_consolidation],
    ['home_improvement', tables.meanLoanAmountUsd.home_improvement],
    ['moving', tables.meanLoanAmountUsd.others],
  ] as const) {
    const amounts = people.filter((person) => person.loan_purpose === purpose).map((person) => person.loan_amount);
    const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
    assert.ok(Math.abs(mean / published - 1) < 0.06, `${purpose}: ${mean} instead of ${published}`);
  }
});

test('monthly debt stays between 5 and 60 percent of income, with its mean between the three corners', () => {
  const shares = people
    .filter((person) => person.monthly_debt_payments !== undefined)
    .map((person) => (12 * person.monthly_debt_payments!) / person.annual_income);
  for (const share of shares) assert.ok(share > 0.045 && share < 0.605, String(share));
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  assert.ok(Math.abs(mean - (0.05 + 0.3 + 0.6) / 3) < 0.01, String(mean));
});

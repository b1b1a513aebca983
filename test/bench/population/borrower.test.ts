import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Borrower, createRandomBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom, type WeightedTable } from '../../../bench/population/random.ts';
import * as tables from '../../../bench/population/tables.ts';
import { validatePocketFields } from '../../../src/domain/pocket-fields.ts';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';

const people = draw(20_000, 42);

function draw(count: number, seed: number): Borrower[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => createRandomBorrower(random));
}

/** Compares each share of a table with the share among the borrowers who filled in the field. */
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

test('generated borrowers have all required fields and only valid values', () => {
  for (const person of people) {
    for (const name of personalLoans.required) assert.ok(name in person, name);
    const { accepted, invalid } = validatePocketFields(personalLoans, person, 20260101);
    assert.deepEqual([accepted.length, invalid], [Object.keys(person).length, []]);
  }
});

test('fills in conditional fields for most borrowers to whom the condition applies', () => {
  for (const { field, when } of personalLoans.conditional) {
    const concerned = people.filter((person) => person[when.field as keyof Borrower] === when.is);
    const share = concerned.filter((person) => field in person).length / concerned.length;
    assert.ok(Math.abs(share - tables.fieldFillRates.conditional) < 0.03, `${field}: ${share}`);
  }
});

for (const [name, table, tolerance] of [
  ['credit_score_range', tables.creditBands, 0.01],
  ['loan_purpose', tables.loanPurposes, 0.01],
  ['loan_term_months', tables.loanTermMonths, 0.015],
  ['housing_status', tables.housingStatuses, 0.015],
  ['citizenship_status', tables.citizenshipStatuses, 0.015],
  ['education_level', tables.educationLevels, 0.02],
  ['employment_status', [...tables.employedStatuses, ['retired', 19]], 0.012],
  ['state', tables.residencePlaces.map(([place, residents]) => [place.state, residents] as const), 0.01],
] as const) {
  test(`the frequency of each generated value of ${name} matches the population tables`, () => {
    assertShares(table, filled(name), tolerance);
  });
}

test('uses the population counts of the 2020 Census for the fifty states and the District of Columbia', () => {
  const islands = ['PR', 'GU', 'VI', 'AS', 'MP'];
  const states = tables.residencePlaces.filter(([place]) => !islands.includes(place.state));
  assert.equal(states.length, 51);
  assert.equal(
    states.reduce((sum, [, residents]) => sum + residents, 0),
    331_449_281,
  );
});

test('generated incomes match every published point of the income distribution', () => {
  for (const [share, usd] of tables.incomeQuantiles) {
    const below = people.filter((person) => person.annual_income <= usd).length / people.length;
    assert.ok(Math.abs(below - share) < 0.012, `${usd}: ${below} instead of ${share}`);
  }
});

test('the median income of generated borrowers increases with their credit band', () => {
  const medians = tables.creditBands.map(([band]) => {
    const incomes = people.filter((person) => person.credit_score_range === band).map((person) => person.annual_income);
    return incomes.sort((a, b) => a - b)[Math.floor(incomes.length / 2)]!;
  });
  for (let i = 1; i < medians.length; i++) assert.ok(medians[i]! > medians[i - 1]!, medians.join(' '));
  assert.ok(medians.at(-1)! < 4 * medians[0]!, medians.join(' '));
});

test('the mean requested amounts of generated borrowers match published statistics', () => {
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

test('generates a monthly debt of 5 to 60 percent of income, with the mean of the triangular distribution', () => {
  const shares = people
    .filter((person) => person.monthly_debt_payments !== undefined)
    .map((person) => (12 * person.monthly_debt_payments!) / person.annual_income);
  for (const share of shares) assert.ok(share > 0.045 && share < 0.605, String(share));
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  assert.ok(Math.abs(mean - (0.05 + 0.3 + 0.6) / 3) < 0.01, String(mean));
});

test('generates the same random numbers as the mulberry32 algorithm, so a seed always generates the same borrowers', () => {
  const random = seededRandom(1);
  assert.deepEqual([random(), random(), random()], [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
});

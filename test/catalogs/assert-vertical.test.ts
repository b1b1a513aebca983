import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertValidVertical } from '../../src/catalogs/assert-vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

for (const { vertical } of allFixtures) {
  it(`assertValidVertical accepts the vertical ${vertical.segment}`, () =>
    assertValidVertical(vertical, builtInVerticals));
}

const { fields, roles } = personalLoans;
const withFlag = (field: object) => ({ fields: [...fields, { name: 'flag', ...field }] });
const noValueOrRepeated = /flag must have at least one value, and no value twice$/;
const conditional = (field: string, state: string) => ({
  conditional: [{ field, when: { field: 'state', is: state } }],
});

const wrong: readonly (readonly [told: RegExp, change: object])[] = [
  [/^the segment of a vertical must have /, { segment: 'a b/c' }],
  [/number must be an integer from 1 to 127$/, { number: 128 }],
  [/keyPrefix must be /, { keyPrefix: '' }],
  [/keyPrefix must be /, { keyPrefix: 'my key ' }],
  [/revenueModel must be /, { revenueModel: 'per_click' }],
  [/status must be /, { status: 'planned' }],
  [/clicksConfirmRevenue must be true or false$/, { clicksConfirmRevenue: 'yes' }],
  [/flatPayout must be true or false$/, { flatPayout: 1 }],
  [/flatPayout must be false if clicksConfirmRevenue is true$/, { flatPayout: true, clicksConfirmRevenue: true }],
  [/fields must be a list$/, { fields: undefined }],
  [/two fields have the name state$/, { fields: [...fields, { name: 'state', kind: 'boolean' }] }],
  [/the kind of flag must be one of /, withFlag({ kind: 'bool' })],
  [noValueOrRepeated, withFlag({ kind: 'choice', values: ['a', 'a'] })],
  [noValueOrRepeated, withFlag({ kind: 'integer_choice', values: [] })],
  [/flag must have a min that is at most its max$/, withFlag({ kind: 'integer', min: 2, max: 1 })],
  [/required must contain only names of fields of the vertical/, { required: ['flag'] }],
  [/neverMatched must contain only names of fields of the vertical/, { neverMatched: ['flag'] }],
  [/conditional must contain only names of fields of the vertical/, conditional('flag', 'CA')],
  [/a condition on state must be /, conditional('birthdate', 'XX')],
  [/roles must be an object$/, { roles: null }],
  [/roles.amount must name a field of the kind integer$/, { roles: { ...roles, amount: 'flag' } }],
  [/roles.state must name a field of the kind choice$/, { roles: { ...roles, state: 'loan_amount' } }],
  [
    /^unknown option vertical.roles.monthlydebt; did you mean vertical.roles.monthlyDebt\?$/,
    { roles: { ...roles, monthlydebt: 'x' } },
  ],
  [/^unknown option vertical.neverMatch; did you mean vertical.neverMatched\?$/, { neverMatch: ['state'] }],
  [/creditScores must have one range for each value of /, { creditScores: [{ min: 300, max: 850 }] }],
];

for (const [told, change] of wrong) {
  it(`assertValidVertical rejects personal loans with ${JSON.stringify(change).slice(-60)}`, () => {
    assert.throws(() => assertValidVertical({ ...personalLoans, ...change }, builtInVerticals), {
      name: 'RangeError',
      message: told,
    });
  });
}

it('assertValidVertical rejects a vertical that is not an object', () => {
  assert.throws(() => assertValidVertical(null as never, builtInVerticals), {
    name: 'RangeError',
    message: 'a vertical must be an object',
  });
});

for (const [field, accepted] of [
  [{ name: 'phone', kind: 'digits', length: 10 }, false],
  [{ name: 'turnover', kind: 'integer', min: 0, max: 2 ** 31 }, false],
  [{ name: 'turnover', kind: 'integer', min: 0, max: 2 ** 31 - 1 }, true],
  [{ name: 'balance', kind: 'integer', min: -1, max: 10 }, false],
  [{ name: 'share', kind: 'integer', min: 0.5, max: 10 }, false],
  [{ name: 'step', kind: 'integer_choice', values: [1, 2 ** 31] }, false],
] as const) {
  it(`${accepted ? 'accepts' : 'rejects'} the field ${JSON.stringify(field)}`, () => {
    const check = () => assertValidVertical({ ...personalLoans, fields: [...fields, field] }, builtInVerticals);
    if (accepted) check();
    else assert.throws(check, { name: 'RangeError', message: new RegExp(`values of ${field.name} must be encoded`) });
  });
}

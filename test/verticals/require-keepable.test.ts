import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertEncodable, encodedRange } from '../../src/verticals/assert-vertical.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { servedVerticals } from '../../src/verticals/registry.ts';
import { validateFields } from '../../src/verticals/validate-fields.ts';
import type { PocketField, Vertical } from '../../src/verticals/vertical.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const verticals = new Set<Vertical>([...servedVerticals, ...allFixtures.map(({ vertical }) => vertical)]);

for (const vertical of verticals) {
  it(`every value of ${vertical.segment} can be kept`, () => assertEncodable(vertical));
}

for (const field of [
  { name: 'phone', kind: 'digits', length: 10 },
  { name: 'turnover', kind: 'integer', min: 0, max: 2 ** 31 },
  { name: 'balance', kind: 'integer', min: -1, max: 10 },
  { name: 'share', kind: 'integer', min: 0.5, max: 10 },
  { name: 'step', kind: 'integer_choice', values: [1, 2 ** 31] },
] as const satisfies readonly PocketField[]) {
  it(`a vertical with ${field.kind} from another range is refused by name`, () => {
    const vertical = { ...personalLoans, fields: [...personalLoans.fields, field] };
    assert.throws(() => assertEncodable(vertical), { name: 'RangeError', message: new RegExp(field.name) });
  });
}

it('the largest number there is a bit for can be kept', () => {
  assertEncodable({ ...personalLoans, fields: [{ name: 'turnover', kind: 'integer', min: 0, max: 2 ** 31 - 1 }] });
});

for (const { vertical, fields } of allFixtures) {
  it(`values of ${vertical.segment} are kept as numbers between the least and the largest`, () => {
    for (const { name, valid } of fields) {
      const position = vertical.fields.findIndex((field) => field.name === name);
      const [least, largest] = encodedRange(vertical.fields[position]!);
      for (const value of valid) {
        const { changes } = validateFields(vertical, { [name]: value }, 2026_08_01);
        assert.equal(changes[0], position);
        assert(changes[1]! >= least && changes[1]! <= largest, `${name} ${JSON.stringify(value)}`);
      }
    }
  });
}

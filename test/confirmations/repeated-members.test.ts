import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { confirmationMembers } from '../../src/confirmations/confirmation.ts';
import { findDuplicateMembers } from '../../src/confirmations/parse-confirmation.ts';

describe('repeatedMembers', () => {
  for (const [text, expected] of [
    ['{"amount":1,"amount":2}', [[0, 'amount']]],
    ['{"amount":1,"txid":"a","txid":"b","amount":2}', [[0, 'txid']]],
    ['{"am\\u006funt":1,"amount":2}', [[0, 'amount']]],
    [' \n[ {"txid":"a"} , {"txid":"a" ,\t"txid" :"a"}]', [[1, 'txid']]],
    ['[[{"amount":1,"amount":1}],{"x":{"amount":1,"amount":1},"amount":1},{"x":[{"amount":1}],"amount":1}]', []],
    ['[1,"amount","amount",[],{},{"status":"}","status":"]"}]', [[5, 'status']]],
    ['{"x":1,"x":2,"__proto__":1,"__proto__":2,"toString":1,"toString":2}', []],
    ['{"txid":"amount","amount":"txid"}', []],
    ['"amount"', []],
    ['[]', []],
  ] as const) {
    it(`finds ${expected.length === 0 ? 'nothing' : String(expected[0])} in ${text.trim()}`, () => {
      assert.deepEqual([...findDuplicateMembers(text)], expected);
    });
  }

  it('finds the rows that have a member twice, and no others, however they are nested', () => {
    const member = fc.tuple(fc.constantFrom(...confirmationMembers, 'other'), fc.json({ maxDepth: 3 }));
    const row = fc.oneof(fc.json(), fc.array(member, { maxLength: 6 }));
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
        const texts = rows.map((each) =>
          typeof each === 'string' ? each : `{${each.map(([name, value]) => `"${name}":${value}`).join(',')}}`,
        );
        const expected = rows.flatMap((each, index) => {
          const names = typeof each === 'string' ? [] : each.map(([name]) => name).filter((name) => name !== 'other');
          const twice = names.find((name, at) => names.indexOf(name) < at);
          return twice === undefined ? [] : [[index, twice]];
        });
        assert.deepEqual([...findDuplicateMembers(`[${texts.join(' ,\n')}]`)], expected);
      }),
    );
  });

  it('takes a text nested as deep as a body can be', () => {
    const text = '['.repeat(250_000) + ']'.repeat(250_000);
    assert.equal(findDuplicateMembers(text).size, 0);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseQueryParameters } from '../../src/domain/query-string.ts';

const names = ['sub_id', 'sort', 'format'] as const;

function read(query: string) {
  const result = parseQueryParameters(query, names);
  return result.ok ? result.values : result.error.param;
}

const valid: readonly (readonly [query: string, values: object])[] = [
  // Other parameters are ignored, also if they are repeated or badly encoded.
  ['sort=lowest_apr&x=1&sub_id=abc', { sort: 'lowest_apr', sub_id: 'abc' }],
  ['', {}],
  ['x=1&x=2&sort=a', { sort: 'a' }],
  ['%=1&%zz=%&%ff=%ff&x=%E0%A4%A&sort=a', { sort: 'a' }],
  ['__proto__=1&constructor=2&toString=3&__proto__=4&sort=a', { sort: 'a' }],
  ['Sort=a&SORT=b&sort=c', { sort: 'c' }],
  // Names and values are form-encoded.
  ['sort=a+b%20c', { sort: 'a b c' }],
  ['s%6Frt=a&%66%6f%72mat=json', { sort: 'a', format: 'json' }],
  ['s%256Frt=a', {}],
  // A value may be empty or contain an equals sign.
  ['sort', { sort: '' }],
  ['=a&sort=', { sort: '' }],
  ['sort=a=b=&format==', { sort: 'a=b=', format: '=' }],
  ['&&sort=a&&&format=b&', { sort: 'a', format: 'b' }],
];

describe('parseQueryParameters', () => {
  for (const [query, values] of valid) {
    it(`parses the query string ${JSON.stringify(query)}`, () => {
      assert.deepEqual(read(query), values);
      assert.equal(Object.getPrototypeOf(read(query)), Object.prototype);
    });
  }

  it('rejects a known parameter that occurs twice, even if one of the names is percent-encoded', () => {
    for (const query of ['sort=a&sort=b', 'sort=a&x=1&sort=a', 'sort=&sort=', 'sort&sort', 'sort=a&%73ort=b']) {
      assert.equal(read(query), 'sort', query);
    }
  });

  it('rejects a known parameter whose percent encoding is not UTF-8', () => {
    for (const value of ['%', '%4', '%zz', '%ff', '%C3', '%C3%28', '%E0%A4%A', '%u0041', 'a%', '%ED%A0%80', '%C0%AF']) {
      assert.equal(read(`sort=${value}`), 'sort', value);
      assert.equal(read(`sub_id=x&sort=${value}&format=json`), 'sort', value);
    }
  });

  it('parses query strings that URLSearchParams formats', () => {
    // Lone surrogates cannot be written in a URL.
    const text = fc.string({ unit: 'binary' }).filter((each) => each.isWellFormed());
    fc.assert(
      fc.property(fc.record({ sub_id: text, sort: text, other: text }), fc.boolean(), (values, otherFirst) => {
        const { other, ...known } = values;
        const query = new URLSearchParams(otherFirst ? { other, ...known } : { ...known, other }).toString();
        assert.deepEqual(read(query), known);
      }),
    );
  });

  it('returns the same parameters as URLSearchParams, and rejects only repeated parameters', () => {
    const piece = fc.constantFrom('sort', 'sub_id', '=', '&', 'a', '%41', '%2C', '+', '%6F', 's%6Frt', 'x');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const query = pieces.join('');
        const expected = [...new URLSearchParams(query)].filter(([name]) => names.some((each) => each === name));
        const isRepeated = new Set(expected.map(([name]) => name)).size < expected.length;
        if (isRepeated) assert.equal(typeof read(query), 'string');
        else assert.deepEqual(read(query), Object.fromEntries(expected));
      }),
      { numRuns: 500 },
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseQueryParameters } from '../../src/domain/query-string.ts';

const names = ['sub_id', 'sort', 'format'] as const;

function read(query: string) {
  const result = parseQueryParameters(query, names);
  return result.ok ? result.values : result.error.param;
}

describe('readQueryParameters', () => {
  it('picks the parameters asked for, in any order, and leaves out the rest', () => {
    assert.deepEqual(read('sort=lowest_apr&x=1&sub_id=abc'), { sort: 'lowest_apr', sub_id: 'abc' });
    assert.deepEqual(read(''), {});
    assert.deepEqual(read('x=1&y'), {});
  });

  it('refuses a known parameter that is repeated, whatever its values', () => {
    assert.equal(read('sort=a&sort=b'), 'sort');
    assert.equal(read('sort=a&x=1&sort=a'), 'sort');
    assert.equal(read('sort=&sort='), 'sort');
    assert.equal(read('sort&sort'), 'sort');
    assert.equal(read('sort=a&%73ort=b'), 'sort');
  });

  it('passes over an unknown parameter that is repeated or badly encoded', () => {
    assert.deepEqual(read('x=1&x=2&sort=a'), { sort: 'a' });
    assert.deepEqual(read('%=1&%zz=%&%ff=%ff&x=%E0%A4%A&sort=a'), { sort: 'a' });
  });

  it('reads form encoding: a plus is a space, %2C a comma, %2B a plus', () => {
    assert.deepEqual(read('sort=a%2Cb%2cc'), { sort: 'a,b,c' });
    assert.deepEqual(read('sort=a+b%20c'), { sort: 'a b c' });
    assert.deepEqual(read('sort=a%2Bb'), { sort: 'a+b' });
    assert.deepEqual(read('sort=%C3%A9%F0%9F%92%B6'), { sort: 'é💶' });
    assert.deepEqual(read('sort=%26%3D%25'), { sort: '&=%' });
    assert.deepEqual(read('sort=%2541'), { sort: '%41' });
  });

  it('reads an encoded name, once', () => {
    assert.deepEqual(read('s%6Frt=a&%66%6f%72mat=json'), { sort: 'a', format: 'json' });
    assert.deepEqual(read('s%256Frt=a'), {});
  });

  it('refuses a known parameter whose percent signs start no UTF-8', () => {
    for (const value of ['%', '%4', '%zz', '%ff', '%C3', '%C3%28', '%E0%A4%A', '%u0041', 'a%', '%ED%A0%80', '%C0%AF']) {
      assert.equal(read(`sort=${value}`), 'sort', value);
      assert.equal(read(`sub_id=x&sort=${value}&format=json`), 'sort', value);
    }
  });

  it('takes a parameter without a value for an empty one', () => {
    assert.deepEqual(read('sort'), { sort: '' });
    assert.deepEqual(read('sort='), { sort: '' });
    assert.deepEqual(read('sort&sub_id=a'), { sort: '', sub_id: 'a' });
    assert.deepEqual(read('=a&sort='), { sort: '' });
  });

  it('takes all behind the first equals sign for the value', () => {
    assert.deepEqual(read('sort=a=b=&format==='), { sort: 'a=b=', format: '==' });
  });

  it('minds no empty pieces', () => {
    assert.deepEqual(read('&&sort=a&&&format=b&'), { sort: 'a', format: 'b' });
  });

  it('is not led astray by the names of built-in properties', () => {
    assert.deepEqual(read('__proto__=1&constructor=2&toString=3&__proto__=4&sort=a'), { sort: 'a' });
    assert.equal(Object.getPrototypeOf(read('__proto__=1')), Object.prototype);
  });

  it('tells names apart by their case', () => assert.deepEqual(read('Sort=a&SORT=b&sort=c'), { sort: 'c' }));

  it('reads what URLSearchParams writes', () => {
    // Lone surrogates cannot be written in a URL at all.
    const text = fc.string({ unit: 'binary' }).filter((each) => each.isWellFormed());
    fc.assert(
      fc.property(fc.record({ sub_id: text, sort: text, other: text }), fc.boolean(), (values, otherFirst) => {
        const { other, ...known } = values;
        const query = new URLSearchParams(otherFirst ? { other, ...known } : { ...known, other }).toString();
        assert.deepEqual(read(query), known);
      }),
    );
  });

  it('reads a query as URLSearchParams does, as far as both take it', () => {
    const piece = fc.constantFrom('sort', 'sub_id', '=', '&', 'a', '%41', '%2C', '+', '%6F', 's%6Frt', 'x');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const query = pieces.join('');
        const expected = new URLSearchParams(query);
        const repeated = names.some((name) => expected.getAll(name).length > 1);
        const found = read(query);
        if (repeated) assert.equal(typeof found, 'string');
        else
          assert.deepEqual(
            found,
            Object.fromEntries([...expected].filter(([name]) => names.some((each) => each === name))),
          );
      }),
      { numRuns: 1_000 },
    );
  });

  it('throws at no text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (query) => void read(query)));
  });
});

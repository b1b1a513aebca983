import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InternTable } from '../../src/sessions/intern-table.ts';

describe('SharedValues', () => {
  it('knows a value by one number for as long as anybody holds it', () => {
    const values = new InternTable<object>();
    const [one, other] = [{}, {}];
    const number = values.intern(one);
    assert.notEqual(values.intern(other), number);
    assert.equal(values.intern(one), number);
    values.release(number);
    assert.equal(values.get(number), one);
    assert.equal(values.size, 2);
    values.release(number);
    assert.equal(values.size, 1);
  });

  it('tells equal objects apart, and equal texts not', () => {
    const objects = new InternTable<object>();
    assert.notEqual(objects.intern({}), objects.intern({}));
    const texts = new InternTable<string>();
    assert.equal(texts.intern('catalog-1'), texts.intern(['catalog', 1].join('-')));
  });

  it('lets go of an object nobody holds any more', () => {
    const values = new InternTable<object>();
    const number = values.intern({ large: true });
    assert.equal(values.size, 1);
    values.release(number);
    assert.equal(values.get(number), undefined);
    assert.equal(values.size, 0);
  });

  it('does as a count of every value does, with no more numbers than there were values at a time', () => {
    const step = fc.record({ hold: fc.boolean(), value: fc.nat(7) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const values = new InternTable<number>();
        const held = new Map<number, { number: number; times: number }>();
        let most = 0;
        for (const { hold, value } of steps) {
          const known = held.get(value);
          if (hold) {
            const number = values.intern(value);
            if (known === undefined) {
              for (const other of held.values()) assert.notEqual(other.number, number);
              held.set(value, { number, times: 1 });
            } else {
              assert.equal(number, known.number);
              known.times++;
            }
            most = Math.max(most, held.size);
            assert(number < most);
          } else if (known !== undefined) {
            values.release(known.number);
            if (--known.times === 0) held.delete(value);
          }
          assert.equal(values.size, held.size);
          for (const [each, { number }] of held) assert.equal(values.get(number), each);
        }
      }),
    );
  });
});

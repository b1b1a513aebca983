import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SharedValues } from '../../src/sessions/shared-values.ts';

describe('SharedValues', () => {
  it('knows a value by one number for as long as anybody holds it', () => {
    const values = new SharedValues<object>();
    const [one, other] = [{}, {}];
    const number = values.hold(one);
    assert.notEqual(values.hold(other), number);
    assert.equal(values.hold(one), number);
    values.release(number);
    assert.equal(values.at(number), one);
    assert.equal(values.size, 2);
    values.release(number);
    assert.equal(values.size, 1);
  });

  it('tells equal objects apart, and equal texts not', () => {
    const objects = new SharedValues<object>();
    assert.notEqual(objects.hold({}), objects.hold({}));
    const texts = new SharedValues<string>();
    assert.equal(texts.hold('catalog-1'), texts.hold(['catalog', 1].join('-')));
  });

  it('lets go of an object nobody holds any more', () => {
    const values = new SharedValues<object>();
    const number = values.hold({ large: true });
    assert.equal(values.size, 1);
    values.release(number);
    assert.equal(values.at(number), undefined);
    assert.equal(values.size, 0);
  });

  it('does as a count of every value does, with no more numbers than there were values at a time', () => {
    const step = fc.record({ hold: fc.boolean(), value: fc.nat(7) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const values = new SharedValues<number>();
        const held = new Map<number, { number: number; times: number }>();
        let most = 0;
        for (const { hold, value } of steps) {
          const known = held.get(value);
          if (hold) {
            const number = values.hold(value);
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
          for (const [each, { number }] of held) assert.equal(values.at(number), each);
        }
      }),
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InternTable } from '../../src/sessions/intern-table.ts';

describe('InternTable', () => {
  it('an intern table counts the references to each value, and reuses the indexes of released values', () => {
    const step = fc.record({ isIntern: fc.boolean(), value: fc.nat(7) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const values = new InternTable<number>();
        const references = new Map<number, { number: number; times: number }>();
        let sizeMax = 0;
        for (const { isIntern, value } of steps) {
          const reference = references.get(value);
          if (isIntern) {
            const number = values.internValue(value);
            if (reference === undefined) {
              for (const other of references.values()) assert.notEqual(other.number, number);
              references.set(value, { number, times: 1 });
            } else {
              assert.equal(number, reference.number);
              reference.times++;
            }
            sizeMax = Math.max(sizeMax, references.size);
            assert(number < sizeMax);
          } else if (reference !== undefined) {
            values.releaseValue(reference.number);
            if (--reference.times === 0) references.delete(value);
          }
          assert.equal(values.size, references.size);
          for (const [each, { number }] of references) assert.equal(values.get(number), each);
        }
      }),
    );
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DigestSet } from '../../src/sessions/widget-usage.ts';

/** Few different ones, and some that differ in one half only. */
const digest = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 }))
  .map(([first, second]) => Buffer.from([first, 0, 0, 0, second, 0, 0, 0]));

test('a DigestSet holds what a Set would', () => {
  const command = fc.tuple(fc.constantFrom('add', 'delete', 'has'), digest);
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const set = new DigestSet();
      const model = new Set<string>();
      for (const [name, item] of commands) {
        const text = item.toString('hex');
        assert.equal(set.has(item), model.has(text));
        if (name === 'delete') {
          set.delete(item);
          model.delete(text);
        } else if (name === 'add' && !model.has(text)) {
          set.add(item);
          model.add(text);
        }
        assert.equal(set.size, model.size);
      }
      for (const text of model) assert.ok(set.has(Buffer.from(text, 'hex')));
    }),
  );
});

test('a DigestSet keeps a copy, of digests and of nothing else', () => {
  const set = new DigestSet();
  const item = Buffer.alloc(8, 1);
  set.add(item);
  item.fill(2);
  assert.ok(!set.has(item) && set.has(Buffer.alloc(8, 1)));
  assert.throws(() => set.has(Buffer.alloc(7)), RangeError);
});

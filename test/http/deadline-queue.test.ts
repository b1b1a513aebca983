import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DeadlineEntry, DeadlineQueue, unqueuedEntry } from '../../src/http/engines/deadline-queue.ts';

function entry(onDeadline: () => void = () => {}): DeadlineEntry {
  return { ...unqueuedEntry, onDeadline };
}

test('an entry is told once its time has passed, not before, and once only', () => {
  const queue = new DeadlineQueue(100);
  let late = 0;
  queue.add(
    entry(() => {
      late += 1;
    }),
    1_000,
  );
  queue.expire(1_099);
  assert.equal(late, 0);
  queue.expire(1_100);
  queue.expire(1_200);
  assert.equal(late, 1);
  assert.ok(queue.isEmpty);
});

test('an entry added again starts anew', () => {
  const queue = new DeadlineQueue(100);
  let late = 0;
  const again = entry(() => {
    late += 1;
  });
  queue.add(again, 0);
  queue.add(entry(), 50);
  queue.add(again, 60);
  queue.expire(150);
  assert.equal(late, 0);
  queue.expire(160);
  assert.equal(late, 1);
});

test('an entry may be added from within its own deadline, and waits its whole time', () => {
  const queue = new DeadlineQueue(100);
  const late: number[] = [];
  let nowMs = 0;
  const lingering = entry(() => {
    late.push(nowMs);
    queue.add(lingering, nowMs);
  });
  queue.add(lingering, nowMs);
  for (; nowMs <= 250; nowMs += 50) queue.expire(nowMs);
  assert.deepEqual(late, [100, 200]);
});

test('whatever is added, removed and expired, exactly the entries left too long are told', () => {
  const step = fc.record({ waitMs: fc.nat(60), act: fc.constantFrom('add', 'remove', 'expire'), which: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new DeadlineQueue(100);
      const told: number[] = [];
      const entries = Array.from({ length: 6 }, (_, index) => entry(() => told.push(index)));
      const dueMs = new Map<number, number>();
      let nowMs = 0;
      for (const { waitMs, act, which } of steps) {
        nowMs += waitMs;
        if (act === 'add') {
          queue.add(entries[which] as DeadlineEntry, nowMs);
          dueMs.delete(which);
          dueMs.set(which, nowMs + 100);
        } else if (act === 'remove') {
          queue.remove(entries[which] as DeadlineEntry);
          dueMs.delete(which);
        } else {
          told.length = 0;
          queue.expire(nowMs);
          const expected = [...dueMs].filter(([, due]) => due <= nowMs).map(([index]) => index);
          assert.deepEqual(told, expected);
          for (const index of expected) dueMs.delete(index);
        }
        assert.equal(queue.isEmpty, dueMs.size === 0);
      }
    }),
  );
});

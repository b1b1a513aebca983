import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import {
  DeadlineQueue,
  type DeadlineQueueEntry,
  emptyDeadlineLinks,
  InFlightRequests,
} from '../../src/http/engines/base-listener.ts';
import { nextRequestId } from '../../src/http/engines/base-request-context.ts';

function entry(onDeadline: () => void = () => {}): DeadlineQueueEntry {
  return { ...emptyDeadlineLinks, onDeadline };
}

test('an expired entry that is added to the DeadlineQueue a second time expires after another full timeout', () => {
  const queue = new DeadlineQueue(100);
  const late: number[] = [];
  let nowMs = 0;
  const lingering = entry(() => {
    late.push(nowMs);
    queue.add(lingering, nowMs);
  });
  queue.add(lingering, nowMs);
  for (; nowMs <= 250; nowMs += 50) queue.removeExpiredEntries(nowMs);
  assert.deepEqual(late, [100, 200]);
});

test('an entry expires if and only if its timeout has passed (random additions and removals)', () => {
  const step = fc.record({ waitMs: fc.nat(60), act: fc.constantFrom('add', 'remove', 'expire'), which: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new DeadlineQueue(100);
      const expired: number[] = [];
      const entries = Array.from({ length: 6 }, (_, index) => entry(() => expired.push(index)));
      const dueMs = new Map<number, number>();
      let nowMs = 0;
      for (const { waitMs, act, which } of steps) {
        nowMs += waitMs;
        if (act === 'add') {
          queue.add(entries[which] as DeadlineQueueEntry, nowMs);
          dueMs.delete(which);
          dueMs.set(which, nowMs + 100);
        } else if (act === 'remove') {
          queue.remove(entries[which] as DeadlineQueueEntry);
          dueMs.delete(which);
        } else {
          expired.length = 0;
          queue.removeExpiredEntries(nowMs);
          const expected = [...dueMs].filter(([, due]) => due <= nowMs).map(([index]) => index);
          assert.deepEqual(expired, expected);
          for (const index of expected) dueMs.delete(index);
        }
      }
    }),
  );
});

test('waitForAllRequests also waits for requests that arrive during the wait', async () => {
  const requests = new InFlightRequests();
  requests.addRequest();
  let drained = false;
  const drain = requests.waitForAllRequests(60_000).then(() => {
    drained = true;
  });
  // The next request arrives in the same turn of the event loop as the last reply.
  requests.removeRequest();
  requests.addRequest();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  assert.equal(drained, false);
  assert.equal(requests.count, 1);
  requests.removeRequest();
  await drain;
});

const url = new URL('../../src/http/engines/base-request-context.ts', import.meta.url).href;

function idOfAnotherThread(): Promise<string> {
  const source = `import('${url}').then((m) => require('node:worker_threads').parentPort.postMessage(m.nextRequestId()))`;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  new Worker(source, { eval: true }).once('message', resolve).once('error', reject);
  return promise;
}

test('request ids are short, unique among threads, and safe in headers and logs', async () => {
  const ids = Array.from({ length: 5_000 }, nextRequestId);
  ids.push(await idOfAnotherThread(), await idOfAnotherThread());
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{14,24}$/);
});

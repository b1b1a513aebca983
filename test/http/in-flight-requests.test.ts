import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InFlightRequests } from '../../src/http/engines/in-flight-requests.ts';

test('a drain without requests resolves', async () => {
  assert.equal(await new InFlightRequests().waitUntilEmpty(60_000), 0);
});

test('a drain waits for the last request, also for requests that arrive during the drain', async () => {
  const requests = new InFlightRequests();
  requests.increment();
  let drained = false;
  const drain = requests.waitUntilEmpty(60_000).then(() => {
    drained = true;
  });
  // The next request arrives in the same turn as the last reply.
  requests.decrement();
  requests.increment();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  assert.equal(drained, false);
  assert.equal(requests.count, 1);
  requests.decrement();
  await drain;
});

test('a drain ends after its grace period, and returns the number of unanswered requests', async () => {
  const requests = new InFlightRequests();
  requests.increment();
  assert.equal(await requests.waitUntilEmpty(1), 1);
  assert.equal(requests.count, 1);
});

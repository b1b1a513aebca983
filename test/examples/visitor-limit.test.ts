import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VisitorLimit } from '../../examples/landing-page/web/visitor-limit.ts';

test('an address waits for the end of its minute, and the others do not', () => {
  const limit = new VisitorLimit(2);
  assert.equal(limit.secondsToWait('one', 0), 0);
  assert.equal(limit.secondsToWait('one', 1_000), 0);
  assert.equal(limit.secondsToWait('one', 1_500), 59);
  assert.equal(limit.secondsToWait('other', 1_500), 0);
  assert.equal(limit.secondsToWait('one', 59_999), 1);
  assert.equal(limit.secondsToWait('one', 60_000), 0);
});

test('it remembers a bounded number of addresses, and forgets the oldest', () => {
  const limit = new VisitorLimit(1);
  for (let address = 0; address < 30_000; address++) assert.equal(limit.secondsToWait(`address ${address}`, 0), 0);
  assert.equal(limit.secondsToWait('address 29999', 0), 60);
  assert.equal(limit.secondsToWait('address 0', 0), 0);
});

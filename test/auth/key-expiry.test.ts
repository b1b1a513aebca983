import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKeyExpiry } from '../../src/auth/api-key.ts';

test('a date lasts to the end of its UTC day', () => {
  assert.equal(parseKeyExpiry('2030-12-31'), Date.UTC(2031, 0, 1));
  assert.equal(parseKeyExpiry('2028-02-29'), Date.UTC(2028, 2, 1));
});

test('a timestamp is meant exactly, in its own offset', () => {
  assert.equal(parseKeyExpiry('2030-12-31T18:30:00Z'), Date.UTC(2030, 11, 31, 18, 30));
  assert.equal(parseKeyExpiry('2030-12-31T18:30Z'), Date.UTC(2030, 11, 31, 18, 30));
  assert.equal(parseKeyExpiry('2030-12-31T18:30:00.250+02:00'), Date.UTC(2030, 11, 31, 16, 30, 0, 250));
});

for (const text of [
  '',
  'tomorrow',
  '2030-1-1',
  '2030-13-01',
  '2030-02-30',
  '2029-02-29',
  '2030-02-30T00:00:00Z',
  '2030-12-31T18:30:00',
  '2030-12-31T25:00:00Z',
  '2030-12-31 18:30:00Z',
  '1924905600',
]) {
  test(`${JSON.stringify(text)} says no moment`, () => {
    assert.equal(parseKeyExpiry(text), null);
  });
}

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { isoTimestamp } from '../../src/domain/iso-timestamp.ts';

it('writes the time of each call, whichever was written before', () => {
  const time = fc.integer({ min: 0, max: 4e12 });
  fc.assert(
    fc.property(time, time, (one, other) => {
      for (const wallMs of [one, one, other, one]) assert.equal(isoTimestamp(wallMs), new Date(wallMs).toISOString());
    }),
  );
});

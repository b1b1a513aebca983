import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { isoTimestamp, parseIsoTimestamp } from '../../src/domain/calendar.ts';

it('writes the time of each call, whichever was written before', () => {
  const time = fc.integer({ min: 0, max: 4e12 });
  fc.assert(
    fc.property(time, time, (one, other) => {
      for (const wallMs of [one, one, other, one]) assert.equal(isoTimestamp(wallMs), new Date(wallMs).toISOString());
    }),
  );
});

it('reads a timestamp to the millisecond, with its offset from UTC', () => {
  for (const [text, ms] of [
    ['2026-05-20T12:00:00Z', Date.UTC(2026, 4, 20, 12)],
    ['2026-05-20T12:00:00.123Z', Date.UTC(2026, 4, 20, 12, 0, 0, 123)],
    ['2026-05-20T12:00+02:00', Date.UTC(2026, 4, 20, 10)],
    ['2024-02-29T23:59:59-05:30', Date.UTC(2024, 2, 1, 5, 29, 59)],
  ] as const) {
    assert.equal(parseIsoTimestamp(text), ms, text);
  }
});

it('reads nothing from what is no moment', () => {
  for (const text of ['2026-05-20', '2026-05-20T12:00:00', '2026-02-29T12:00:00Z', '2026-05-20T25:00:00Z', 'now', '']) {
    assert.equal(parseIsoTimestamp(text), null, text);
  }
});

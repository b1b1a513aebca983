import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  completedYearsBetween,
  dayStartMs,
  daysSinceEpoch,
  formatIsoDate,
  formatIsoTimestamp,
  monthOfDay,
  msPerDay,
  parseIsoDate,
  parseIsoTimestamp,
  toCompactDate,
} from '../../src/domain/calendar.ts';

const firstDay = parseIsoDate('0001-01-01')!;
const lastDay = parseIsoDate('9999-12-31')!;
const anyDay = fc.integer({ min: firstDay, max: lastDay });

describe('parseIsoDate', () => {
  it('parseIsoDate parses every date that formatIsoDate formats, and counts days from 1970-01-01', () => {
    fc.assert(fc.property(anyDay, (day) => assert.equal(parseIsoDate(formatIsoDate(day)), day)));
    assert.deepEqual(['1970-01-01', '1969-12-31', '2024-02-29'].map(parseIsoDate), [
      0,
      -1,
      Date.UTC(2024, 1, 29) / msPerDay,
    ]);
  });

  it('parseIsoDate accepts exactly the dates of the calendar', () => {
    const leap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const monthDays = (year: number) => [31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const two = (number: number) => String(number).padStart(2, '0');
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (year, month, day) => {
          const real = day >= 1 && day <= (monthDays(year)[month - 1] ?? 0);
          const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
          assert.equal(parseIsoDate(text) !== null, real);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('parseIsoDate rejects texts that are not dates', () => {
    for (const text of [
      ...['2023-02-29', '1900-02-29', '2023-13-01', '2023-00-10', '2023-1-01', '2023-01-1', '0000-01-01'],
      ...['02023-01-01', '+002023-01-01', '-2023-01-01', '2023/01/01', '20230101', ' 2023-01-01', '2023-01-01 '],
      ...['2023-01-01\n', '2023-01-01T00:00:00Z', '٢٠٢٣-٠١-٠١', ''],
    ]) {
      assert.equal(parseIsoDate(text), null, JSON.stringify(text));
    }
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseIsoDate(text)));
  });
});

it('daysSinceEpoch returns the UTC day that contains the time', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8e13, max: 8e13 }), (wallMs) => {
      const day = daysSinceEpoch(wallMs);
      assert.ok(dayStartMs(day) <= wallMs && wallMs < dayStartMs(day + 1));
    }),
  );
  const midnight = Date.UTC(2026, 4, 21);
  assert.deepEqual(
    [formatIsoDate(daysSinceEpoch(midnight - 1)), formatIsoDate(daysSinceEpoch(midnight))],
    ['2026-05-20', '2026-05-21'],
  );
});

it('toCompactDate returns the digits of the ISO date as a number', () => {
  fc.assert(
    fc.property(anyDay, (day) => assert.equal(toCompactDate(day), Number(formatIsoDate(day).replaceAll('-', '')))),
  );
});

it('completedYearsBetween returns the number of birthdays since birth', () => {
  const day = fc.integer({ min: parseIsoDate('1900-01-01')!, max: parseIsoDate('2100-12-31')! });
  fc.assert(
    fc.property(day, day, (one, other) => {
      const [born, today] = [Math.min(one, other), Math.max(one, other)];
      const [bornText, todayText] = [formatIsoDate(born), formatIsoDate(today)];
      let birthdays = 0;
      for (let year = Number(bornText.slice(0, 4)) + 1; `${year}${bornText.slice(4)}` <= todayText; year++) {
        birthdays++;
      }
      assert.equal(completedYearsBetween(toCompactDate(born), toCompactDate(today)), birthdays);
    }),
  );
});

it('formatIsoTimestamp returns the same text as Date.toISOString, even for a time that was formatted before', () => {
  const time = fc.integer({ min: 0, max: 4e12 });
  fc.assert(
    fc.property(time, time, (one, other) => {
      for (const wallMs of [one, one, other, one])
        assert.equal(formatIsoTimestamp(wallMs), new Date(wallMs).toISOString());
    }),
  );
});

it('parseIsoTimestamp parses a timestamp with its offset from UTC', () => {
  for (const [text, ms] of [
    ['2026-05-20T12:00:00Z', Date.UTC(2026, 4, 20, 12)],
    ['2026-05-20T12:00:00.123Z', Date.UTC(2026, 4, 20, 12, 0, 0, 123)],
    ['2026-05-20T12:00+02:00', Date.UTC(2026, 4, 20, 10)],
    ['2024-02-29T23:59:59-05:30', Date.UTC(2024, 2, 1, 5, 29, 59)],
  ] as const) {
    assert.equal(parseIsoTimestamp(text), ms, text);
  }
});

it('parseIsoTimestamp rejects invalid timestamps', () => {
  for (const text of ['2026-05-20', '2026-05-20T12:00:00', '2026-02-29T12:00:00Z', '2026-05-20T25:00:00Z', 'now', '']) {
    assert.equal(parseIsoTimestamp(text), null, text);
  }
});

it('monthOfDay returns the month of every day since 1970, and numbers the months without gaps', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: lastDay }), (day) => {
      const { number, firstDay: first, endDay } = monthOfDay(day);
      assert.ok(first <= day && day < endDay);
      assert.equal(formatIsoDate(first), `${formatIsoDate(day).slice(0, 7)}-01`);
      assert.equal(monthOfDay(first).number, number);
      if (endDay <= lastDay) assert.match(formatIsoDate(endDay), /-01$/);
      assert.equal(monthOfDay(endDay).number, number + 1);
    }),
  );
  const february = monthOfDay(parseIsoDate('2028-02-29')!);
  assert.equal(february.endDay - february.firstDay, 29);
});

import { noSessions, sessionFigureNames } from '../../experiments/session-figures.ts';
import type { UnitDay } from '../../experiments/unit-sums.ts';
import { decodeVarints, encodeVarints } from '../sql-database.ts';

/** Flags of the members that follow the day; the flag of a figure is its index in `sessionFigureNames`, plus 2. */
const hasOtherArms = 1;
const hasWeeks = 2;
/** Lowest revenue of a week that `toUnsigned` can map without a loss. */
const weekMicrosMin = -(2 ** 52);

/**
 * Encodes the days of a visitor as varints. A day starts with the number of days since the previous one (0 for the first), and with flags
 * that tell which of these members follow: the arms, unless the visitor's arm is the only one; the number of weeks and the revenue of each
 * week; each figure that is not 0, with `sessions` reduced by 1. A visitor with one session and one view takes 4 bytes. If the revenue of a
 * week is below `weekMicrosMin`, a 0 and the total revenue up to each week, which is never negative, replace the revenue of each week.
 */
export function encodeUnitDays(days: readonly UnitDay[], arm: number): Uint8Array {
  const numbers: number[] = [];
  let previousDay = days[0]!.day;
  for (const { day, arms, figures } of days) {
    let flags = 0;
    const members: number[] = [];
    if (arms !== 1 << arm) {
      flags |= hasOtherArms;
      members.push(arms);
    }
    const weeks = figures.revenueMicrosByWeek;
    if (weeks.length > 0) {
      flags |= hasWeeks;
      const micros = Array.from(weeks, (each) => each ?? 0);
      if (micros.every((each) => each >= weekMicrosMin)) members.push(weeks.length, ...micros.map(toUnsigned));
      else members.push(0, weeks.length, ...toTotals(micros));
    }
    for (const [index, name] of sessionFigureNames.entries()) {
      const value = figures[name] - (name === 'sessions' ? 1 : 0);
      if (value === 0) continue;
      flags |= 4 << index;
      members.push(value);
    }
    numbers.push(day - previousDay, flags, ...members);
    previousDay = day;
  }
  return encodeVarints(numbers)!;
}

export function decodeUnitDays(bytes: Uint8Array, arm: number, firstDay: number): UnitDay[] {
  const numbers = decodeVarints(bytes);
  const days: UnitDay[] = [];
  let day = firstDay;
  for (let at = 0; at < numbers.length; ) {
    day += numbers[at++]!;
    const flags = numbers[at++]!;
    const arms = (flags & hasOtherArms) === 0 ? 1 << arm : numbers[at++]!;
    const figures = { ...noSessions };
    if ((flags & hasWeeks) !== 0) {
      const hasTotals = numbers[at] === 0;
      if (hasTotals) at++;
      const count = numbers[at++]!;
      const weeks = numbers.slice(at, at + count);
      figures.revenueMicrosByWeek = hasTotals ? toDifferences(weeks) : weeks.map(toSigned);
      at += count;
    }
    for (const [index, name] of sessionFigureNames.entries()) {
      const value = (flags & (4 << index)) === 0 ? 0 : numbers[at++]!;
      figures[name] = value + (name === 'sessions' ? 1 : 0);
    }
    days.push({ day, arms, figures });
  }
  return days;
}

/** Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ..., because varints have no sign. */
function toUnsigned(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function toSigned(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function toTotals(changes: readonly number[]): number[] {
  let total = 0;
  return changes.map((change) => {
    total += change;
    return total;
  });
}

function toDifferences(totals: readonly number[]): number[] {
  return totals.map((total, index) => total - (totals[index - 1] ?? 0));
}

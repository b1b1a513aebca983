import { dayOf, dayStartMs } from '../../src/domain/calendar.ts';

/** Milliseconds to wait until something that takes `neededMs` lies within one UTC day; 0 where it does if begun now. */
export function msUntilDayFits(neededMs: number, wallMs: number): number {
  const leftMs = dayStartMs(dayOf(wallMs) + 1) - wallMs;
  return leftMs >= neededMs ? 0 : leftMs;
}

import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import type { SessionRecord } from './session-record.ts';

/** The id of a new load of a session's widget, or of one that asked before, maybe of another life of the server. */
export function drawLoad({ widget }: SessionRecord, random: Random): string {
  const { loads } = widget;
  if (loads.length > 0 && chance(random, 0.6)) return loads[wholeNumber(random, 0, loads.length - 1)]!;
  return half(random) + half(random);
}

function half(random: Random): string {
  return wholeNumber(random, 0, 2 ** 32 - 1)
    .toString(16)
    .padStart(8, '0');
}

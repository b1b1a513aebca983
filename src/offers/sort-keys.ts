import type { MatchTables } from './match-tables.ts';

/**
 * Keys of docs/contract.md#sort-orders, each one exact number of which less is better, so that two offers are compared by one
 * comparison. Ties go by the number of the offer.
 */

/** `lowest_apr`: the lower end of the range as answered, then the upper one; below 2^24. */
export function aprKey(tables: MatchTables, slot: number): number {
  return tables.aprMin[slot]! * 4_096 + tables.aprMax[slot]!;
}

/** `highest_amount`: the most the borrower can get, then `lowest_apr`. */
export function amountKey(tables: MatchTables, slot: number, amountMax: number): number {
  return aprKey(tables, slot) - amountMax * 2 ** 24;
}

/** The largest amount among the offers whose `amountKey` is this or greater; negative for an infinite key. */
export function maxAmountFromKey(key: number): number {
  return Math.ceil(-key / 2 ** 24);
}

/** `svc_revenue`. */
export function revenueKey(tables: MatchTables, row: number): number {
  return -tables.expectedRevenueMicros[row]!;
}

import { type UnbookedReason, unbookedReasons } from '../ledger/ledger-record.ts';

/** Index of each reason in a click record. */
export const unbookedReasonIndexes = Object.fromEntries(
  unbookedReasons.map((reason, index) => [reason, index]),
) as Readonly<Record<UnbookedReason, number>>;

/** Whether a click books revenue. */
export interface ClickDecision {
  /** Whether the click_id contains the revenue of the click. False if a limit of the offer prevents the click from booking revenue. */
  readonly hasValue: boolean;
  /** As in `OfferClickedRecord`; undefined for a click that needs no decision. */
  readonly isBooked: boolean | null | undefined;
  /** Reason why a click with `isBooked` false books no revenue; otherwise null. */
  readonly unbookedReason: UnbookedReason | null;
  readonly confirmsRevenue?: boolean;
  /** Whether the click must be recorded. Default: true. */
  readonly needsRecord?: boolean;
}

/** Result for a click that needs no decision, because only the counting rules apply. */
export const defaultClickDecision: ClickDecision = { hasValue: true, isBooked: undefined, unbookedReason: null };

type DecisionItems =
  | readonly []
  | readonly [isBooked: boolean | null, unbookedReason: number | null, confirmsRevenue?: boolean];

/** Converts a decision to the last items of the click record, see `OfferClickedRecord`. */
export function toClickRecordItems({ isBooked, unbookedReason, confirmsRevenue }: ClickDecision): DecisionItems {
  if (isBooked === undefined) return [];
  const reason = unbookedReason === null || isBooked === null ? null : unbookedReasonIndexes[unbookedReason];
  return isBooked === true && confirmsRevenue === true ? [isBooked, reason, true] : [isBooked, reason];
}

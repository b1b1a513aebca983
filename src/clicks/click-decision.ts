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
  | readonly [isBooked: boolean | null, unbookedReason: number | null, confirmsRevenue?: boolean]
  | readonly [
      isBooked: boolean | null | undefined,
      unbookedReason: number | null | undefined,
      confirmsRevenue: boolean | undefined,
      payoutMicros: number,
    ];

/**
 * Converts a decision and the flat payout of the offer to the last items of the click record, see `OfferClickedRecord`.
 *
 * @param flatPayoutMicros null in a vertical without flat payouts
 */
export function toClickRecordItems(
  { isBooked, unbookedReason, confirmsRevenue = false }: ClickDecision,
  flatPayoutMicros: number | null = null,
): DecisionItems {
  if (isBooked === undefined)
    return flatPayoutMicros === null ? [] : [undefined, undefined, undefined, flatPayoutMicros];
  const reason = unbookedReason === null || isBooked === null ? null : unbookedReasonIndexes[unbookedReason];
  if (flatPayoutMicros !== null) return [isBooked, reason, isBooked === true && confirmsRevenue, flatPayoutMicros];
  return isBooked === true && confirmsRevenue ? [isBooked, reason, true] : [isBooked, reason];
}

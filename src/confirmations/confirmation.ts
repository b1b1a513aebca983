/** A lender's confirmation that it owes a payout for a click, or its reversal (docs/contract.md#confirmation-rows). */
export interface Confirmation {
  readonly status: ConfirmationStatus;
  /** The 32 bytes of the sub_id, in a separate array. */
  readonly sub: Uint8Array;
  readonly offerId: string;
  /** Identifier that the lender assigned to the payout. A reversal has the txid of the reversed payout. */
  readonly txid: string;
  readonly amountMicros: number;
  readonly occurredMs: number;
  /** Click data from the click_id, or null without one. Restores a click without a record (docs/contract.md#clicks-without-a-record). */
  readonly click: ClickEvidence | null;
}

export type ConfirmationStatus = 'funded' | 'reversed';

export interface ClickEvidence {
  readonly clickedMs: number;
  readonly valueMicros: number;
}

/** Names of the JSON members of a confirmation row. */
export const confirmationMembers = [
  'click_id',
  'sub_id',
  'svc_offer_id',
  'txid',
  'status',
  'amount',
  'occurred_at',
] as const;
export type ConfirmationMember = (typeof confirmationMembers)[number];

/** Reasons for rejecting a confirmation row, documented in docs/confirmations.md. */
export type RejectionReason =
  | 'not_an_object'
  | `${ConfirmationMember}_repeated`
  | 'status_invalid'
  | 'txid_invalid'
  | 'amount_invalid'
  | 'occurred_at_invalid'
  | 'click_id_invalid'
  | 'sub_id_invalid'
  | 'svc_offer_id_invalid'
  | 'click_missing'
  | 'click_mismatch'
  | 'click_not_counted'
  | 'sandbox'
  | 'click_unknown'
  | 'click_late'
  | 'conflict'
  | 'txid_unknown'
  | 'exceeds_funded'
  | 'before_click'
  | 'in_future'
  | 'too_late'
  | 'session_limit'
  | 'lender_unknown';

/** Amount and time of the funding or of the reversal of a payout. */
export interface Booking {
  readonly amountMicros: number;
  readonly occurredMs: number;
}

export interface Payout {
  readonly funded: Booking;
  readonly reversed: Booking | null;
}

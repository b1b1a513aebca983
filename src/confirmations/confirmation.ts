/** What a lender tells us of one click (docs/contract.md#confirmation-rows): it owes a payout for it, or takes one back. */
export interface Confirmation {
  readonly status: ConfirmationStatus;
  /** 32 bytes of their own. */
  readonly sub: Uint8Array;
  readonly offerId: string;
  /** The lender's name for the payout; a reversal names the payout it takes back. */
  readonly txid: string;
  readonly amountMicros: number;
  readonly occurredMs: number;
  /** Evidence of the click, from its click_id if given: restores a click without a record (docs/contract.md#clicks-without-a-record). */
  readonly click: ClickEvidence | null;
}

export type ConfirmationStatus = 'funded' | 'reversed';

export interface ClickEvidence {
  readonly clickedMs: number;
  readonly valueMicros: number;
}

/** The members of a row as it is sent. */
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

/** Why a row books nothing; docs/confirmations.md tells each in words. */
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

/** What one side of a payout was booked with: its funding or its reversal. */
export interface Booking {
  readonly amountMicros: number;
  readonly occurredMs: number;
}

/** A payout as the ledger has it so far. */
export interface Payout {
  readonly funded: Booking;
  readonly reversed: Booking | null;
}

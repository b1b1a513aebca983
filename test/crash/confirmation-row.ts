import type { ConfirmationResult, ConfirmationStatus } from '../../src/index.ts';

/** A click_id from a redirect, and what its click books if nothing else tells of it. */
export interface IssuedClick {
  readonly offerId: string;
  readonly clickId: string;
  readonly micros: number;
}

/** What a lender says of one payout of a session, in the words of the crash test. */
export interface ConfirmationRow {
  readonly offerId: string;
  readonly txid: string;
  readonly status: ConfirmationStatus;
  readonly amountMicros: number;
  readonly occurredMs: number;
  /** Names the click by its click_id; null: by session and offer alone. */
  readonly issued: IssuedClick | null;
  /** Whether a row with a click_id names session and offer, too. */
  readonly isDoublyNamed: boolean;
  /** Members that make it no confirmation at all, and the reason it gets. */
  readonly spoilt: { readonly members: object; readonly reason: Reason } | null;
}

type Reason = NonNullable<ConfirmationResult['reason']>;

/** `unknown` is no verdict: it leaves a row in doubt. */
export type RowVerdict = 'accepted' | 'repeated' | Reason;

/** The row as it is sent. */
export function rowBody(subId: string, row: ConfirmationRow): object {
  const { offerId, txid, status, amountMicros, occurredMs, issued, isDoublyNamed, spoilt } = row;
  return {
    ...(issued === null ? {} : { click_id: issued.clickId }),
    ...(issued === null || isDoublyNamed ? { sub_id: subId, svc_offer_id: offerId } : {}),
    txid,
    status,
    // The double nearest to at most six decimals, which is what they read as again.
    amount: amountMicros / 1_000_000,
    occurred_at: new Date(occurredMs).toISOString(),
    ...spoilt?.members,
  };
}

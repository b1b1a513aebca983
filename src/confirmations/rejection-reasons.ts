import type { ConfirmationFieldName } from './confirmation-fields.ts';

/** What is wrong with a rejected row, for each reason of the service (docs/confirmations.md#answers). */
const rowReasonTexts = {
  not_an_object: 'The row is not a JSON object.',
  member_ambiguous: 'A column or member is similar to a known one, or names a unit or currency. Remove or rename it.',
  currency_invalid: 'The currency is not USD. Convert the amount.',
  funded_not_accepted: 'Clicks of this vertical confirm their own revenue. Send only reversals.',
  reason_invalid: 'The reversal of a click has no reason, or an unknown one.',
  status_invalid: 'The status is not funded or reversed.',
  txid_invalid: 'The txid is missing, too long, or has characters that are not visible ASCII.',
  amount_invalid: 'The amount is not a number above 0 with at most six decimals.',
  occurred_at_invalid: 'The time is not ISO 8601 with an offset.',
  click_missing: 'The row names no click: it needs click_id, or sub_id and svc_offer_id.',
  click_id_invalid: 'This service did not issue the click_id.',
  sub_id_invalid: 'This service did not issue the sub_id.',
  svc_offer_id_invalid: 'This service has no such offer id.',
  click_mismatch: 'The click_id belongs to another session or offer.',
  click_not_counted: 'The click came from a bot or was no real click.',
  click_unknown: 'The session has no click on this offer.',
  click_late: 'The click came more than 24 hours after the session began.',
  sandbox: 'The click is of a test key and earns no revenue.',
  conflict: 'This txid was booked with another amount, time or reason. The first row stays valid.',
  txid_unknown: 'The reversal names a payout that was never funded.',
  already_funded: 'The click has a funded row with another txid.',
  amount_not_flat: 'The amount is not the flat payout of the offer.',
  exceeds_funded: 'The reversal takes back more than was funded.',
  click_not_booked: 'The click booked no revenue, so nothing can be taken back.',
  exceeds_booked: 'The reversals of the click take back more than it booked.',
  before_click: 'The payout occurred before the click.',
  in_future: 'The payout occurred in the future.',
  too_late: 'The click is more than 90 days old.',
  session_limit: 'The revenue of the session would exceed 100,000 USD.',
  lender_unknown: 'The offer is in no catalog. Put it back, then send the row again.',
};

/** Reasons that the command line and the operator console add, for rows without an outcome of the service. */
const senderReasonTexts = {
  cells_miscounted: 'The row has more or fewer cells than the first line.',
  not_json: 'The line is not JSON.',
  unknown: 'The server cannot tell whether the row was booked. Send it again.',
};

/** Reasons for rejecting a confirmation row. */
export type RejectionReason = keyof typeof rowReasonTexts | `${ConfirmationFieldName}_repeated`;

/** Returns what is wrong with a rejected row; an empty text for a reason of a newer server. */
export function describeRejection(reason: string): string {
  if (reason.endsWith('_repeated')) return 'The row contains this member twice.';
  const texts: Readonly<Record<string, string>> = { ...rowReasonTexts, ...senderReasonTexts };
  return (Object.hasOwn(texts, reason) && texts[reason]) || '';
}

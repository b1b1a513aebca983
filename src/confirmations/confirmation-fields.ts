/** Names of the members of a confirmation row (docs/contract.md#confirmation-rows). */
export const confirmationFieldNames = [
  'click_id',
  'sub_id',
  'svc_offer_id',
  'txid',
  'status',
  'amount',
  'occurred_at',
  'reason',
  'currency',
] as const;
export type ConfirmationFieldName = (typeof confirmationFieldNames)[number];

/** Names of the members without underscores. */
const compactFieldNames: ReadonlySet<string> = new Set(confirmationFieldNames.map((name) => name.replaceAll('_', '')));

/**
 * Whether a member or column has another name than those of a confirmation row, but could contradict a row or change the meaning of its
 * amount: another spelling of a name, such as `Amount`, or a name of a currency or unit, such as `amount_cents` or `payout_currency`. Other
 * unknown names are ignored.
 */
export function isAmbiguousFieldName(name: string): boolean {
  if (confirmationFieldNames.some((each) => each === name)) return false;
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return compactFieldNames.has(letters) || /^amount|(?<!con)currency|^(?:minor)?units?$|^cents$/.test(letters);
}

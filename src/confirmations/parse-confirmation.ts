import { createScanner } from 'jsonc-parser';
import { bounds } from '../bounds.ts';
import { parseIsoTimestamp } from '../domain/calendar.ts';
import { microsPerUsd, usdToExactMicros } from '../domain/money.ts';
import { isVisibleAscii } from '../domain/text.ts';
import type { ClickIds } from '../ids/click-tokens.ts';
import { decodeSubId, formatSubId, type SubIds } from '../ids/sub-id.ts';
import { type ReversalReason, reversalReasons } from '../ledger/ledger-record.ts';
import { type ClickDetails, type Confirmation, confirmationCurrency } from './confirmation.ts';
import { type ConfirmationFieldName, confirmationFieldNames, isAmbiguousFieldName } from './confirmation-fields.ts';
import type { RejectionReason } from './rejection-reasons.ts';

/**
 * Finds the rows whose text shows a problem that `JSON.parse` hides: a repeated member, of which `JSON.parse` uses the last value, or an
 * amount with so many digits that `JSON.parse` rounds it.
 *
 * @param text valid JSON: one row or an array of rows
 * @returns map from the index of a row to the reason for its rejection; a repeated member comes before an invalid amount
 */
export function findRowTextProblems(text: string): ReadonlyMap<number, RejectionReason> {
  const problems = new Map<number, RejectionReason>();
  const scanner = createScanner(text, true);
  let rowDepth = 1;
  let depth = 0;
  let row = 0;
  /** Member names read so far in the current row; null if the row is not an object. */
  let names: Set<string> | null = null;
  let isNameNext = false;
  let isAmountNext = false;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    // The first character of a token is enough to recognize brackets, braces, colons and commas.
    const token = text[scanner.getTokenOffset()]!;
    if (token === ':') continue;
    if (isAmountNext && exceedsExactDigits(scanner.getTokenValue()) && !problems.has(row)) {
      problems.set(row, 'amount_invalid');
    }
    isAmountNext = false;
    if (token === '{' || token === '[') {
      if (depth === 0 && token === '[') rowDepth = 2;
      depth++;
      if (depth === rowDepth) {
        names = token === '{' ? new Set() : null;
        isNameNext = names !== null;
      }
    } else if (token === '}' || token === ']') {
      depth--;
    } else if (token === ',') {
      if (depth === rowDepth) isNameNext = names !== null;
      else if (depth < rowDepth) row++;
    } else if (isNameNext && depth === rowDepth) {
      isNameNext = false;
      const name = scanner.getTokenValue();
      const member = confirmationFieldNames.find((each) => each === name);
      if (member === undefined) continue;
      isAmountNext = member === 'amount';
      if (names!.has(member) && !problems.get(row)?.endsWith('_repeated')) problems.set(row, `${member}_repeated`);
      names!.add(member);
    }
  }
  return problems;
}

/**
 * Whether a number in JSON has more digits than a floating-point number stores exactly. Zeros before the first and after the last other
 * digit do not count.
 */
function exceedsExactDigits(number: string): boolean {
  const digits = number.replace(/e.*$/i, '').replaceAll(/\D/g, '');
  const first = digits.search(/[1-9]/);
  let end = digits.length;
  while (end > first && digits[end - 1] === '0') end--;
  return end - first > bounds.exactDecimalDigitsMax;
}

interface ParseConfirmationDeps {
  readonly subIds: Pick<SubIds, 'verify'>;
  readonly clickIds: Pick<ClickIds, 'verify'>;
  /** Numbers of the verticals in which clicks confirm their own revenue (`Vertical.clicksConfirmRevenue`). */
  readonly verticalsWithConfirmedClicks: ReadonlySet<number>;
  /** Numbers of the verticals with flat payouts (`Vertical.flatPayout`). */
  readonly verticalsWithFlatPayouts: ReadonlySet<number>;
}

/** A confirmation row before validation. Other members are ignored, except for `isAmbiguousFieldName`. */
type UnparsedRow = { readonly [Member in ConfirmationFieldName]?: unknown };

/** Validates the format of one confirmation row (docs/contract.md#confirmation-rows). Does not check the row against the ledger. */
export function parseConfirmation(deps: ParseConfirmationDeps, row: unknown): Confirmation | RejectionReason {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return 'not_an_object';
  if (Object.keys(row).some(isAmbiguousFieldName)) return 'member_ambiguous';
  const { txid, status, amount, occurred_at: occurredAt, currency = confirmationCurrency } = row as UnparsedRow;
  if (status !== 'funded' && status !== 'reversed') return 'status_invalid';
  if (typeof txid !== 'string' || !isVisibleAscii(txid, bounds.txidCharactersMax)) return 'txid_invalid';
  const amountMicros = typeof amount === 'number' ? usdToExactMicros(amount) : null;
  if (amountMicros === null || amountMicros === 0) return 'amount_invalid';
  if (amountMicros > bounds.confirmedRevenueUsdMax * microsPerUsd) return 'amount_invalid';
  if (currency !== confirmationCurrency) return 'currency_invalid';
  const occurredMs = typeof occurredAt === 'string' ? parseIsoTimestamp(occurredAt) : null;
  if (occurredMs === null || occurredMs < 0) return 'occurred_at_invalid';
  const click = parseClick(deps, row as UnparsedRow);
  if (typeof click === 'string') return click;
  const { vertical } = decodeSubId(click.sub);
  const isPayoutFlat = deps.verticalsWithFlatPayouts.has(vertical);
  const transaction: Omit<Confirmation, 'reason'> = { status, txid, amountMicros, occurredMs, ...click, isPayoutFlat };
  // In the other verticals, `reason` is an unknown member, which is ignored.
  if (!deps.verticalsWithConfirmedClicks.has(vertical)) return { ...transaction, reason: null };
  if (status === 'funded') return 'funded_not_accepted';
  const { reason } = row as UnparsedRow;
  return isReversalReason(reason) ? { ...transaction, reason } : 'reason_invalid';
}

function isReversalReason(value: unknown): value is ReversalReason {
  return reversalReasons.some((reason) => reason === value);
}

interface ReferencedClick {
  readonly sub: Uint8Array;
  readonly offerId: string;
  readonly click: ClickDetails | null;
}

/**
 * Finds the click of a row by its click_id, or by its sub_id and svc_offer_id. If a row has a click_id, its sub_id and svc_offer_id may be
 * absent, but must not contradict the click_id. A member with the value null counts as absent.
 */
function parseClick(
  { subIds, clickIds }: ParseConfirmationDeps,
  { click_id: clickId, sub_id: subId, svc_offer_id: offerId }: UnparsedRow,
): ReferencedClick | RejectionReason {
  const hasSub = subId !== undefined && subId !== null;
  const hasOffer = offerId !== undefined && offerId !== null;
  if (clickId !== undefined && clickId !== null) {
    const click =
      typeof clickId === 'string' && clickId.length <= clickIdCharactersMax ? clickIds.verify(clickId) : null;
    if (click === null) return 'click_id_invalid';
    if ((hasSub && subId !== formatSubId(click.sub)) || (hasOffer && offerId !== click.offerId))
      return 'click_mismatch';
    if (!click.countable) return 'click_not_counted';
    const { clickedMs, valueMicros, payoutMicros } = click;
    return { sub: click.sub, offerId: click.offerId, click: { clickedMs, valueMicros, payoutMicros } };
  }
  if (!hasSub || !hasOffer) return 'click_missing';
  const sub = typeof subId === 'string' ? subIds.verify(subId) : null;
  if (sub === null) return 'sub_id_invalid';
  if (!isOfferId(offerId)) return 'svc_offer_id_invalid';
  return { sub: Uint8Array.from(sub), offerId, click: null };
}

function isOfferId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= bounds.offerIdCharactersMax && /^[a-z0-9_-]+$/.test(value);
}

/** Maximum length of a click_id. A click_id above this length is rejected without decoding. */
const clickIdCharactersMax = 256;

import { bounds } from '../bounds.ts';
import { microsPerUsd } from '../domain/money.ts';
import { subIdByteLength } from '../ids/sub-id.ts';

/**
 * A record of the ledger. It contains no pocket field of a borrower. It is stored as a msgpack array: the kind of the record, the time in
 * Unix milliseconds, and `sub`, the 32 bytes of the sub_id, which contain account, vertical and mode. New members are added only at the
 * end.
 */
export type LedgerRecord =
  | SessionCreated
  | OffersViewed
  | OfferClicked
  | RevenueConfirmed
  | RevenueReversed
  | WidgetEventsReported;

export const ledgerRecordKind = {
  sessionCreated: 1,
  offersViewed: 2,
  offerClicked: 3,
  revenueConfirmed: 4,
  revenueReversed: 5,
  widgetEventsReported: 6,
} as const;

/** `[1, wallMs, sub, referrerTag, keyNumber, device, metadata]`, and `idempotencyKey, payload` where it was created with a key. */
export type SessionCreated = readonly [
  kind: 1,
  /** Creation time, as in the sub_id. */
  wallMs: number,
  sub: Uint8Array,
  referrerTag: string,
  /** API key that created the session, for the daily quota (docs/contract.md#sessions-per-day). */
  keyNumber: number,
  device: DeviceClass,
  /** JSON text of the caller's metadata, or null. */
  metadata: string | null,
  /** Keyed digests of 16 bytes that identify a retry (docs/contract.md#idempotency). */
  idempotencyKey?: Uint8Array,
  payload?: Uint8Array,
];

/**
 * `[2, wallMs, sub, catalogVersion, offerIds]`, and `load, again` for a widget: one response with offers, or one widget render
 * (docs/contract.md#views).
 */
export type OffersViewed = readonly [
  kind: 2,
  wallMs: number,
  sub: Uint8Array,
  catalogVersion: string,
  offerIds: readonly string[],
  /** Id of the widget load, 8 bytes. */
  load?: Uint8Array,
  /** Whether a view of this widget load was already counted. The shown offers can then be clicked, but no further view is counted. */
  again?: boolean,
];

/**
 * `[3, wallMs, sub, catalogVersion, offerId, lenderName, valueMicros]`, and `withinDailyCap` if the offer had a daily cap: a click
 * (docs/contract.md#counting-clicks, docs/contract.md#daily-caps).
 */
export type OfferClicked = readonly [
  kind: 3,
  wallMs: number,
  sub: Uint8Array,
  catalogVersion: string,
  offerId: string,
  lenderName: string,
  /** Preliminary revenue in micro-dollars, booked if the click counts. */
  valueMicros: number,
  /**
   * True if the click counts against the daily cap. False if the cap was reached: the click counts, but has no value. Null for a click that
   * does not count against the cap: a repeat, or an offer that was not shown to the session. Absent if the offer has no cap.
   */
  withinDailyCap?: boolean | null,
];

/** Members of both kinds of confirmation (docs/contract.md#confirmations). */
type Booking = readonly [
  wallMs: number,
  sub: Uint8Array,
  offerId: string,
  lenderName: string,
  /** The lender's id of the payout. A reversal has the id of the payout that it reverses. */
  txid: string,
  amountMicros: number,
  /** Time of the payout or reversal according to the lender. */
  occurredMs: number,
];

/**
 * `[4, wallMs, sub, offerId, lenderName, txid, amountMicros, occurredMs, clickedMs, clickValueMicros]`: a lender owes a payout
 * (docs/contract.md#confirmations). The last two come from the click_id and restore a click without a record; null without a
 * click_id.
 */
export type RevenueConfirmed = readonly [
  kind: 4,
  ...booking: Booking,
  clickedMs: number | null,
  clickValueMicros: number | null,
];

/** `[5, wallMs, sub, offerId, lenderName, txid, amountMicros, occurredMs]`: a lender reverses a payout or a part of it. */
export type RevenueReversed = readonly [kind: 5, ...booking: Booking];

/**
 * `[6, wallMs, sub, load, eventIds, types, offerIds]`: events that a widget reported (docs/contract.md#widget-events). Each list has
 * one item per event. No event id is recorded twice for a session.
 */
export type WidgetEventsReported = readonly [
  kind: 6,
  wallMs: number,
  sub: Uint8Array,
  /** Id of the widget load, 8 bytes. */
  load: Uint8Array,
  /** Digests of the event ids, 8 bytes each, concatenated. */
  eventIds: Uint8Array,
  /** Indexes of `widgetEventTypes`. */
  types: readonly number[],
  offerIds: readonly (string | null)[],
];

/** Length in bytes of a widget load id, and of the digest of an event id. */
export const widgetIdBytes = 8;

/** Types of widget events (docs/contract.md#widget-events). The ledger stores the index of a type, so the order must never change. */
export const widgetEventTypes = [
  'widget_loaded',
  'offers_rendered',
  'offer_impression',
  'offer_details_opened',
  'disclosure_opened',
  'offer_click',
  'widget_error',
] as const;
export type WidgetEventType = (typeof widgetEventTypes)[number];

/** Device classes (docs/contract.md#device-classes). The ledger stores the index of a class, so the order must never change. */
export const deviceClasses = ['unknown', 'desktop', 'mobile', 'tablet', 'bot'] as const;
export type DeviceClass = 0 | 1 | 2 | 3 | 4;

/** Time of a decoded log record in Unix milliseconds, or null if the record has no valid time. */
export function recordTimeMs(record: unknown): number | null {
  const time: unknown = Array.isArray(record) ? record[1] : null;
  return isWallMs(time) ? time : null;
}

/**
 * Validates a decoded value and returns it as a record, or null. Every used member is checked, so that a changed file cannot stop
 * the service. A longer array is a record of a later release; its known members are used.
 */
export function parseLedgerRecord(value: unknown): LedgerRecord | null {
  if (!Array.isArray(value) || !isWallMs(value[1]) || !isBytes(value[2], subIdByteLength)) return null;
  if (!hasValidMembers(value)) return null;
  return value[0] === ledgerRecordKind.sessionCreated ? withKnownDevice(value) : (value as unknown as LedgerRecord);
}

/** Checks the members after the sub_id. */
function hasValidMembers(value: readonly unknown[]): boolean {
  switch (value[0]) {
    case ledgerRecordKind.sessionCreated:
      return (
        value.length >= 7 &&
        isLedgerName(value[3]) &&
        isCount(value[4]) &&
        isCount(value[5]) &&
        (value[6] === null || typeof value[6] === 'string')
      );
    case ledgerRecordKind.offersViewed:
      return (
        value.length >= 5 &&
        isLedgerName(value[3]) &&
        Array.isArray(value[4]) &&
        value[4].every(isLedgerName) &&
        (value[5] === undefined || isBytes(value[5], widgetIdBytes)) &&
        (value[6] === undefined || typeof value[6] === 'boolean')
      );
    case ledgerRecordKind.offerClicked:
      return (
        value.length >= 7 &&
        isLedgerName(value[3]) &&
        isLedgerName(value[4]) &&
        isLedgerName(value[5]) &&
        isCount(value[6]) &&
        value[6] <= bounds.clickValueMicrosMax &&
        (value[7] === undefined || value[7] === null || typeof value[7] === 'boolean')
      );
    case ledgerRecordKind.revenueConfirmed:
      return value.length >= 10 && hasBookingMembers(value) && isClickEvidence(value[8], value[9]);
    case ledgerRecordKind.revenueReversed:
      return value.length >= 8 && hasBookingMembers(value);
    case ledgerRecordKind.widgetEventsReported:
      return value.length >= 7 && isBytes(value[3], widgetIdBytes) && hasWidgetEventMembers(value);
    default:
      return false;
  }
}

/** Replaces the device class of a later release by `unknown`. */
function withKnownDevice(value: readonly unknown[]): LedgerRecord {
  const isKnown = (value[5] as number) < deviceClasses.length;
  return (isKnown ? value : value.with(5, deviceClasses.indexOf('unknown'))) as unknown as LedgerRecord;
}

/** Checks the members that confirmations and reversals share. */
function hasBookingMembers(value: readonly unknown[]): boolean {
  const [, , , offerId, lenderName, txid, amountMicros, occurredMs] = value;
  return (
    isLedgerName(offerId) &&
    isLedgerName(lenderName) &&
    isLedgerName(txid) &&
    isCount(amountMicros) &&
    amountMicros > 0 &&
    amountMicros <= bounds.confirmedRevenueUsdMax * microsPerUsd &&
    isWallMs(occurredMs)
  );
}

function isClickEvidence(clickedMs: unknown, valueMicros: unknown): boolean {
  if (clickedMs === null && valueMicros === null) return true;
  return isWallMs(clickedMs) && isCount(valueMicros) && valueMicros <= bounds.clickValueMicrosMax;
}

/** Checks event ids, types and offers, which have one item per event. Accepts unknown types, which a later release wrote. */
function hasWidgetEventMembers([, , , , eventIds, types, offerIds]: readonly unknown[]): boolean {
  return (
    Array.isArray(types) &&
    types.length > 0 &&
    types.length <= bounds.logRecordItemsMax &&
    types.every(isCount) &&
    isBytes(eventIds, types.length * widgetIdBytes) &&
    Array.isArray(offerIds) &&
    offerIds.length === types.length &&
    offerIds.every((offerId) => offerId === null || isLedgerName(offerId))
  );
}

function isWallMs(value: unknown): value is number {
  return isCount(value) && value <= bounds.timestampMsMax;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength === length;
}

function isLedgerName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= bounds.ledgerNameCharactersMax;
}

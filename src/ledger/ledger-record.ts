import { bounds } from '../bounds.ts';
import { microsPerUsd } from '../domain/money.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import { unitHashByteLength } from '../ids/unit-hasher.ts';

/**
 * A record of the ledger, which contains no pocket field of a borrower. The stored form of a record is a msgpack array. Every record starts
 * with its kind, the time in Unix milliseconds, and `sub`, the 32 bytes of the sub_id. A release may add new items to a record only at the
 * end of the array.
 */
export type LedgerRecord =
  | SessionCreatedRecord
  | OffersViewedRecord
  | OfferClickedRecord
  | RevenueConfirmedRecord
  | RevenueReversedRecord
  | WidgetEventsReportedRecord
  | ExperimentRecord;

/** A record about an experiment (docs/contract.md#experiments). Its `sub` identifies no session, but contains the tenant. */
export type ExperimentRecord = ExperimentDefinedRecord | ExperimentClosedRecord | ExperimentDeletedRecord;

export const ledgerRecordKind = {
  sessionCreated: 1,
  offersViewed: 2,
  offerClicked: 3,
  revenueConfirmed: 4,
  revenueReversed: 5,
  widgetEventsReported: 6,
  experimentDefined: 7,
  experimentClosed: 8,
  experimentDeleted: 9,
} as const;

/**
 * A new session. `idempotencyKey` and `payload` are present if the request had an Idempotency-Key, and `unit` if the request had a
 * `unit_id`. The log stores absent items as null if `unit` follows.
 */
export type SessionCreatedRecord = readonly [
  kind: 1,
  /** Creation time of the session, which the sub_id also contains. */
  wallMs: number,
  sub: Uint8Array,
  referrerTag: string,
  /** Number of the API key that created the session, for the daily session limit (docs/contract.md#sessions-per-day). */
  keyNumber: number,
  device: DeviceClass,
  /** Metadata of the session as JSON text, or null. */
  metadata: string | null,
  /** Keyed digests of 16 bytes each, which identify a repeated request (docs/contract.md#idempotency). */
  idempotencyKey?: Uint8Array | undefined,
  payload?: Uint8Array | undefined,
  /** Hash of the `unit_id` (`UnitHasher`). */
  unit?: Uint8Array | undefined,
  /**
   * True if the tag belongs to a running experiment with `assignment: "hash"`, and the hash of the `unit_id` selects another arm; otherwise
   * absent. POST /session checks this, because the ledger does not contain the `unit_id`.
   */
  isMisassigned?: boolean | undefined,
];

/** One response with offers (docs/contract.md#views). The items `load` and `again` are present only if a widget showed the offers. */
export type OffersViewedRecord = readonly [
  kind: 2,
  wallMs: number,
  sub: Uint8Array,
  catalogVersion: string,
  offerIds: readonly string[],
  /** ID of the widget load, 8 bytes. */
  load?: Uint8Array,
  /** Whether an earlier view of the same widget load was counted. If true, this response does not count as a view. */
  again?: boolean,
];

/**
 * A click (docs/contract.md#counting-clicks). The items `isBooked`, `unbookedReason` and `confirmsRevenue` contain the decision at the time
 * of the click, which is final. These items are undefined if the offer had no daily cap and no budget, and clicks of the vertical do not
 * confirm revenue. Then only the counting rules decide whether the click counts. The log stores undefined items as null if a payout follows.
 */
export type OfferClickedRecord = readonly [
  kind: 3,
  wallMs: number,
  sub: Uint8Array,
  catalogVersion: string,
  offerId: string,
  lenderName: string,
  /** Preliminary revenue of the click in micro-dollars. Analytics add the preliminary revenue only if the click counts. */
  valueMicros: number,
  /**
   * True for a click that books its revenue. False for a click that counts but books no revenue, for the reason `unbookedReason`. Null for
   * a click that does not count: a repeated click, or a click on an offer that was not shown to the session.
   */
  isBooked?: boolean | null | undefined,
  /**
   * Index in `unbookedReasons` if `isBooked` is false; otherwise null or absent. Old records with `isBooked` false have no index, because
   * `cap` was the only reason.
   */
  unbookedReason?: number | null | undefined,
  /** Whether the click confirms its own revenue, as clicks in verticals with a cost per click do. Absent means false. */
  confirmsRevenue?: boolean | undefined,
  /** Payout of the offer in micro-dollars; present only in verticals with flat payouts (`Vertical.flatPayout`). */
  payoutMicros?: number,
];

/** Reasons why a counted click books no revenue. The ledger stores indexes of this list, so its order must never change. */
export const unbookedReasons = ['cap', 'budget', 'too_fast', 'too_many_offers'] as const;
export type UnbookedReason = (typeof unbookedReasons)[number];

/** Reasons why a lender takes back the revenue of a click. The ledger stores indexes of this list, so its order must never change. */
export const reversalReasons = ['bot', 'duplicate', 'too_fast', 'out_of_area', 'other'] as const;
export type ReversalReason = (typeof reversalReasons)[number];

/** Array items that records of confirmed and of reversed revenue have in common (docs/contract.md#confirmations). */
type Booking = readonly [
  wallMs: number,
  sub: Uint8Array,
  offerId: string,
  lenderName: string,
  /** Payout ID of the lender. A reversal has the ID of the payout that is reversed. */
  txid: string,
  amountMicros: number,
  /** Time of the payout or reversal according to the lender. */
  occurredMs: number,
];

/**
 * A lender confirms a payout (docs/contract.md#confirmations). The items `clickedMs` and `clickValueMicros` come from the click_id, and
 * suffice to restore a missing click record. `clickedMs` and `clickValueMicros` are null if the confirmation contains no click_id.
 */
export type RevenueConfirmedRecord = readonly [
  kind: 4,
  ...booking: Booking,
  clickedMs: number | null,
  clickValueMicros: number | null,
  /**
   * Present if the vertical has flat payouts (docs/contract.md#flat-payouts): the payout that the click_id contains, in micro-dollars, or
   * null. Records of earlier releases have no such item, and the rules of flat payouts do not apply to them.
   */
  clickPayoutMicros?: number | null,
];

/**
 * A lender reverses a payout or a part of a payout. If `reason` is present, the reversal takes back revenue that a click confirmed, and
 * `txid` identifies the reversal instead of the payout.
 */
export type RevenueReversedRecord = readonly [
  kind: 5,
  ...booking: Booking,
  /** Index in `reversalReasons`. */
  reason?: number,
];

/**
 * Events that a widget reported (docs/contract.md#widget-events). The lists `eventIds`, `types` and `offerIds` contain one item per event.
 * An event ID is recorded at most once for a session.
 */
export type WidgetEventsReportedRecord = readonly [
  kind: 6,
  wallMs: number,
  sub: Uint8Array,
  /** ID of the widget load, 8 bytes. */
  load: Uint8Array,
  /** Concatenated digests of the event IDs, 8 bytes each. */
  eventIds: Uint8Array,
  /** For each event, the index of its type in `widgetEventTypes`. */
  types: readonly number[],
  offerIds: readonly (string | null)[],
];

/** Array items that all records of experiments have in common. */
type ExperimentChange = readonly [
  wallMs: number,
  sub: Uint8Array,
  /** Name of the experiment, which is unique for the tenant. */
  name: string,
  /** Number of the API key that made the change. */
  keyNumber: number,
];

/** A new experiment, or a change of an experiment. The definition is complete in each record. */
export type ExperimentDefinedRecord = readonly [
  kind: 7,
  ...change: ExperimentChange,
  /** `ExperimentDefinition` as JSON text. */
  definition: string,
];

/** A partner closes an experiment. */
export type ExperimentClosedRecord = readonly [
  kind: 8,
  ...change: ExperimentChange,
  /** `ExperimentOutcome` as JSON text. */
  outcome: string,
];

/** A partner hides an experiment from the list. */
export type ExperimentDeletedRecord = readonly [kind: 9, ...change: ExperimentChange];

/** Length in bytes of a widget load ID, and of the digest of an event ID. */
export const widgetIdLength = 8;

/** Types of widget events (docs/contract.md#widget-events). The ledger stores indexes of this list, so its order must never change. */
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

/** Device classes (docs/contract.md#device-classes). The ledger stores indexes of this list, so its order must never change. */
export const deviceClasses = ['unknown', 'desktop', 'mobile', 'tablet', 'bot'] as const;
export type DeviceClass = 0 | 1 | 2 | 3 | 4;

/** Returns the time of a decoded log record in Unix milliseconds, or null if the record has no valid time. */
export function parseRecordTimeMs(record: unknown): number | null {
  const time: unknown = Array.isArray(record) ? record[1] : null;
  return isWallMs(time) ? time : null;
}

/**
 * Validates a decoded value and returns the ledger record, or null if the value is invalid. Every item of the record that the service uses
 * is checked, so that a modified file cannot crash the service. Additional items, which a later release may have added, are ignored.
 */
export function parseLedgerRecord(value: unknown): LedgerRecord | null {
  if (!Array.isArray(value) || !isWallMs(value[1]) || !isBytes(value[2], subIdByteLength)) return null;
  if (!hasValidMembers(value)) return null;
  const record = restoreAbsentItems(value);
  return value[0] === ledgerRecordKind.sessionCreated ? withKnownDevice(record) : (record as unknown as LedgerRecord);
}

/**
 * Replaces null by undefined where the log contains null in place of absent items: the decision of a click (see `OfferClickedRecord`), and
 * the items that follow the metadata of a session (see `SessionCreatedRecord`).
 */
export function restoreAbsentItems(value: readonly unknown[]): readonly unknown[] {
  if (value[0] === ledgerRecordKind.sessionCreated && value.length > 9) {
    return value.map((item, index) => (index > 6 && item === null ? undefined : item));
  }
  if (value[0] !== ledgerRecordKind.offerClicked || value[9] !== null) return value;
  return [...value.slice(0, 7), undefined, undefined, undefined, ...value.slice(10)];
}

export function isExperimentRecord(record: LedgerRecord): record is ExperimentRecord {
  return record[0] >= ledgerRecordKind.experimentDefined;
}

/** Checks the items that follow the sub_id in a ledger record. A missing item is valid only if the item is optional. */
function hasValidMembers(value: readonly unknown[]): boolean {
  switch (value[0]) {
    case ledgerRecordKind.sessionCreated:
      return (
        isLedgerName(value[3]) &&
        isCount(value[4]) &&
        isCount(value[5]) &&
        (value[6] === null || typeof value[6] === 'string') &&
        (value[9] === undefined || value[9] === null || isBytes(value[9], unitHashByteLength)) &&
        (value[10] === undefined || value[10] === null || typeof value[10] === 'boolean')
      );
    case ledgerRecordKind.offersViewed:
      return (
        isLedgerName(value[3]) &&
        Array.isArray(value[4]) &&
        value[4].every(isLedgerName) &&
        (value[5] === undefined || isBytes(value[5], widgetIdLength)) &&
        (value[6] === undefined || typeof value[6] === 'boolean')
      );
    case ledgerRecordKind.offerClicked:
      return (
        isLedgerName(value[3]) &&
        isLedgerName(value[4]) &&
        isLedgerName(value[5]) &&
        isClickAmount(value[6]) &&
        (value[7] === undefined || value[7] === null || typeof value[7] === 'boolean') &&
        (value[8] === undefined || value[8] === null || isCount(value[8])) &&
        (value[9] === undefined || value[9] === null || typeof value[9] === 'boolean') &&
        (value[10] === undefined || isClickAmount(value[10]))
      );
    case ledgerRecordKind.revenueConfirmed:
      return (
        hasBookingMembers(value) &&
        isClickEvidence(value[8], value[9]) &&
        (value[10] === undefined || value[10] === null || isClickAmount(value[10]))
      );
    case ledgerRecordKind.revenueReversed:
      return hasBookingMembers(value) && (value[8] === undefined || isCount(value[8]));
    case ledgerRecordKind.widgetEventsReported:
      return isBytes(value[3], widgetIdLength) && hasWidgetEventMembers(value);
    case ledgerRecordKind.experimentDefined:
    case ledgerRecordKind.experimentClosed:
      return isLedgerName(value[3]) && isCount(value[4]) && typeof value[5] === 'string';
    case ledgerRecordKind.experimentDeleted:
      return isLedgerName(value[3]) && isCount(value[4]);
    default:
      return false;
  }
}

/** Replaces an unknown device class, which a later release may have written, by `unknown`. */
function withKnownDevice(value: readonly unknown[]): LedgerRecord {
  const isKnown = (value[5] as number) < deviceClasses.length;
  return (isKnown ? value : value.with(5, deviceClasses.indexOf('unknown'))) as unknown as LedgerRecord;
}

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
  return isWallMs(clickedMs) && isClickAmount(valueMicros);
}

/** Whether a value is an amount of one click in micro-dollars. */
function isClickAmount(value: unknown): value is number {
  return isCount(value) && value <= bounds.clickValueMicrosMax;
}

/**
 * Checks that the lists of event IDs, types and offers contain one item per event. Accepts unknown event types, which a later release may
 * have written.
 */
function hasWidgetEventMembers([, , , , eventIds, types, offerIds]: readonly unknown[]): boolean {
  return (
    Array.isArray(types) &&
    types.length > 0 &&
    types.length <= bounds.logRecordItemsMax &&
    types.every(isCount) &&
    isBytes(eventIds, types.length * widgetIdLength) &&
    Array.isArray(offerIds) &&
    offerIds.length === types.length &&
    offerIds.every((offerId) => offerId === null || isLedgerName(offerId))
  );
}

function isWallMs(value: unknown): value is number {
  return isCount(value) && value <= bounds.timestampMsMax;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength === length;
}

function isLedgerName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= bounds.ledgerNameCharactersMax;
}

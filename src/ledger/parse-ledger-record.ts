import { bounds } from '../bounds.ts';
import { microsPerUsd } from '../domain/money.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import { deviceClasses, type LedgerRecord, ledgerRecordKind, widgetIdBytes } from './ledger-record.ts';

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
  if (!Array.isArray(value) || !isWallMs(value[1]) || !isSubIdBytes(value[2])) return null;
  switch (value[0]) {
    case ledgerRecordKind.sessionCreated:
      return value.length >= 7 &&
        isLedgerName(value[3]) &&
        isCount(value[4]) &&
        isCount(value[5]) &&
        (value[6] === null || typeof value[6] === 'string')
        ? withKnownDevice(value)
        : null;
    case ledgerRecordKind.offersViewed:
      return value.length >= 5 &&
        isLedgerName(value[3]) &&
        Array.isArray(value[4]) &&
        value[4].every(isLedgerName) &&
        (value[5] === undefined || isBytes(value[5], widgetIdBytes)) &&
        (value[6] === undefined || typeof value[6] === 'boolean')
        ? (value as unknown as LedgerRecord)
        : null;
    case ledgerRecordKind.offerClicked:
      return value.length >= 7 &&
        isLedgerName(value[3]) &&
        isLedgerName(value[4]) &&
        isLedgerName(value[5]) &&
        isCount(value[6]) &&
        value[6] <= bounds.clickValueMicrosMax &&
        (value[7] === undefined || value[7] === null || typeof value[7] === 'boolean')
        ? (value as unknown as LedgerRecord)
        : null;
    case ledgerRecordKind.revenueConfirmed:
      return value.length >= 10 && hasBookingMembers(value) && isClickEvidence(value[8], value[9])
        ? (value as unknown as LedgerRecord)
        : null;
    case ledgerRecordKind.revenueReversed:
      return value.length >= 8 && hasBookingMembers(value) ? (value as unknown as LedgerRecord) : null;
    case ledgerRecordKind.widgetEventsReported:
      return value.length >= 7 && isBytes(value[3], widgetIdBytes) && hasWidgetEventMembers(value)
        ? (value as unknown as LedgerRecord)
        : null;
    default:
      return null;
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

function isSubIdBytes(value: unknown): value is Uint8Array {
  return isBytes(value, subIdByteLength);
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength === length;
}

function isLedgerName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= bounds.ledgerNameCharactersMax;
}

import { basename } from 'node:path';
import { isoTimestampOrNull } from '../../domain/calendar.ts';
import { displayText, escapedJson } from '../../domain/text.ts';
import { nodeLogFiles } from '../../event-log/log-files.ts';
import { RecordDecoder, segmentFirstSequences } from '../../event-log/log-format.ts';
import { LogScanner } from '../../event-log/log-scanner.ts';
import type { LogVerification } from '../../event-log/verify-log.ts';
import { formatSubId, subIdByteLength } from '../../ids/sub-id.ts';
import {
  deviceClasses,
  ledgerRecordKind,
  recordTimeMs,
  widgetEventTypes,
  widgetIdBytes,
} from '../../ledger/ledger-record.ts';
import { formatNameValues, formatTimestamp, printChunk, printJson, printNotice, printResult } from '../output.ts';
import { runInterruptible } from '../signals.ts';
import { checkLogWithProgress, resolveLogFolder } from './log-folder.ts';

/** Times of the first and the last record that have a time, in Unix milliseconds. */
export class RecordTimeSpan {
  firstMs: number | null = null;
  lastMs: number | null = null;

  include(record: readonly unknown[]): void {
    const ms = recordTimeMs(record);
    if (ms === null) return;
    this.firstMs ??= ms;
    this.lastMs = ms;
  }
}

export async function verifyLog(named: string | undefined, output: { readonly json?: true }): Promise<void> {
  const span = new RecordTimeSpan();
  const folder = resolveLogFolder(named);
  const onRecord = (_position: number, record: readonly unknown[]): void => span.include(record);
  const check = await runInterruptible((signal) => checkLogWithProgress(folder, output, { onRecord, signal }));
  if (output.json) printJson(checkToJson(check, span));
  else printResult(formatLogCheck(check, span));
  if (check.damage === null) return;
  if (!output.json) {
    const { file, offset } = check.damage;
    const folderArgument = named === undefined ? '' : ` ${named}`;
    printNotice(
      `marketplace: log repair${folderArgument} --cut ${basename(file)}:${offset} prints what a repair would move`,
    );
  }
  throw check.damage;
}

function checkToJson(check: LogVerification, { firstMs, lastMs }: RecordTimeSpan) {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  return {
    folder,
    segments,
    bytes,
    records,
    first_position: records > 0 ? position - records + 1 : null,
    last_position: records > 0 ? position : null,
    first_at: isoTimestampOrNull(firstMs),
    last_at: isoTimestampOrNull(lastMs),
    tail_bytes: tornBytes,
    damage: damage && { file: damage.file, offset: damage.offset, what: damage.reason },
  };
}

function formatLogCheck(check: LogVerification, { firstMs, lastMs }: RecordTimeSpan): string {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  const tail = `; ends with ${tornBytes} bytes of an incomplete record (a write in progress or a torn tail; the next start of the service moves them to a file)`;
  const rows: [string, string][] = [
    ['folder', folder],
    ['segments', String(segments)],
    ['bytes', String(bytes)],
    ['records', records === 0 ? '0' : `${records}, at positions ${position - records + 1} to ${position}`],
    ['first', formatTimestamp(firstMs)],
    ['last', formatTimestamp(lastMs)],
    ['state', damage === null ? `intact${tornBytes > 0 ? tail : ''}` : 'damaged after these records'],
  ];
  return formatNameValues(rows, 10);
}

/** Description of a record: its members as JSON values, or the reason why the record cannot be decoded. */
type RecordDescription = Readonly<Record<string, unknown>>;

/** Names of the record kinds, and of the record members after kind, time and sub_id. */
const recordLayouts: {
  readonly [Kind in keyof typeof ledgerRecordKind]: readonly [name: string, members: readonly string[]];
} = {
  sessionCreated: ['session_created', ['referrer_tag', 'key_number', 'device', 'metadata']],
  offersViewed: ['offers_viewed', ['catalog_version', 'offer_ids', 'load', 'again']],
  offerClicked: ['offer_clicked', ['catalog_version', 'offer_id', 'lender_name', 'value_micros', 'within_daily_cap']],
  revenueConfirmed: [
    'revenue_confirmed',
    ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms', 'clicked_ms', 'click_value_micros'],
  ],
  revenueReversed: ['revenue_reversed', ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms']],
  widgetEventsReported: ['widget_reported', ['load', 'event_ids', 'types', 'offer_ids']],
};

/** Names of members that a record may omit. */
const optionalMembers = new Set(['within_daily_cap', 'load', 'again']);

const layoutsByKind = new Map<unknown, (typeof recordLayouts)[keyof typeof recordLayouts]>(
  Object.entries(ledgerRecordKind).map(([kind, number]) => [number, recordLayouts[kind as keyof typeof recordLayouts]]),
);

/** Formatters of members that are encoded as numbers or packed bytes. A formatter returns an unexpected value unchanged. */
const memberFormatters: Readonly<Record<string, (value: unknown) => unknown>> = {
  device: (value) => nameOrValue(deviceClasses, value),
  types: (value) =>
    Array.isArray(value) ? value.map((type) => nameOrValue(widgetEventTypes, type)) : toJsonValue(value),
  event_ids(value) {
    if (!(value instanceof Uint8Array) || value.length % widgetIdBytes !== 0) return toJsonValue(value);
    const offsets = Array.from({ length: value.length / widgetIdBytes }, (_, index) => index * widgetIdBytes);
    return offsets.map((offset) => toJsonValue(value.subarray(offset, offset + widgetIdBytes)));
  },
};

/**
 * Describes a decoded ledger record by member names. The file is not trusted: unexpected values are returned unchanged, and the members of
 * a record of unknown kind are returned as an array.
 */
export function describeRecord(record: readonly unknown[]): RecordDescription {
  const [number, time, sub, ...values] = record;
  const kind = layoutsByKind.get(number);
  if (kind === undefined) return { kind: toJsonValue(number), members: record.slice(1).map(toJsonValue) };
  const [name, members] = kind;
  const ms = recordTimeMs(record);
  const description: Record<string, unknown> = {
    kind: name,
    at: ms === null ? toJsonValue(time) : new Date(ms).toISOString(),
    sub_id: sub instanceof Uint8Array && sub.length === subIdByteLength ? formatSubId(sub) : toJsonValue(sub),
  };
  for (const [index, member] of members.entries()) {
    if (index >= values.length && optionalMembers.has(member)) continue;
    description[member] = (memberFormatters[member] ?? toJsonValue)(values[index]);
  }
  if (values.length > members.length) description.more = values.slice(members.length).map(toJsonValue);
  return description;
}

/** Formats a record as one line of JSON or text. Escapes control characters. */
export function formatRecordLine(position: number, description: RecordDescription, asJson: boolean): string {
  if (asJson) return escapedJson({ position, ...description });
  const { kind, at, sub_id: subId, ...members } = description;
  const head = [kind, at, subId].filter((value) => value !== undefined).map((value) => displayText(value));
  const named = Object.entries(members).map(([name, value]) => `${name}=${escapedJson(value)}`);
  return [position, ...head, ...named].join('  ');
}

function nameOrValue(names: readonly string[], value: unknown): unknown {
  return (typeof value === 'number' ? names[value] : undefined) ?? toJsonValue(value);
}

/** Converts a value for JSON. Bytes become hexadecimal digits. */
function toJsonValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Array.isArray(value) ? value.map(toJsonValue) : (value ?? null);
}

export interface InspectOptions {
  readonly from?: number;
  readonly count: number;
  readonly json?: true;
}

export async function inspectLog(named: string | undefined, { from = 1, count, json }: InspectOptions): Promise<void> {
  const folder = resolveLogFolder(named);
  const segment = segmentFirstSequences(nodeLogFiles.listNames(folder)).findLast((first) => first <= from);
  const scanner = new LogScanner(nodeLogFiles, folder, { segment, decode: false });
  const decoder = new RecordDecoder();
  let printed = 0;
  try {
    while (printed < count && scanner.nextRecord()) {
      if (scanner.position < from) continue;
      const description = decodeAndDescribe(decoder, scanner.payload);
      if (!(await printChunk(formatRecordLine(scanner.position, description, json ?? false)))) return;
      printed++;
    }
    if (printed === 0 && !json) printNotice(`The last record of the log is ${scanner.position}.`);
  } finally {
    scanner.close();
  }
}

function decodeAndDescribe(decoder: RecordDecoder, payload: Uint8Array): RecordDescription {
  let record: unknown[];
  try {
    record = decoder.decode(payload);
  } catch (error) {
    return { error: `cannot be decoded: ${error instanceof Error ? error.message : String(error)}` };
  }
  return describeRecord(record);
}

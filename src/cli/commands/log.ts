import { basename, dirname } from 'node:path';
import type { Command } from 'commander';
import { bounds } from '../../bounds.ts';
import { formatIsoTimestampOrNull } from '../../domain/calendar.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { toDisplayText, toEscapedJson } from '../../domain/text.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { parseSegmentFileNames, RecordDecoder } from '../../event-log/log-format.ts';
import { LogScanner } from '../../event-log/log-scanner.ts';
import type { LogVerification } from '../../event-log/verify-log.ts';
import { dataPaths } from '../../files/data-paths.ts';
import { formatSubId, subIdByteLength } from '../../ids/sub-id.ts';
import {
  deviceClasses,
  ledgerRecordKind,
  parseRecordTimeMs,
  restoreAbsentItems,
  reversalReasons,
  unbookedReasons,
  widgetEventTypes,
  widgetIdLength,
} from '../../ledger/ledger-record.ts';
import { createCommandGroup, createIntegerParser, defineCommand } from '../command.ts';
import { formatNameValuePairs, formatTimestamp, printChunk, printJson, printNotice, printResult } from '../output.ts';
import { checkLogWithProgress, LogTimeRange, resolveLogFolder } from './log-folder.ts';
import { createRepairCommand } from './log-repair.ts';
import { findShardFolders } from './shard-folders.ts';

function createVerifyCommand(): Command {
  return defineCommand('verify', {
    summary: 'verify a log',
    description:
      'Reads every record of a log and verifies that each record follows the previous record. Without a folder, verifies the ledger of each ' +
      'shard. Changes nothing; a server may be running.',
    examples: ['marketplace log verify', 'marketplace log verify /backup/data/ledger --json | jq .records'],
    exitCodes: { 0: 'the log is intact', 1: null, 3: 'the log is damaged', 130: null },
    json:
      'one object for each log; for a damaged log, it describes the part before the damage: folder, segments, bytes, records, ' +
      'first_position, last_position, first_at, last_at, tail_bytes, damage',
  })
    .argument('[folder]', 'folder of the log (default: the ledgers of the data folder)')
    .action(verifyLogs);
}

function createInspectCommand(): Command {
  return defineCommand('inspect', {
    summary: 'print records of a log',
    description:
      'Prints records of a log, oldest first. A server may be running. The ledger contains no personal data.',
    examples: [
      'marketplace log inspect --from 1000 --count 5',
      'marketplace log inspect --count 1000000 --json | jq -r .kind | sort | uniq -c',
    ],
    exitCodes: { 3: 'a requested record is damaged; those before it are printed' },
    json: 'one object per line and record: position, kind, at, sub_id, error',
  })
    .argument('[folder]', 'folder of the log (default: the ledger of the data folder)')
    .option(
      '--from <position>',
      'position of the first record (default: the oldest)',
      createIntegerParser(Number.MAX_SAFE_INTEGER),
    )
    .option(
      '--count <n>',
      'number of records',
      createIntegerParser(Number.MAX_SAFE_INTEGER),
      bounds.logInspectRecordsDefault,
    )
    .action(inspectLog);
}

export function createCommand(): Command {
  return createCommandGroup(
    'log',
    'Verifies, prints and repairs a log: the ledger of the data folder (SVC_DATA_DIR, or ./data), or the log in another folder.',
    [createVerifyCommand(), createInspectCommand(), createRepairCommand()],
  );
}

/** Verifies the named log, or the ledgers of all shards. Throws the first error after all logs are verified. */
async function verifyLogs(named: string | undefined, output: { readonly json?: true }): Promise<void> {
  if (named !== undefined) return verifyLog(resolveLogFolder(named), named, output);
  const ledger = resolveLogFolder(undefined);
  const errors: OperatorError[] = [];
  for (const dataDir of findShardFolders(dirname(ledger))) {
    const folder = dataPaths(dataDir).ledgerFolder;
    try {
      await verifyLog(resolveLogFolder(folder), folder === ledger ? undefined : folder, output);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      errors.push(error);
    }
  }
  const [first, ...others] = errors;
  for (const { message } of others) printNotice(`marketplace: ${message}`);
  if (first !== undefined) throw first;
}

/** @param named folder in the command line of a repair; undefined for the ledger of shard 0 */
async function verifyLog(folder: string, named: string | undefined, output: { readonly json?: true }): Promise<void> {
  const span = new LogTimeRange();
  const onRecord = (_position: number, record: readonly unknown[]): void => span.extendTimeRange(record);
  const check = await checkLogWithProgress(folder, output, { onRecord });
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

function checkToJson(check: LogVerification, { firstMs, lastMs }: LogTimeRange) {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  return {
    folder,
    segments,
    bytes,
    records,
    first_position: records > 0 ? position - records + 1 : null,
    last_position: records > 0 ? position : null,
    first_at: formatIsoTimestampOrNull(firstMs),
    last_at: formatIsoTimestampOrNull(lastMs),
    tail_bytes: tornBytes,
    damage: damage && { file: damage.file, offset: damage.offset, what: damage.reason },
  };
}

function formatLogCheck(check: LogVerification, { firstMs, lastMs }: LogTimeRange): string {
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
  return formatNameValuePairs(rows, 10);
}

/** The members of a record as JSON values, or the reason why the record cannot be decoded. */
type RecordDescription = Readonly<Record<string, unknown>>;

/** For each kind of record, its name and the names of its members after kind, time and sub_id. */
const recordLayouts: {
  readonly [Kind in keyof typeof ledgerRecordKind]: readonly [name: string, members: readonly string[]];
} = {
  sessionCreated: [
    'session_created',
    names('referrer_tag key_number device metadata idempotency_key payload unit misassigned'),
  ],
  offersViewed: ['offers_viewed', ['catalog_version', 'offer_ids', 'load', 'again']],
  offerClicked: [
    'offer_clicked',
    names('catalog_version offer_id lender_name value_micros booked unbooked_reason confirms_revenue payout_micros'),
  ],
  revenueConfirmed: [
    'revenue_confirmed',
    names('offer_id lender_name txid amount_micros occurred_ms clicked_ms click_value_micros click_payout_micros'),
  ],
  revenueReversed: ['revenue_reversed', ['offer_id', 'lender_name', 'txid', 'amount_micros', 'occurred_ms', 'reason']],
  widgetEventsReported: ['widget_reported', ['load', 'event_ids', 'types', 'offer_ids']],
  experimentDefined: ['experiment_defined', ['name', 'key_number', 'definition']],
  experimentClosed: ['experiment_closed', ['name', 'key_number', 'outcome']],
  experimentDeleted: ['experiment_deleted', ['name', 'key_number']],
};

/** Names of members that may be absent at the end of a record. */
const optionalMembers = new Set(
  names(
    'booked unbooked_reason confirms_revenue payout_micros click_payout_micros reason load again idempotency_key payload unit misassigned',
  ),
);

const layoutsByKind = new Map<unknown, (typeof recordLayouts)[keyof typeof recordLayouts]>(
  Object.entries(ledgerRecordKind).map(([kind, number]) => [number, recordLayouts[kind as keyof typeof recordLayouts]]),
);

/** Formatters of members that a record stores as numbers or as bytes. Unexpected values are converted to JSON without formatting. */
const memberFormatters: Readonly<Record<string, (value: unknown) => unknown>> = {
  device: (value) => nameOrValue(deviceClasses, value),
  unbooked_reason: (value) => nameOrValue(unbookedReasons, value),
  reason: (value) => nameOrValue(reversalReasons, value),
  types: (value) =>
    Array.isArray(value) ? value.map((type) => nameOrValue(widgetEventTypes, type)) : toJsonValue(value),
  event_ids(value) {
    if (!(value instanceof Uint8Array) || value.length % widgetIdLength !== 0) return toJsonValue(value);
    const offsets = Array.from({ length: value.length / widgetIdLength }, (_, index) => index * widgetIdLength);
    return offsets.map((offset) => toJsonValue(value.subarray(offset, offset + widgetIdLength)));
  },
};

/**
 * Converts a decoded ledger record to an object with named members. The log may contain any values, so unexpected values are only converted
 * to JSON. The members of a record of unknown kind are listed in an array.
 */
export function describeRecord(record: readonly unknown[]): RecordDescription {
  const [number, time, sub, ...values] = restoreAbsentItems(record);
  const kind = layoutsByKind.get(number);
  if (kind === undefined) return { kind: toJsonValue(number), members: record.slice(1).map(toJsonValue) };
  const [name, members] = kind;
  const ms = parseRecordTimeMs(record);
  const description: Record<string, unknown> = {
    kind: name,
    at: ms === null ? toJsonValue(time) : new Date(ms).toISOString(),
    sub_id: sub instanceof Uint8Array && sub.length === subIdByteLength ? formatSubId(sub) : toJsonValue(sub),
  };
  for (const [index, member] of members.entries()) {
    if (values[index] === undefined && optionalMembers.has(member)) continue;
    description[member] = (memberFormatters[member] ?? toJsonValue)(values[index]);
  }
  if (values.length > members.length) description.more = values.slice(members.length).map(toJsonValue);
  return description;
}

/** Formats a record as one line of JSON or of text. Control characters are escaped. */
export function formatRecordLine(position: number, description: RecordDescription, asJson: boolean): string {
  if (asJson) return toEscapedJson({ position, ...description });
  const { kind, at, sub_id: subId, ...members } = description;
  const head = [kind, at, subId].filter((value) => value !== undefined).map((value) => toDisplayText(value));
  const named = Object.entries(members).map(([name, value]) => `${name}=${toEscapedJson(value)}`);
  return [position, ...head, ...named].join('  ');
}

/** Splits a text into words. */
function names(words: string): string[] {
  return words.split(' ');
}

function nameOrValue(names: readonly string[], value: unknown): unknown {
  return (typeof value === 'number' ? names[value] : undefined) ?? toJsonValue(value);
}

/** Converts a value in a log record to a JSON value, and bytes to a string of hexadecimal digits. */
function toJsonValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Array.isArray(value) ? value.map(toJsonValue) : (value ?? null);
}

interface InspectOptions {
  readonly from?: number;
  readonly count: number;
  readonly json?: true;
}

async function inspectLog(named: string | undefined, { from = 1, count, json }: InspectOptions): Promise<void> {
  const folder = resolveLogFolder(named);
  const segment = parseSegmentFileNames(nodeFileSystem.listFiles(folder)).findLast((first) => first <= from);
  const scanner = new LogScanner(nodeFileSystem, folder, { segment, decode: false });
  const decoder = new RecordDecoder();
  let printed = 0;
  try {
    while (printed < count && scanner.nextRecord()) {
      if (scanner.position < from) continue;
      const description = decodeAndDescribe(decoder, scanner.segment!.payload);
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
    record = decoder.decodeRecord(payload);
  } catch (error) {
    return { error: `cannot be decoded: ${error instanceof Error ? error.message : String(error)}` };
  }
  return describeRecord(record);
}

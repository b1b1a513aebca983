import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { bounds } from '../../bounds.ts';
import { confirmationFieldNames } from '../../confirmations/confirmation.ts';
import { findRowTextProblems, isAmbiguousFieldName } from '../../confirmations/parse-confirmation.ts';
import { isJsonObject } from '../../domain/assert-options.ts';
import { CommandLineError } from '../command.ts';
import type { PayoutOfRow } from './confirmation-client.ts';

/** Row that was read from a confirmation file and is not sent yet. */
export interface ConfirmationRow {
  /** Confirmation to send, or the reason why the row is rejected without sending. */
  readonly parsed: { readonly ok: true; readonly item: object } | { readonly ok: false; readonly reason: string };
  /** Header line of the file of rejected rows, with a line break; empty for NDJSON. */
  readonly rejectedRowsHeader: string;
  /** Formats the row and its rejection for the file of rejected rows, which has the same format as the confirmation file. */
  formatRejectedRow(rejection: RowRejection): string;
}

export interface RowRejection {
  readonly reason: string;
  /** The payout that the row names, if the ledger has it. */
  readonly payout?: PayoutOfRow | undefined;
}

export type ConfirmationFormat = 'csv' | 'ndjson';

/** Reads the rows of a confirmation file. Throws `CommandLineError` if a syntax error makes the boundaries of the next rows uncertain. */
export function readConfirmationRows(
  format: ConfirmationFormat,
  text: AsyncIterable<string>,
): AsyncIterable<ConfirmationRow> {
  return format === 'csv' ? readCsvRows(text) : readNdjsonRows(text);
}

/**
 * Names and values of the columns or members that the file of rejected rows has in addition to the input file. If the input is a file of
 * rejected rows from an earlier run, the values replace those of the earlier run. `reason` cannot be the name of the reason for the
 * rejection, because the member `reason` is the reason of a reversal.
 */
const rejectionMembers: readonly (readonly [
  name: string,
  read: (rejection: RowRejection) => string | number | undefined,
])[] = [
  ['rejection', ({ reason }) => reason],
  ['payout_state', ({ payout }) => payout?.state],
  ['payout_amount', ({ payout }) => payout?.amount],
];

/**
 * Reads a CSV file as in RFC 4180. The first line contains the column names, which are the names of JSON members in the API, in any order.
 * Additional columns are allowed. An empty cell means that the member is absent. Any violation of RFC 4180 is an error, because a stray
 * quote, for example, makes it uncertain where a row ends.
 */
async function* readCsvRows(text: AsyncIterable<string>): AsyncGenerator<ConfirmationRow> {
  let start = '';
  const copyStart = async function* (): AsyncGenerator<string> {
    for await (const chunk of text) {
      if (start.length < bounds.confirmationFileRowCharactersMax) start += chunk;
      yield chunk;
    }
  };
  let parseRow: ((cells: readonly string[]) => ConfirmationRow) | null = null;
  try {
    for await (const cells of parseCsv(copyStart())) {
      if (parseRow === null) parseRow = createCsvRowParser(validateHeader(cells));
      else yield parseRow(cells);
    }
  } catch (error) {
    const separator = parseRow === null ? findOtherSeparator(start) : null;
    if (separator === null) throw error;
    throw new CommandLineError(`line 1: the columns are separated by ${separator}; separate them by commas`, {
      cause: error,
    });
  }
  if (parseRow === null) throw new CommandLineError('the file is empty: its first line must name the columns');
}

const csvErrorMessages: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'a quote is inside a cell that does not start with a quote',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
  CSV_MAX_RECORD_SIZE: rowTooLongMessage(),
};

/** Yields the cells of each record of a CSV text. Error messages do not quote the CSV text. */
async function* parseCsv(text: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  const parser = parse({
    record_delimiter: [Buffer.from('\r\n'), Buffer.from('\n')],
    relax_column_count: true,
    skip_empty_lines: true,
    // Maximum length of a row in bytes: three UTF-8 bytes per UTF-16 code unit. `on_record` checks the length in code units.
    max_record_size: 3 * bounds.confirmationFileRowCharactersMax,
    cast(cell, { quoting, lines }) {
      if (!quoting && cell.includes('\r'))
        throw new CommandLineError(`line ${lines}: a carriage return without a line feed`);
      return cell;
    },
    on_record(cells: string[], { lines }) {
      const characters = cells.reduce((sum, cell) => sum + cell.length + 1, 0);
      if (characters > bounds.confirmationFileRowCharactersMax) {
        throw new CommandLineError(`line ${lines}: ${rowTooLongMessage()}`);
      }
      return cells;
    },
  });
  // The required callback of `pipeline` does nothing, because the loop over `parser` throws all errors.
  pipeline(Readable.from(text), parser, () => {});
  try {
    yield* parser;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const message = csvErrorMessages[error.code] ?? 'invalid CSV';
    throw new CommandLineError(`line ${error.lines}: ${message}`, { cause: error });
  }
}

function createCsvRowParser(header: readonly string[]): (cells: readonly string[]) => ConfirmationRow {
  const names = [...header, ...rejectionMembers.map(([name]) => name).filter((name) => !header.includes(name))];
  const rejectedRowsHeader = formatCsvLine(names.map(escapeFormula));
  return (cells) => {
    const formatRejectedRow = (rejection: RowRejection): string => {
      const line = names.map((_, column) => (column < header.length ? (cells[column] ?? '') : ''));
      for (const [name, read] of rejectionMembers) line[names.indexOf(name)] = String(read(rejection) ?? '');
      return formatCsvLine([...line, ...cells.slice(header.length)].map(escapeFormula));
    };
    if (cells.length !== header.length) {
      return { parsed: { ok: false, reason: 'cells_miscounted' }, rejectedRowsHeader, formatRejectedRow };
    }
    const item: Record<string, unknown> = {};
    for (const member of confirmationFieldNames) {
      const cell = unescapeFormula(cells[header.indexOf(member)] ?? '');
      if (cell !== '') item[member] = member === 'amount' ? parseAmount(cell) : cell;
    }
    // An empty cell in a column of currencies does not say that the amount is in USD.
    if (header.includes('currency')) item.currency ??= '';
    return { parsed: { ok: true, item }, rejectedRowsHeader, formatRejectedRow };
  };
}

/**
 * Converts a cell with a decimal number to a number. A cell without a decimal number is returned unchanged; the server then rejects the
 * row.
 */
function parseAmount(cell: string): number | string {
  return /^\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : cell;
}

function validateHeader(header: readonly string[]): readonly string[] {
  const missing = ['txid', 'status', 'amount', 'occurred_at'].filter((name) => !header.includes(name));
  if (!header.includes('click_id')) {
    missing.push(...['sub_id', 'svc_offer_id'].filter((name) => !header.includes(name)));
  }
  if (missing.length > 0) {
    throw new CommandLineError(`the first line must name the columns; missing: ${missing.join(', ')}`);
  }
  const duplicate = confirmationFieldNames.find((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (duplicate !== undefined) throw new CommandLineError(`the first line names the column ${duplicate} twice`);
  const ambiguous = header.findIndex((name) => !isRejectionColumn(name) && isAmbiguousFieldName(name));
  if (ambiguous >= 0) {
    throw new CommandLineError(
      `column ${ambiguous + 1} of the first line has a name that could change the meaning of a row, because it is similar to the name of ` +
        'another column, or names a currency or a unit: rename or remove the column; amounts are in USD, in the column amount',
    );
  }
  return header;
}

/** Separators of other programs, with their names. */
const otherSeparators = [
  [';', 'semicolons (;)'],
  ['\t', 'tabs'],
  ['|', 'vertical bars (|)'],
] as const;

/** Returns the name of the separator if the first line of a text names columns that are not separated by commas; otherwise null. */
function findOtherSeparator(text: string): string | null {
  const [line = ''] = text.split(/\r?\n/, 1);
  for (const [separator, name] of otherSeparators) {
    const names = line.split(separator).map((cell) => cell.replaceAll(/["\s\ufeff]/g, ''));
    if (confirmationFieldNames.filter((field) => names.includes(field)).length > 1) return name;
  }
  return null;
}

function isRejectionColumn(name: string): boolean {
  return rejectionMembers.some(([column]) => column === name);
}

function formatCsvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

/** Characters with which a formula starts in a spreadsheet, including the full-width forms of East Asian keyboards. */
const formulaStart = String.raw`(?:\s*[=+\-@＝＋－＠]|[\t\r\n])`;
const formulaPattern = new RegExp(`^${formulaStart}`);
const escapedFormulaPattern = new RegExp(`^' (?=${formulaStart})`);

/**
 * Inserts an apostrophe and a space before a text that a spreadsheet would execute as a formula. The space distinguishes the inserted
 * apostrophe from an apostrophe with which an id starts.
 */
function escapeFormula(cell: string): string {
  return formulaPattern.test(cell) ? `' ${cell}` : cell;
}

function unescapeFormula(cell: string): string {
  return cell.replace(escapedFormulaPattern, '');
}

/** Reads an NDJSON file: one JSON object per line. Skips empty lines. */
async function* readNdjsonRows(text: AsyncIterable<string>): AsyncGenerator<ConfirmationRow> {
  let incompleteLine = '';
  let lineNumber = 0;
  for await (const chunk of text) {
    const lines = (incompleteLine + chunk).split('\n');
    incompleteLine = lines.pop()!;
    for (const line of lines) yield* parseNdjsonLine(line, ++lineNumber);
    assertLineLength(incompleteLine, lineNumber + 1);
  }
  yield* parseNdjsonLine(incompleteLine, lineNumber + 1);
}

function* parseNdjsonLine(text: string, lineNumber: number): Iterable<ConfirmationRow> {
  assertLineLength(text, lineNumber);
  if (text.trim() !== '') yield parseNdjsonRow(text);
}

function assertLineLength(text: string, lineNumber: number): void {
  if (text.length > bounds.confirmationFileRowCharactersMax) {
    throw new CommandLineError(`line ${lineNumber}: ${rowTooLongMessage()}`);
  }
}

function rowTooLongMessage(): string {
  return `a row has more than ${bounds.confirmationFileRowCharactersMax} characters`;
}

function parseNdjsonRow(text: string): ConfirmationRow {
  const rejected = (reason: string, row: object) => createNdjsonRow({ ok: false, reason }, row);
  // A line that is not JSON, repeats a member name or has an amount with too many digits is written as a string to the rejected rows.
  const asText = { row: text.trim() };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return rejected('not_json', asText);
  }
  if (!isJsonObject(value)) return rejected('not_an_object', { row: value });
  const problem = findRowTextProblems(text).get(0);
  if (problem !== undefined) return rejected(problem, asText);
  // The row is sent without its unknown members, so the server cannot find them.
  if (Object.keys(value).some(isAmbiguousFieldName)) return rejected('member_ambiguous', value);
  const known = confirmationFieldNames.filter((name) => Object.hasOwn(value, name));
  return createNdjsonRow({ ok: true, item: Object.fromEntries(known.map((name) => [name, value[name]])) }, value);
}

/** @param row object to which the rejection is added in the file of rejected rows */
function createNdjsonRow(parsed: ConfirmationRow['parsed'], row: object): ConfirmationRow {
  return {
    parsed,
    rejectedRowsHeader: '',
    formatRejectedRow(rejection) {
      // `JSON.stringify` omits the members without a value.
      const members = rejectionMembers.map(([name, read]) => [name, read(rejection)]);
      return `${JSON.stringify({ ...row, ...Object.fromEntries(members) })}\n`;
    },
  };
}

import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { bounds } from '../../bounds.ts';
import { confirmationFieldNames, isAmbiguousFieldName } from '../../confirmations/confirmation-fields.ts';
import {
  ConfirmationTable,
  findHeaderProblem,
  findOtherSeparator,
  type RowRejection,
  rejectionMembers,
} from '../../confirmations/confirmation-table.ts';
import { findRowTextProblems } from '../../confirmations/parse-confirmation.ts';
import { isJsonObject } from '../../domain/assert-options.ts';
import { CommandLineError } from '../command.ts';

/** Row that was read from a confirmation file and is not sent yet. */
export interface ConfirmationRow {
  /** Confirmation to send, or the reason why the row is rejected without sending. */
  readonly parsed: { readonly ok: true; readonly item: object } | { readonly ok: false; readonly reason: string };
  /** Header line of the file of rejected rows, with a line break; empty for NDJSON. */
  readonly rejectedRowsHeader: string;
  /** Formats the row and its rejection for the file of rejected rows, which has the same format as the confirmation file. */
  formatRejectedRow(rejection: RowRejection): string;
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
      if (parseRow === null) parseRow = createCsvRowParser(cells);
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
  const problem = findHeaderProblem(header);
  if (problem !== null) throw new CommandLineError(problem);
  const table = new ConfirmationTable(header);
  return (cells) => {
    const item = table.toItem(cells);
    return {
      parsed: item === null ? { ok: false, reason: 'cells_miscounted' } : { ok: true, item },
      rejectedRowsHeader: table.rejectedRowsHeader,
      formatRejectedRow: (rejection) => table.formatRejectedRow(cells, rejection),
    };
  };
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

import {
  ConfirmationTable,
  findHeaderProblem,
  findOtherSeparator,
  type RowRejection,
} from '../../../../confirmations/confirmation-table.ts';
import { limits } from '../limits.ts';
import { CsvParser, FileSyntaxError } from './csv-parser.ts';

/** Row of a confirmation file. */
export interface FileRow {
  /** Position in the file: a line of a CSV or NDJSON file, or a row of a JSON array. Starts at 1. */
  readonly place: number;
  /** JSON text of the row, or null if the row cannot be sent. */
  readonly json: string | null;
  /** Reason why the row cannot be sent; otherwise null. */
  readonly reason: 'cells_miscounted' | 'not_json' | null;
  /** Whether the row reverses a payout. Payouts are sent first. */
  readonly isReversal: boolean;
  /** Formats the row for the file of rejected rows, with a line break. */
  formatRejected(rejection: RowRejection): string;
}

export type FileFormat = 'csv' | 'ndjson' | 'json';

/** Returns the format of a file by its name, or null for an unknown format. */
export function findFileFormat(name: string): FileFormat | null {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (extension === 'jsonl') return 'ndjson';
  return extension === 'csv' || extension === 'ndjson' || extension === 'json' ? extension : null;
}

/** Rows of a confirmation file, and the first line of its file of rejected rows. */
export class ConfirmationFileReader {
  readonly #format: FileFormat;
  /** First line of the file of rejected rows; empty before the first row, and for JSON. */
  rejectedRowsHeader = '';

  constructor(format: FileFormat) {
    this.#format = format;
  }

  /** Reads the rows. Throws `FileSyntaxError` if a syntax error makes the boundaries of the next rows uncertain. */
  readRows(text: AsyncIterable<string>): AsyncGenerator<FileRow> {
    if (this.#format === 'csv') return this.#readCsvRows(text);
    return this.#format === 'json' ? readJsonRows(text) : readNdjsonRows(text);
  }

  async *#readCsvRows(text: AsyncIterable<string>): AsyncGenerator<FileRow> {
    const parser = new CsvParser();
    let table: ConfirmationTable | null = null;
    let start = '';
    const readAll = async function* () {
      for await (const piece of text) {
        if (start.length < limits.rowCharactersMax) start += piece;
        yield* parser.push(piece);
      }
      yield* parser.end();
    };
    try {
      for await (const { cells, line } of readAll()) {
        if (table !== null) {
          yield toCsvRow(table, cells, line);
          continue;
        }
        const problem = findHeaderProblem(cells);
        if (problem !== null) throw new FileSyntaxError(`Line ${line}: ${problem}.`);
        table = new ConfirmationTable(cells);
        this.rejectedRowsHeader = table.rejectedRowsHeader;
      }
    } catch (error) {
      const separator = table === null ? findOtherSeparator(start) : null;
      if (separator === null) throw error;
      throw new FileSyntaxError(`Line 1: the columns are separated by ${separator}. Separate them by commas.`);
    }
    if (table === null) throw new FileSyntaxError('The file is empty. Its first line must name the columns.');
  }
}

function toCsvRow(table: ConfirmationTable, cells: readonly string[], line: number): FileRow {
  const item = table.toItem(cells);
  return {
    place: line,
    json: item === null ? null : JSON.stringify(item),
    reason: item === null ? 'cells_miscounted' : null,
    isReversal: isReversal(item),
    formatRejected: (rejection) => table.formatRejectedRow(cells, rejection),
  };
}

async function* readNdjsonRows(text: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let rest = '';
  let line = 0;
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const each of lines) yield* toJsonRows(each, ++line, 'Line');
    assertLength(rest, line + 1, 'Line');
  }
  yield* toJsonRows(rest, line + 1, 'Line');
}

/** Reads the elements of a JSON array, or one object. Finds the boundaries of elements by their brackets, because the file can be large. */
async function* readJsonRows(text: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let place = 1;
  let element = '';
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isArray: boolean | null = null;
  let isEnded = false;
  for await (const piece of text) {
    for (const character of piece) {
      if (isArray === null || isEnded) {
        if (character.trim() === '') continue;
        if (isEnded) throw new FileSyntaxError('Text follows the end of the JSON array.');
        isArray = character === '[';
        if (isArray) continue;
      }
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (character === '\\') isEscaped = true;
        else if (character === '"') isInString = false;
      } else if (character === '"') isInString = true;
      else if (character === '{' || character === '[') depth++;
      else if (depth > 0 && (character === '}' || character === ']')) depth--;
      else if (isArray && depth === 0 && (character === ',' || character === ']')) {
        isEnded = character === ']';
        // Only an empty array has an empty last element.
        if (element.trim() !== '' || !isEnded || place > 1) yield toArrayElement(element, place);
        place++;
        element = '';
        continue;
      }
      element += character;
      if (element.length > limits.rowCharactersMax) assertLength(element.trim(), place, 'Row');
    }
  }
  if (isArray === true && !isEnded) throw new FileSyntaxError('The JSON array does not end.');
  if (isArray === false) yield toArrayElement(element, place);
}

/** Returns the row of an element. Throws if the element is not JSON, because the boundaries of the next elements are then uncertain. */
function toArrayElement(text: string, place: number): FileRow {
  assertLength(text.trim(), place, 'Row');
  const [row] = toJsonRows(text, place, 'Row');
  if (row?.json) return row;
  throw new FileSyntaxError(`Row ${place}: not valid JSON.`);
}

/** Yields the row in a JSON text; nothing for an empty text. */
function* toJsonRows(text: string, place: number, unit: 'Line' | 'Row'): Generator<FileRow> {
  assertLength(text, place, unit);
  const json = text.trim();
  if (json === '') return;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    yield { place, json: null, reason: 'not_json', isReversal: false, formatRejected: (why) => formatJson(json, why) };
    return;
  }
  // The server gets the text of the row, because `JSON.parse` hides repeated members and the digits of an amount.
  yield {
    place,
    json,
    reason: null,
    isReversal: isReversal(value),
    formatRejected: (why) => formatJson(isTextNeeded(why) ? json : value, why),
  };
}

/** Whether the file of rejected rows contains the original text of the row, because parsing removes the problem of the row. */
function isTextNeeded({ reason }: RowRejection): boolean {
  return reason === 'amount_invalid' || reason.endsWith('_repeated');
}

function formatJson(row: unknown, { reason, payout }: RowRejection): string {
  const members = typeof row === 'object' && row !== null && !Array.isArray(row) ? row : { row };
  const rejection = { rejection: reason, payout_state: payout?.state, payout_amount: payout?.amount };
  return `${JSON.stringify({ ...members, ...rejection })}\n`;
}

function isReversal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'status' in value && value.status === 'reversed';
}

function assertLength(text: string, place: number, unit: 'Line' | 'Row'): void {
  if (text.length <= limits.rowCharactersMax) return;
  throw new FileSyntaxError(`${unit} ${place}: a row has more than ${limits.rowCharactersMax} characters.`);
}

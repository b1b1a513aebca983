import { bounds } from '../../bounds.ts';
import { confirmationMembers } from '../../confirmations/confirmation.ts';
import { findDuplicateMembers } from '../../confirmations/parse-confirmation.ts';
import { CommandLineError } from '../command-line-error.ts';
import { CsvError, CsvParser, escapeFormula, formatCsvLine, unescapeFormula } from './csv-parser.ts';

/** One row of a file of confirmations. */
export interface ConfirmationRow {
  /** What is sent of it, or nothing and why. */
  readonly parsed: { readonly ok: true; readonly item: object } | { readonly ok: false; readonly reason: string };
  /** The row as a line of a file like the one it is from, with the reason why it was rejected. */
  formatRejected(reason: string): string;
}

/** How rows lie in a file. It is given the text piece by piece. Throws `CommandLineError` where the rest cannot be trusted. */
export interface ConfirmationParser {
  parseChunk(text: string): Iterable<ConfirmationRow>;
  finish(): Iterable<ConfirmationRow>;
  /** What a file of rejected rows begins with; known once there has been a row. */
  readonly rejectedHeader: string;
}

/** The format by the name's ending, or null for any other. */
export function createConfirmationParser(path: string): ConfirmationParser | null {
  if (/\.csv$/i.test(path)) return new CsvConfirmationParser();
  return /\.(ndjson|jsonl)$/i.test(path) ? new NdjsonConfirmationParser() : null;
}

/** A head with the names of the members, in any order and among others; then a row a record. An empty cell is no value. */
class CsvConfirmationParser implements ConfirmationParser {
  readonly #parser = new CsvParser(bounds.confirmationFileRowCharactersMax);
  #header: readonly string[] | null = null;

  get rejectedHeader(): string {
    const head = this.#header ?? [];
    return formatCsvLine((head.includes('reason') ? head : [...head, 'reason']).map(escapeFormula));
  }

  *parseChunk(text: string): Iterable<ConfirmationRow> {
    yield* this.#toRows(this.#parser.parseChunk(text));
  }

  *finish(): Iterable<ConfirmationRow> {
    yield* this.#toRows(this.#parser.finish());
    if (this.#header === null) throw new CommandLineError('the file is empty: its first line must name the columns');
  }

  *#toRows(records: Iterable<{ readonly cells: readonly string[] }>): Iterable<ConfirmationRow> {
    try {
      for (const { cells } of records) {
        if (this.#header === null) this.#header = validateHeader(cells);
        else yield this.#toRow(this.#header, cells);
      }
    } catch (fault) {
      if (fault instanceof CsvError) throw new CommandLineError(fault.message, { cause: fault });
      throw fault;
    }
  }

  #toRow(head: readonly string[], cells: readonly string[]): ConfirmationRow {
    const formatRejected = (reason: string): string => {
      const line = head.map((_, column) => cells[column] ?? '');
      // An earlier run may have given its reasons here.
      const column = head.indexOf('reason');
      line[column < 0 ? head.length : column] = reason;
      return formatCsvLine([...line, ...cells.slice(head.length)].map(escapeFormula));
    };
    if (cells.length !== head.length) return { parsed: { ok: false, reason: 'cells_miscounted' }, formatRejected };
    const item: Record<string, unknown> = {};
    for (const member of confirmationMembers) {
      const cell = unescapeFormula(cells[head.indexOf(member)] ?? '');
      if (cell !== '') item[member] = member === 'amount' ? parseAmount(cell) : cell;
    }
    return { parsed: { ok: true, item }, formatRejected };
  }
}

/** A plain decimal is a number; anything else is left for the service to reject. */
function parseAmount(cell: string): number | string {
  return /^\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : cell;
}

function validateHeader(head: readonly string[]): readonly string[] {
  const missing = ['txid', 'status', 'amount', 'occurred_at'].filter((name) => !head.includes(name));
  if (!head.includes('click_id')) missing.push(...['sub_id', 'svc_offer_id'].filter((name) => !head.includes(name)));
  if (missing.length > 0) {
    throw new CommandLineError(`the first line must name the columns; missing: ${missing.join(', ')}`);
  }
  const twice = confirmationMembers.find((name) => head.indexOf(name) !== head.lastIndexOf(name));
  if (twice !== undefined) throw new CommandLineError(`the first line names the column ${twice} twice`);
  return head;
}

/** A JSON object a line; empty lines are passed over. */
class NdjsonConfirmationParser implements ConfirmationParser {
  readonly rejectedHeader = '';
  #incompleteLine = '';
  #line = 0;

  *parseChunk(text: string): Iterable<ConfirmationRow> {
    const lines = (this.#incompleteLine + text).split('\n');
    this.#incompleteLine = lines.pop() ?? '';
    for (const line of lines) yield* this.#toRow(line);
    this.#checkLength(this.#incompleteLine, this.#line + 1);
  }

  *finish(): Iterable<ConfirmationRow> {
    yield* this.#toRow(this.#incompleteLine);
  }

  *#toRow(text: string): Iterable<ConfirmationRow> {
    this.#line++;
    this.#checkLength(text, this.#line);
    if (text.trim() !== '') yield parseNdjsonRow(text);
  }

  #checkLength(text: string, line: number): void {
    const { confirmationFileRowCharactersMax: most } = bounds;
    if (text.length > most) throw new CommandLineError(`line ${line}: a row has more than ${most} characters`);
  }
}

function parseNdjsonRow(text: string): ConfirmationRow {
  /** A line that cannot be an object with a reason comes back as a text. */
  const refused = (reason: string): ConfirmationRow => ({
    parsed: { ok: false, reason },
    formatRejected: () => formatJsonLine({ row: text.trim(), reason }),
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('not_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      parsed: { ok: false, reason: 'not_an_object' },
      formatRejected: (reason) => formatJsonLine({ row: value, reason }),
    };
  }
  const member = findDuplicateMembers(text).get(0);
  if (member !== undefined) return refused(`${member}_repeated`);
  const row = value as Readonly<Record<string, unknown>>;
  const item = Object.fromEntries(
    confirmationMembers.filter((name) => Object.hasOwn(row, name)).map((name) => [name, row[name]]),
  );
  return { parsed: { ok: true, item }, formatRejected: (reason) => formatJsonLine({ ...row, reason }) };
}

function formatJsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

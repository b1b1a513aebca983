import { bounds } from '../bounds.ts';
import { confirmationMembers } from '../confirmations/confirmation.ts';
import { repeatedMembers } from '../confirmations/repeated-members.ts';
import { CommandLineError } from './command-line-error.ts';
import { CsvFault, CsvParser, csvLine, escapeFormula, unescapeFormula } from './csv-parser.ts';

/** One row of a file of confirmations. */
export interface FileRow {
  /** What is sent of it, or nothing and why. */
  readonly sent: { readonly ok: true; readonly item: object } | { readonly ok: false; readonly reason: string };
  /** The row as a line of a file like the one it is from, with the reason why it was rejected. */
  rejectedLine(reason: string): string;
}

/** How rows lie in a file. It is given the text piece by piece. Throws `CommandLineError` where the rest cannot be trusted. */
export interface ConfirmationFormat {
  take(text: string): Iterable<FileRow>;
  end(): Iterable<FileRow>;
  /** What a file of rejected rows begins with; known once there has been a row. */
  readonly rejectedHead: string;
}

/** The format by the name's ending, or null for any other. */
export function formatOf(path: string): ConfirmationFormat | null {
  if (/\.csv$/i.test(path)) return new CsvConfirmations();
  return /\.(ndjson|jsonl)$/i.test(path) ? new NdjsonConfirmations() : null;
}

/** A head with the names of the members, in any order and among others; then a row a record. An empty cell is no value. */
class CsvConfirmations implements ConfirmationFormat {
  readonly #parser = new CsvParser(bounds.confirmationRowCharactersMax);
  #head: readonly string[] | null = null;

  get rejectedHead(): string {
    const head = this.#head ?? [];
    return csvLine((head.includes('reason') ? head : [...head, 'reason']).map(escapeFormula));
  }

  *take(text: string): Iterable<FileRow> {
    yield* this.#rows(this.#parser.take(text));
  }

  *end(): Iterable<FileRow> {
    yield* this.#rows(this.#parser.end());
    if (this.#head === null) throw new CommandLineError('the file is empty: its first line must name the columns');
  }

  *#rows(records: Iterable<{ readonly cells: readonly string[] }>): Iterable<FileRow> {
    try {
      for (const { cells } of records) {
        if (this.#head === null) this.#head = checkedHead(cells);
        else yield this.#row(this.#head, cells);
      }
    } catch (fault) {
      if (fault instanceof CsvFault) throw new CommandLineError(fault.message, { cause: fault });
      throw fault;
    }
  }

  #row(head: readonly string[], cells: readonly string[]): FileRow {
    const rejectedLine = (reason: string): string => {
      const line = head.map((_, column) => cells[column] ?? '');
      // An earlier run may have given its reasons here.
      const column = head.indexOf('reason');
      line[column < 0 ? head.length : column] = reason;
      return csvLine([...line, ...cells.slice(head.length)].map(escapeFormula));
    };
    if (cells.length !== head.length) return { sent: { ok: false, reason: 'cells_miscounted' }, rejectedLine };
    const item: Record<string, unknown> = {};
    for (const member of confirmationMembers) {
      const cell = unescapeFormula(cells[head.indexOf(member)] ?? '');
      if (cell !== '') item[member] = member === 'amount' ? amountOf(cell) : cell;
    }
    return { sent: { ok: true, item }, rejectedLine };
  }
}

/** A plain decimal is a number; anything else is left for the service to reject. */
function amountOf(cell: string): number | string {
  return /^\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : cell;
}

function checkedHead(head: readonly string[]): readonly string[] {
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
class NdjsonConfirmations implements ConfirmationFormat {
  readonly rejectedHead = '';
  #rest = '';
  #line = 0;

  *take(text: string): Iterable<FileRow> {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) yield* this.#row(line);
    this.#checkLength(this.#rest, this.#line + 1);
  }

  *end(): Iterable<FileRow> {
    yield* this.#row(this.#rest);
  }

  *#row(text: string): Iterable<FileRow> {
    this.#line++;
    this.#checkLength(text, this.#line);
    if (text.trim() !== '') yield ndjsonRow(text);
  }

  #checkLength(text: string, line: number): void {
    const { confirmationRowCharactersMax: most } = bounds;
    if (text.length > most) throw new CommandLineError(`line ${line}: a row has more than ${most} characters`);
  }
}

function ndjsonRow(text: string): FileRow {
  /** A line that cannot be an object with a reason comes back as a text. */
  const refused = (reason: string): FileRow => ({
    sent: { ok: false, reason },
    rejectedLine: () => jsonLine({ row: text.trim(), reason }),
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('not_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { sent: { ok: false, reason: 'not_an_object' }, rejectedLine: (reason) => jsonLine({ row: value, reason }) };
  }
  const member = repeatedMembers(text).get(0);
  if (member !== undefined) return refused(`${member}_repeated`);
  const row = value as Readonly<Record<string, unknown>>;
  const item = Object.fromEntries(
    confirmationMembers.filter((name) => Object.hasOwn(row, name)).map((name) => [name, row[name]]),
  );
  return { sent: { ok: true, item }, rejectedLine: (reason) => jsonLine({ ...row, reason }) };
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

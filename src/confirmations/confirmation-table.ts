import { confirmationFieldNames, isAmbiguousFieldName } from './confirmation-fields.ts';

/** Why a row was rejected. */
export interface RowRejection {
  readonly reason: string;
  /** The payout that the row names, if the ledger has it. */
  readonly payout?: { readonly state: string; readonly amount: number } | undefined;
}

/**
 * Names and values of the columns or members that the file of rejected rows has in addition to the input file. If the input is a file of
 * rejected rows from an earlier run, the values replace those of the earlier run. `reason` cannot be the name of the reason for the
 * rejection, because the member `reason` is the reason of a reversal.
 */
export const rejectionMembers: readonly (readonly [
  name: string,
  read: (rejection: RowRejection) => string | number | undefined,
])[] = [
  ['rejection', ({ reason }) => reason],
  ['payout_state', ({ payout }) => payout?.state],
  ['payout_amount', ({ payout }) => payout?.amount],
];

/** Columns of a CSV file of confirmations. Converts rows to confirmations, and formats rejected rows. */
export class ConfirmationTable {
  readonly #header: readonly string[];
  /** Names of the columns of the file of rejected rows. */
  readonly #names: readonly string[];
  /** First line of the file of rejected rows, with a line break. */
  readonly rejectedRowsHeader: string;

  /** @param header first line of the file, for which `findHeaderProblem` returned null */
  constructor(header: readonly string[]) {
    this.#header = header;
    this.#names = [...header, ...rejectionMembers.map(([name]) => name).filter((name) => !header.includes(name))];
    this.rejectedRowsHeader = formatCsvLine(this.#names.map(escapeFormula));
  }

  /** Returns the confirmation in a row, or null if the row has more or fewer cells than the header. */
  toItem(cells: readonly string[]): object | null {
    const header = this.#header;
    if (cells.length !== header.length) return null;
    const item: Record<string, unknown> = {};
    for (const member of confirmationFieldNames) {
      const cell = unescapeFormula(cells[header.indexOf(member)] ?? '');
      if (cell !== '') item[member] = member === 'amount' ? parseAmount(cell) : cell;
    }
    // An empty cell in a column of currencies does not say that the amount is in USD.
    if (header.includes('currency')) item.currency ??= '';
    return item;
  }

  /** Formats a row and its rejection for the file of rejected rows. */
  formatRejectedRow(cells: readonly string[], rejection: RowRejection): string {
    const { length } = this.#header;
    const line = this.#names.map((_, column) => (column < length ? (cells[column] ?? '') : ''));
    for (const [name, read] of rejectionMembers) line[this.#names.indexOf(name)] = String(read(rejection) ?? '');
    return formatCsvLine([...line, ...cells.slice(length)].map(escapeFormula));
  }
}

/**
 * Converts a cell with a decimal number to a number. A cell without a decimal number is returned unchanged; the server then rejects the
 * row.
 */
function parseAmount(cell: string): number | string {
  return /^\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : cell;
}

/** Returns why a file with this first line cannot be read, or null. */
export function findHeaderProblem(header: readonly string[]): string | null {
  const missing = ['txid', 'status', 'amount', 'occurred_at'].filter((name) => !header.includes(name));
  if (!header.includes('click_id')) {
    missing.push(...['sub_id', 'svc_offer_id'].filter((name) => !header.includes(name)));
  }
  if (missing.length > 0) {
    return `the first line must name the columns; missing: ${missing.join(', ')}`;
  }
  const duplicate = confirmationFieldNames.find((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (duplicate !== undefined) return `the first line names the column ${duplicate} twice`;
  const ambiguous = header.findIndex((name) => !isRejectionColumn(name) && isAmbiguousFieldName(name));
  if (ambiguous >= 0) {
    return (
      `column ${ambiguous + 1} of the first line has a name that could change the meaning of a row, because it is similar to the name of ` +
      'another column, or names a currency or a unit: rename or remove the column; amounts are in USD, in the column amount'
    );
  }
  return null;
}

/** Separators of other programs, with their names. */
const otherSeparators = [
  [';', 'semicolons (;)'],
  ['\t', 'tabs'],
  ['|', 'vertical bars (|)'],
] as const;

/** Returns the name of the separator if the first line of a text names columns that are not separated by commas; otherwise null. */
export function findOtherSeparator(text: string): string | null {
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

/** A record of a CSV file; `line` is where it begins, counted from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The text is no CSV from this line on: what follows could be anything. */
export class CsvError extends Error {
  override readonly name = 'CsvFault';

  constructor(line: number, what: string) {
    super(`line ${line}: ${what}`);
  }
}

/**
 * Reads CSV as RFC 4180 has it, piece by piece: commas between cells, quotes around those that hold commas, quotes or
 * line breaks, quotes inside doubled. Lines end with CRLF or LF; empty ones are passed over. Strict, since a guess about a
 * stray quote would move money to the wrong row.
 *
 *     start --,--> start          start --"--> quoted --"--> quote --"--> quoted
 *     start --other--> plain --,--> start                    quote --,--> start
 *     LF, or CR and LF, ends the record from start, plain and quote
 */
export class CsvParser {
  readonly #charactersMax: number;
  #state: 'start' | 'plain' | 'quoted' | 'quote' | 'return' = 'start';
  #cell = '';
  #cells: string[] = [];
  /** Characters of this record so far. */
  #characters = 0;
  #line = 1;
  #firstLine = 1;

  /** @param charactersMax of one record. */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** The records that are complete with this piece. */
  *parseChunk(text: string): Generator<CsvRecord, void> {
    let at = 0;
    while (at < text.length) {
      const end = this.#plainTextEnd(text, at);
      this.#characters += Math.max(end - at, 1);
      if (this.#characters > this.#charactersMax) {
        throw new CsvError(this.#firstLine, `a row has more than ${this.#charactersMax} characters`);
      }
      if (end > at) {
        this.#appendText(text.slice(at, end));
        at = end;
      } else {
        const record = this.#handleDelimiter(text[at]!);
        if (record !== null) yield record;
        at++;
      }
    }
  }

  /** The record that no line break ended, if there is one. */
  *finish(): Generator<CsvRecord, void> {
    if (this.#state === 'quoted') throw new CsvError(this.#firstLine, 'a quote is never closed');
    if (this.#state === 'return') throw new CsvError(this.#line, 'a carriage return stands alone');
    const record = this.#endRecord();
    if (record !== null) yield record;
  }

  /** Where what means nothing but itself ends. */
  #plainTextEnd(text: string, from: number): number {
    const quoted = this.#state === 'quoted';
    let at = from;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === quote || code === lineFeed) break;
      if (!quoted && (code === comma || code === carriageReturn)) break;
    }
    return at;
  }

  #appendText(text: string): void {
    if (this.#state === 'quote') throw new CsvError(this.#line, 'text follows a closing quote');
    if (this.#state === 'return') throw new CsvError(this.#line, 'a carriage return stands alone');
    if (this.#state === 'start') this.#state = 'plain';
    this.#cell += text;
  }

  #handleDelimiter(mark: string): CsvRecord | null {
    if (this.#state === 'return' && mark !== '\n') throw new CsvError(this.#line, 'a carriage return stands alone');
    switch (mark) {
      case '"':
        this.#handleQuote();
        return null;
      case ',':
        this.#endCell();
        return null;
      case '\r':
        this.#state = 'return';
        return null;
      default:
        this.#line++;
        if (this.#state !== 'quoted') return this.#endRecord();
        this.#cell += mark;
        return null;
    }
  }

  #handleQuote(): void {
    switch (this.#state) {
      case 'start':
        this.#state = 'quoted';
        break;
      case 'quoted':
        this.#state = 'quote';
        break;
      case 'quote':
        this.#cell += '"';
        this.#state = 'quoted';
        break;
      default:
        throw new CsvError(this.#line, 'a quote stands inside a cell that does not begin with one');
    }
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  #endRecord(): CsvRecord | null {
    const isEmpty = this.#cells.length === 0 && this.#cell === '';
    const line = this.#firstLine;
    this.#endCell();
    const cells = this.#cells;
    this.#cells = [];
    this.#characters = 0;
    this.#firstLine = this.#line;
    return isEmpty ? null : { line, cells };
  }
}

/** One record as a line of CSV, ended as RFC 4180 has it. */
export function formatCsvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

/** What a spreadsheet may take for the start of a formula; also in full width, as East Asian keyboards write it. */
const formulaStart = String.raw`(?:\s*[=+\-@＝＋－＠]|[\t\r\n])`;
const formulaPattern = new RegExp(`^${formulaStart}`);
const escapedFormulaPattern = new RegExp(`^' (?=${formulaStart})`);

/**
 * Puts an apostrophe and a space before a cell that a spreadsheet would run as a formula. With the space the result cannot be
 * mistaken for an id that begins with an apostrophe, since ids hold no spaces.
 */
export function escapeFormula(cell: string): string {
  return formulaPattern.test(cell) ? `' ${cell}` : cell;
}

/** Undoes `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return cell.replace(escapedFormulaPattern, '');
}

const quote = 0x22;
const comma = 0x2c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

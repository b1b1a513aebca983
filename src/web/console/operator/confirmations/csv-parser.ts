import { limits } from '../limits.ts';

/** Error in the syntax of a file, after which the boundaries of the next rows are uncertain. The message contains no text of the file. */
export class FileSyntaxError extends Error {}

/** Cells of a CSV row, and the line on which the row starts. Line numbers start at 1. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/**
 * Parses a CSV text in pieces, as in RFC 4180, with LF or CRLF line ends. Skips empty lines. Any violation of RFC 4180 is an error, because
 * a stray quote, for example, makes it uncertain where a row ends.
 *
 *     start of a cell --quote--> quoted --quote--> after a quote --quote--> quoted
 *     start of a cell --other--> unquoted          after a quote --comma or line end--> start of a cell
 */
export class CsvParser {
  #state: 'start' | 'unquoted' | 'quoted' | 'afterQuote' | 'afterCarriageReturn' = 'start';
  #cells: string[] = [];
  #cell = '';
  #characters = 0;
  #isEmptyLine = true;
  #line = 1;
  #rowLine = 1;

  /** Yields the rows that end in the next piece of the text. Throws `FileSyntaxError`. */
  *push(text: string): Generator<CsvRow> {
    for (const character of text) {
      if (character === '\n' && this.#state !== 'quoted') {
        if (!this.#isEmptyLine) yield this.#endRow();
        this.#startRow();
      } else this.#read(character);
    }
  }

  /** Yields the last row, if the text does not end with a line end. */
  *end(): Generator<CsvRow> {
    if (this.#state === 'quoted') throw this.#error('a quote is never closed');
    if (this.#state === 'afterCarriageReturn') throw this.#error('a carriage return without a line feed');
    if (!this.#isEmptyLine) yield this.#endRow();
  }

  #read(character: string): void {
    if (this.#state === 'afterCarriageReturn') throw this.#error('a carriage return without a line feed');
    if (++this.#characters > limits.rowCharactersMax) {
      throw this.#error(`a row has more than ${limits.rowCharactersMax} characters`);
    }
    if (this.#state === 'quoted') {
      if (character === '"') this.#state = 'afterQuote';
      else this.#addToCell(character);
    } else if (character === '\r') this.#state = 'afterCarriageReturn';
    else this.#readOutsideQuotes(character);
  }

  #readOutsideQuotes(character: string): void {
    this.#isEmptyLine = false;
    if (character === ',') {
      this.#endCell();
    } else if (character === '"') {
      if (this.#state === 'unquoted') throw this.#error('a quote is inside a cell that does not start with a quote');
      if (this.#state === 'afterQuote') this.#addToCell('"');
      this.#state = 'quoted';
    } else {
      if (this.#state === 'afterQuote') throw this.#error('text follows a closing quote');
      this.#state = 'unquoted';
      this.#addToCell(character);
    }
  }

  #addToCell(character: string): void {
    if (character === '\n') this.#line++;
    this.#cell += character;
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  #endRow(): CsvRow {
    this.#endCell();
    return { cells: this.#cells, line: this.#rowLine };
  }

  #startRow(): void {
    this.#line++;
    this.#rowLine = this.#line;
    this.#state = 'start';
    this.#cells = [];
    this.#cell = '';
    this.#characters = 0;
    this.#isEmptyLine = true;
  }

  #error(what: string): FileSyntaxError {
    return new FileSyntaxError(`Line ${this.#line}: ${what}.`);
  }
}

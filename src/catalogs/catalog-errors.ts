import { bounds } from '../bounds.ts';
import { escapeInvisibleCharacters, isPrintable, toDisplayText, truncateText } from '../domain/text.ts';

/** Path of a value in a catalog file: member names and array indexes, outermost first. */
export type CatalogValuePath = readonly (string | number)[];

export interface CatalogError {
  readonly path: CatalogValuePath;
  /** Description of the error: one line without control characters, even if the description quotes the catalog file. */
  readonly problem: string;
}

/**
 * Collects errors and warnings in the order in which they are found, up to `bounds.catalogErrorsReportedMax` of each, and counts the others.
 */
export class CatalogErrors {
  readonly listed: CatalogError[] = [];
  readonly listedWarnings: CatalogError[] = [];
  /** Whether validation stopped early, so that there may be more errors. */
  isIncomplete = false;
  /** True if the text is too large or not JSON; `listed` then contains a single error. */
  hasParseError = false;
  readonly #isStored: boolean;
  #count = 0;
  #warningCount = 0;

  /** @param isStored whether an earlier version of the service accepted the catalog, which is in the archive of the data folder */
  constructor(isStored = false) {
    this.#isStored = isStored;
  }

  /** Number of all errors found, including those that are not listed. */
  get count(): number {
    return this.#count;
  }

  add(path: CatalogValuePath, problem: string): void {
    this.#count++;
    appendError(this.listed, path, problem);
  }

  addWarning(path: CatalogValuePath, problem: string): void {
    this.#warningCount++;
    appendError(this.listedWarnings, path, problem);
  }

  /** Reports a violation of a rule that earlier versions of the service did not have: a warning for a stored catalog, otherwise an error. */
  addUnlessStored(path: CatalogValuePath, problem: string): void {
    if (this.#isStored) this.addWarning(path, problem);
    else this.add(path, problem);
  }

  /**
   * Reports a text of spaces only, with control characters, with a lone surrogate, which UTF-8 cannot encode, or with other characters that
   * are invisible. The schema reports an empty text.
   */
  checkSingleLineText(text: string, path: CatalogValuePath): void {
    if (/^\s+$/.test(text)) this.add(path, 'must not be blank');
    if (/\p{Cc}/u.test(text)) this.add(path, 'must not contain control characters');
    else if (!text.isWellFormed()) this.add(path, 'must not contain a lone surrogate');
    else if (!isPrintable(text)) this.addUnlessStored(path, invisibleProblem);
  }

  /** Reports a URL with another scheme than https, or with characters that must be escaped. */
  checkHttpsUrl(text: string, path: CatalogValuePath): void {
    if (/^https:\/\/[\x21-\x7e]+$/.test(text) && URL.canParse(text)) return;
    this.add(path, 'must be an https URL in printable ASCII');
  }

  addParseError(problem: string): void {
    this.hasParseError = true;
    this.add([], problem);
  }

  /** Formats warnings as `formatErrorLines` formats errors. */
  formatWarningLines(): string[] {
    const lines = this.listedWarnings.map(({ path, problem }) => `${formatCatalogValuePath(path)}: ${problem}`);
    return this.omittedWarningCount === 0 ? lines : [...lines, `and ${this.omittedWarningCount} more`];
  }

  /** Number of warnings that are not listed. */
  get omittedWarningCount(): number {
    return this.#warningCount - this.listedWarnings.length;
  }

  /** Formats errors as lines like `lenders[0].offers[2].amount.min: must be >= 1`. If errors are omitted, adds a line like `and 5 more`. */
  formatErrorLines(): string[] {
    const lines = this.listed.map(({ path, problem }) => `${formatCatalogValuePath(path)}: ${problem}`);
    const omitted = this.formatOmittedErrorCount();
    return omitted === null ? lines : [...lines, omitted];
  }

  /**
   * Returns the number of omitted errors as a text like `and 5 more`, or null if no error is omitted. `others` is the number of omitted
   * errors that `count` does not include.
   */
  formatOmittedErrorCount(others = 0): string | null {
    const unlisted = this.#count - this.listed.length + others;
    return unlisted === 0 ? null : `and ${this.isIncomplete ? 'at least ' : ''}${unlisted} more`;
  }
}

export const invisibleProblem =
  'must not contain invisible characters, such as bidirectional controls or zero-width characters';

function appendError(list: CatalogError[], path: CatalogValuePath, problem: string): void {
  if (list.length >= bounds.catalogErrorsReportedMax) return;
  list.push({ path, problem: truncateText(escapeInvisibleCharacters(problem), bounds.catalogErrorCharactersShown) });
}

/**
 * Formats the path `['lenders', 0, 'name']` as `lenders[0].name`, and the empty path as `catalog`. Unusual member names are quoted with
 * escaped control characters, and long member names are truncated.
 */
export function formatCatalogValuePath(path: CatalogValuePath): string {
  if (path.length === 0) return 'catalog';
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${formatMemberName(step)}`))
    .join('');
}

function formatMemberName(name: string): string {
  return toDisplayText(truncateText(name, bounds.catalogNameCharactersShown));
}

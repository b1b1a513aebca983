import { bounds } from '../bounds.ts';
import { escapeInvisibleCharacters, toDisplayText, truncateText } from '../domain/text.ts';

/** Path of a value in a catalog file: member names and array indexes, outermost first. */
export type CatalogValuePath = readonly (string | number)[];

export interface CatalogError {
  readonly path: CatalogValuePath;
  /** Description of the error: one line without control characters, even if the description quotes the catalog file. */
  readonly problem: string;
}

/** Collects errors in the order in which they are found, up to `bounds.catalogErrorsReportedMax`, and counts all further errors. */
export class CatalogErrors {
  readonly listed: CatalogError[] = [];
  /** Whether validation stopped early, so that there may be more errors. */
  isIncomplete = false;
  /** True if the text is too large or not JSON; `listed` then contains a single error. */
  hasParseError = false;
  #count = 0;

  /** Number of all errors found, including those that are not listed. */
  get count(): number {
    return this.#count;
  }

  add(path: CatalogValuePath, problem: string): void {
    this.#count++;
    if (this.listed.length >= bounds.catalogErrorsReportedMax) return;
    this.listed.push({
      path,
      problem: truncateText(escapeInvisibleCharacters(problem), bounds.catalogErrorCharactersShown),
    });
  }

  /**
   * Reports a text of spaces only, with control characters, or with a lone surrogate, which UTF-8 cannot encode. The schema reports an empty
   * text.
   */
  checkSingleLineText(text: string, path: CatalogValuePath): void {
    if (/^\s+$/.test(text)) this.add(path, 'must not be blank');
    if (/\p{Cc}/u.test(text)) this.add(path, 'must not contain control characters');
    if (!text.isWellFormed()) this.add(path, 'must not contain a lone surrogate');
  }

  addParseError(problem: string): void {
    this.hasParseError = true;
    this.add([], problem);
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

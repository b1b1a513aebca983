import { bounds } from '../bounds.ts';
import { displayText, escapeInvisible, truncateText } from '../domain/text.ts';

/** Position in a catalog file: names of members and indexes of arrays, from the outside in. */
export type CatalogPath = readonly (string | number)[];

export interface CatalogError {
  readonly path: CatalogPath;
  /** One line without control characters, even where it quotes the file. */
  readonly problem: string;
}

/** Collects errors in the order found, up to `bounds.catalogErrorsReportedMax`, and counts the rest. */
export class CatalogErrors {
  readonly listed: CatalogError[] = [];
  /** Validation stopped early, so there may be more errors. */
  isIncomplete = false;
  /** The text is not JSON or too large; the only error has the reason. */
  isUnreadable = false;
  #count = 0;

  /** Errors found, including those that are only counted. */
  get count(): number {
    return this.#count;
  }

  add(path: CatalogPath, problem: string): void {
    this.#count++;
    if (this.listed.length >= bounds.catalogErrorsReportedMax) return;
    this.listed.push({ path, problem: truncateText(escapeInvisible(problem), bounds.catalogErrorCharactersShown) });
  }

  /** Adds the only error of a text that cannot be parsed. */
  addUnreadable(problem: string): void {
    this.isUnreadable = true;
    this.add([], problem);
  }

  /** One line for each error, e.g. `lenders[0].offers[2].amount.min: must be >= 1`, and one for the errors that are only counted. */
  toLines(): string[] {
    const lines = this.listed.map(({ path, problem }) => `${formatPath(path)}: ${problem}`);
    const omitted = this.omittedText();
    return omitted === null ? lines : [...lines, omitted];
  }

  /** `and 5 more`, or null if every error is listed. `others` is the number of further errors that the caller does not list. */
  omittedText(others = 0): string | null {
    const unlisted = this.#count - this.listed.length + others;
    return unlisted === 0 ? null : `and ${this.isIncomplete ? 'at least ' : ''}${unlisted} more`;
  }
}

/**
 * Formats `['lenders', 0, 'name']` as `lenders[0].name`, and the file itself as `catalog`. Unusual names from the file are quoted, with
 * control characters escaped, and long ones truncated.
 */
export function formatPath(path: CatalogPath): string {
  if (path.length === 0) return 'catalog';
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${formatMemberName(step)}`))
    .join('');
}

function formatMemberName(name: string): string {
  return displayText(truncateText(name, bounds.catalogNameCharactersShown));
}

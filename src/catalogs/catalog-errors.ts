import { bounds } from '../bounds.ts';
import { displayText, escapeInvisible, truncateText } from '../domain/text.ts';

/** Where in a catalog file something is: names of members and indices of arrays, from the outside in. */
export type CatalogPath = readonly (string | number)[];

export interface CatalogError {
  readonly path: CatalogPath;
  /** One line that a terminal can be shown, whatever of the file it repeats. */
  readonly problem: string;
}

/** Collects faults in the order found, up to `bounds.catalogFaultsMax`; the rest are only counted. */
export class CatalogErrors {
  readonly listed: CatalogError[] = [];
  /** There are faults that were never looked for. */
  isIncomplete = false;
  /** The text could not be read as JSON, or was too large to be; the one fault says why. */
  isUnreadable = false;
  #count = 0;

  /** Faults found, named or not. */
  get count(): number {
    return this.#count;
  }

  add(path: CatalogPath, problem: string): void {
    this.#count++;
    if (this.listed.length >= bounds.catalogErrorsReportedMax) return;
    this.listed.push({ path, problem: truncateText(escapeInvisible(problem), bounds.catalogErrorCharactersShown) });
  }

  /** The fault of a text that is not looked at any closer. */
  addUnreadable(problem: string): void {
    this.isUnreadable = true;
    this.add([], problem);
  }

  /** One line a fault, e.g. `lenders[0].offers[2].amount.min: must be >= 1`, and one for those that are not named. */
  toLines(): string[] {
    const lines = this.listed.map(({ path, problem }) => `${formatPath(path)}: ${problem}`);
    const rest = this.omittedText();
    return rest === null ? lines : [...lines, rest];
  }

  /** `and 5 more`, or null when every fault is named; `others` are unnamed faults that were found elsewhere. */
  omittedText(others = 0): string | null {
    const unnamed = this.#count - this.listed.length + others;
    return unnamed === 0 ? null : `and ${this.isIncomplete ? 'at least ' : ''}${unnamed} more`;
  }
}

/**
 * `['lenders', 0, 'name']` as `lenders[0].name`; the file itself as `catalog`. A member's name is quoted where it holds more
 * than names do, with control characters escaped, and cut where it is long: it comes from the file.
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

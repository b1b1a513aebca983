import { bounds } from '../bounds.ts';
import { cutText, plainText, visibleText } from '../domain/plain-text.ts';

/** Where in a catalog file something is: names of members and indices of arrays, from the outside in. */
export type CatalogPath = readonly (string | number)[];

export interface CatalogFault {
  readonly path: CatalogPath;
  /** One line that a terminal can be shown, whatever of the file it repeats. */
  readonly problem: string;
}

/** Collects faults in the order found, up to `bounds.catalogFaultsMax`; the rest are only counted. */
export class CatalogFaults {
  readonly named: CatalogFault[] = [];
  /** There are faults that were never looked for. */
  incomplete = false;
  /** The text could not be read as JSON, or was too large to be; the one fault says why. */
  unread = false;
  #count = 0;

  /** Faults found, named or not. */
  get count(): number {
    return this.#count;
  }

  add(path: CatalogPath, problem: string): void {
    this.#count++;
    if (this.named.length >= bounds.catalogFaultsMax) return;
    this.named.push({ path, problem: cutText(visibleText(problem), bounds.catalogFaultCharactersShown) });
  }

  /** The fault of a text that is not looked at any closer. */
  addUnread(problem: string): void {
    this.unread = true;
    this.add([], problem);
  }

  /** One line a fault, e.g. `lenders[0].offers[2].amount.min: must be >= 1`, and one for those that are not named. */
  lines(): string[] {
    const lines = this.named.map(({ path, problem }) => `${pathText(path)}: ${problem}`);
    const rest = this.rest();
    return rest === null ? lines : [...lines, rest];
  }

  /** `and 5 more`, or null when every fault is named; `others` are unnamed faults that were found elsewhere. */
  rest(others = 0): string | null {
    const unnamed = this.#count - this.named.length + others;
    return unnamed === 0 ? null : `and ${this.incomplete ? 'at least ' : ''}${unnamed} more`;
  }
}

/**
 * `['lenders', 0, 'name']` as `lenders[0].name`; the file itself as `catalog`. A member's name is quoted where it holds more
 * than names do, with control characters escaped, and cut where it is long: it comes from the file.
 */
export function pathText(path: CatalogPath): string {
  if (path.length === 0) return 'catalog';
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${nameText(step)}`))
    .join('');
}

function nameText(name: string): string {
  return plainText(cutText(name, bounds.catalogNameCharactersShown));
}

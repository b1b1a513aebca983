import { createScanner } from 'jsonc-parser';
import { type ConfirmationMember, confirmationMembers } from './confirmation.ts';

/**
 * Finds the rows of a JSON text that give a member of a confirmation more than once, which `JSON.parse` hides: it takes the last.
 * The text must be JSON: one row, or an array of rows. Returns the first repeated member of each such row, by the row's index.
 */
export function findDuplicateMembers(text: string): ReadonlyMap<number, ConfirmationMember> {
  const repeated = new Map<number, ConfirmationMember>();
  const scanner = createScanner(text, true);
  let rowDepth = 1;
  let depth = 0;
  let row = 0;
  /** Members of the row so far; null outside of objects. */
  let names: Set<string> | null = null;
  let isNameNext = false;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    // The first character of a token tells its kind.
    const token = text[scanner.getTokenOffset()]!;
    if (token === '{' || token === '[') {
      if (depth === 0 && token === '[') rowDepth = 2;
      depth++;
      if (depth === rowDepth) {
        names = token === '{' ? new Set() : null;
        isNameNext = names !== null;
      }
    } else if (token === '}' || token === ']') {
      depth--;
    } else if (token === ',') {
      if (depth === rowDepth) isNameNext = names !== null;
      else if (depth < rowDepth) row++;
    } else if (isNameNext && depth === rowDepth) {
      isNameNext = false;
      const name = scanner.getTokenValue();
      const member = confirmationMembers.find((each) => each === name);
      if (member === undefined) continue;
      if (names!.has(member) && !repeated.has(row)) repeated.set(row, member);
      names!.add(member);
    }
  }
  return repeated;
}

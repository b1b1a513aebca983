import { bounds } from '../bounds.ts';
import type { CatalogErrors } from './catalog-faults.ts';

/**
 * Why a text is too large to be read as a catalog, or null. It is looked at character by character, before anything is made
 * of it: a value takes up to a hundred times its text once it is read, and an object with millions of members a quarter of a minute. An empty list or object counts as two values.
 */
export function textSizeProblem(text: string): string | null {
  if (Buffer.byteLength(text) > bounds.catalogFileBytesMax) {
    return `must be at most ${bounds.catalogFileBytesMax} bytes long`;
  }
  let values = 1;
  // Of each list or object that is open, from the outside in: the members so far, or null in a list.
  const members: (number | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) at = findStringEnd(text, at);
    else if (character === comma) {
      values++;
      const seen = members.at(-1) ?? null;
      if (seen === null) continue;
      members[members.length - 1] = seen + 1;
      if (seen === bounds.catalogObjectMembersMax) {
        return `must hold at most ${bounds.catalogObjectMembersMax} members in one object, which line ${lineNumberAt(text, at)} exceeds`;
      }
    } else if (character === openBracket || character === openBrace) {
      values++;
      members.push(character === openBrace ? 1 : null);
      if (members.length > bounds.catalogDepthMax) return `must be nested at most ${bounds.catalogDepthMax} deep`;
    } else if (character === closeBracket || character === closeBrace) members.pop();
    if (values > bounds.catalogValuesMax) return `must hold at most ${bounds.catalogValuesMax} values`;
  }
  return null;
}

function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) line++;
  return line;
}

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [...'"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
);

/** The index of the quote that ends a string, or of the text's end. */
function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at++;
  }
  return text.length;
}

/**
 * Finds lists that hold more than any catalog needs, and too many offers. Meant to come before anything that
 * tells what is wrong with each value. The text must have passed `textSizeProblem`, whose bound on nesting is what lets
 * this walk call itself.
 */
export function checkListSizes(value: unknown, faults: CatalogErrors): void {
  const { catalogOffersMax: offersMax, catalogListItemsMax: listMax } = bounds;
  const path: (string | number)[] = [];
  let offers = 0;
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      const kind = listKind(path);
      if (kind === 'offers') offers += part.length;
      const most = kind === 'other' ? listMax : offersMax;
      // Too many offers are told once, of all lenders together.
      if (part.length > most && kind !== 'offers') {
        faults.add([...path], `must hold at most ${most} ${kind === 'lenders' ? 'lenders' : 'values'}`);
      }
      if (part.length > most) return;
      for (let at = 0; at < part.length; at++) step(at, part[at]);
      return;
    }
    for (const [name, member] of Object.entries(part)) step(name, member);
  };
  const step = (to: string | number, part: unknown) => {
    path.push(to);
    walk(part);
    path.pop();
  };
  walk(value);
  if (offers > offersMax) faults.add(['lenders'], `must hold at most ${offersMax} offers`);
}

function listKind(path: readonly (string | number)[]): 'lenders' | 'offers' | 'other' {
  if (path[0] !== 'lenders') return 'other';
  if (path.length === 1) return 'lenders';
  return path.length === 3 && path[2] === 'offers' ? 'offers' : 'other';
}

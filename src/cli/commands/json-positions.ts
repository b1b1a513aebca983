import { visit } from 'jsonc-parser';
import { bounds } from '../../bounds.ts';

/** Position in a text. Lines and columns start at 1; columns are in UTF-16 units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Member names and array indices, outermost first. */
type JsonPath = readonly (string | number)[];

/** A requested value, or an object or array that contains a requested value. */
interface PathNode {
  readonly children: Map<string | number, PathNode>;
  /** Position of the value; null until the value is found. */
  position: TextPosition | null;
}

/** An object or array whose end the parser has not reached. */
interface OpenContainer {
  readonly node: PathNode | undefined;
  /** Names of the members found so far; null for an array. */
  readonly memberNames: Set<string> | null;
  /** Name or index of the value that is being parsed. */
  key: string | number;
}

interface DuplicateMembers {
  readonly reported: readonly { readonly path: JsonPath; readonly position: TextPosition }[];
  /** Number of all duplicate members, including those that are not reported. */
  readonly count: number;
}

/**
 * Locates values in a JSON text.
 *
 * @param text valid JSON that is not nested too deep for a recursive parser
 * @returns for each path, the position of the member name (in an array, of the value), or null if there is no such value; and the
 * duplicate members of all objects, of which only the first `duplicatesReportedMax` are listed
 */
export function locateJsonPaths(
  text: string,
  paths: readonly JsonPath[],
  duplicatesReportedMax: number,
): { positions: (TextPosition | null)[]; duplicates: DuplicateMembers } {
  const root: PathNode = { children: new Map(), position: null };
  const requested = paths.map((path) => path.reduce<PathNode>(childOf, root));
  const open: OpenContainer[] = [];
  const reported: { path: JsonPath; position: TextPosition }[] = [];
  let count = 0;

  /** Returns the node of the value that starts here, if the value or a part of it was requested. */
  const enterValue = (line: number, column: number): PathNode | undefined => {
    const container = open.at(-1);
    const node = container === undefined ? root : container.node?.children.get(container.key);
    if (node !== undefined) node.position ??= { line: line + 1, column: column + 1 };
    return node;
  };
  visit(text, {
    onObjectBegin(_offset, _length, line, column) {
      open.push({ node: enterValue(line, column), memberNames: new Set(), key: '' });
    },
    onArrayBegin(_offset, _length, line, column) {
      open.push({ node: enterValue(line, column), memberNames: null, key: 0 });
    },
    onObjectProperty(name, _offset, _length, line, column) {
      const container = open.at(-1)!;
      const names = container.memberNames!;
      const position = { line: line + 1, column: column + 1 };
      container.key = name;
      const node = container.node?.children.get(name);
      if (names.has(name)) {
        count++;
        if (reported.length < duplicatesReportedMax) reported.push({ path: open.map(({ key }) => key), position });
        // `JSON.parse` uses the last value of a duplicate member.
        if (node !== undefined) clearPositions(node);
      }
      // Names beyond the limit need not be stored: a valid catalog has no object with more members.
      if (names.size < bounds.catalogObjectMembersMax) names.add(name);
      if (node !== undefined) node.position = position;
    },
    onLiteralValue(_value, _offset, _length, line, column) {
      enterValue(line, column);
    },
    onSeparator(character) {
      const container = open.at(-1)!;
      if (character === ',' && container.memberNames === null) container.key = (container.key as number) + 1;
    },
    onObjectEnd: () => void open.pop(),
    onArrayEnd: () => void open.pop(),
  });
  return { positions: requested.map(({ position }) => position), duplicates: { reported, count } };
}

function childOf({ children }: PathNode, step: string | number): PathNode {
  let child = children.get(step);
  if (child === undefined) {
    child = { children: new Map(), position: null };
    children.set(step, child);
  }
  return child;
}

function clearPositions(node: PathNode): void {
  if (node.position === null) return;
  node.position = null;
  for (const child of node.children.values()) clearPositions(child);
}

/** Returns the position of the syntax error in a text, given the error message of `JSON.parse`. */
export function jsonErrorPosition(text: string, message: string): TextPosition {
  // The offset is read only at the end of the message, because the rest of the message may quote the text.
  const offset = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  return positionOf(text, offset === undefined ? firstErrorOffset(text) : Number(offset));
}

function positionOf(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Returns the offset of the first syntax error that jsonc-parser finds, or of the end of the text. */
function firstErrorOffset(text: string): number {
  const stopVisit = new Error('stop');
  let first = text.length;
  const onError = (_code: number, offset: number) => {
    first = offset;
    throw stopVisit;
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch (error) {
    // The recursive parser overflows the stack if the text is deeply nested.
    if (error !== stopVisit && !(error instanceof RangeError)) throw error;
  }
  return first;
}

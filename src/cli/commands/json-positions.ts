import { visit } from 'jsonc-parser';
import { bounds } from '../../bounds.ts';

/** Position in a text. Line and column numbers start at 1; columns are counted in UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

type JsonPath = readonly (string | number)[];

/** Node of the tree that is built from the JSON paths to locate. A node stands for one JSON value. */
interface PathNode {
  readonly children: Map<string | number, PathNode>;
  /** Position of the value in the text; null until the parser reaches the value. */
  position: TextPosition | null;
}

/** Object or array that the parser has entered and not left yet. */
interface OpenContainer {
  readonly node: PathNode | undefined;
  /** Names of the members that the parser has already read in an object; null for an array. */
  readonly memberNames: Set<string> | null;
  /** Name or index of the value that is being parsed. */
  key: string | number;
}

interface DuplicateMembers {
  readonly reported: readonly { readonly path: JsonPath; readonly position: TextPosition }[];
  /** Number of all duplicate members, including members that are not in `reported`. */
  readonly count: number;
}

/**
 * Locates values in a JSON text.
 *
 * @param text valid JSON whose nesting is not too deep for a recursive parser
 * @returns for each path, the position of the member name (or of the value in an array), or null if the path does not exist; and the
 * duplicate members of all objects, of which the first `duplicatesReportedMax` are listed
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

  /** Stores the position of a value in its tree node. Returns the node, or undefined if the value is not on a path in `paths`. */
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
        // If an object repeats a member name, `JSON.parse` uses the last value, so positions in the earlier value are discarded.
        if (node !== undefined) clearPositions(node);
      }
      // Stores at most `catalogObjectMembersMax` names to limit memory. A catalog with a larger object is invalid.
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

/** Returns the position of the syntax error in `text`. `message` is the error message of `JSON.parse` for this text. */
export function jsonErrorPosition(text: string, message: string): TextPosition {
  // Only an offset at the end of the message is used, because the message may quote a part of `text` that looks like an offset.
  const offset = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  return positionOf(text, offset === undefined ? firstErrorOffset(text) : Number(offset));
}

function positionOf(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Returns the offset of the first syntax error that jsonc-parser finds, or the length of the text if jsonc-parser finds no error. */
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
    // The recursive parser throws a RangeError (stack overflow) if the text is deeply nested.
    if (error !== stopVisit && !(error instanceof RangeError)) throw error;
  }
  return first;
}

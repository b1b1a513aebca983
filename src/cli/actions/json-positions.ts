import { createScanner, visit } from 'jsonc-parser';
import { bounds } from '../../bounds.ts';

/** A place in a text, both counted from 1; columns in UTF-16 units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Names of members and indices of arrays, from the outside in. */
type JsonPath = readonly (string | number)[];

/** A value asked for, or one around it. */
interface PathNode {
  readonly children: Map<string | number, PathNode>;
  /** Null until the value has been found. */
  offset: number | null;
}

/** A list or an object that has begun and not ended. */
interface OpenContainer {
  /** What is asked for inside it. */
  readonly node: PathNode | undefined;
  /** Of an object, the names so far; null in a list. */
  readonly memberNames: Set<string> | null;
  /** The name or index of the value at hand. */
  key: string | number;
}

/** Knows where in a JSON text its values stand. */
export class JsonPositions {
  readonly #text: string;
  readonly #lineStarts: readonly number[];

  constructor(text: string) {
    this.#text = text;
    this.#lineStarts = lineStartsOf(text);
  }

  /**
   * Where the value at each path begins, or its name where it has one; null for what is not there. Also every member whose
   * name the same object has had before: `named` of them, up to `namedMax`, and how many there are. The text must be JSON. It
   * is read once, in a loop, and nothing is kept of what nobody asked for: it may be nested as deep as it likes. `onShare` is
   * told at each object which share of the text is read, from 0 to 1.
   */
  locate(
    paths: readonly JsonPath[],
    namedMax: number,
    onShare?: (share: number) => void,
  ): { places: (TextPosition | null)[]; repeated: DuplicateMembers } {
    const root: PathNode = { children: new Map(), offset: null };
    const asked = paths.map((path) => path.reduce<PathNode>(childOf, root));
    const repeated = this.#scan(root, namedMax, onShare);
    return { places: asked.map(({ offset }) => (offset === null ? null : this.positionAt(offset))), repeated };
  }

  /** Where the text stops being JSON, given what `JSON.parse` says of it. */
  syntaxErrorPosition(message: string): TextPosition {
    // At the end only: what comes before may repeat the text.
    const told = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
    return this.positionAt(told === undefined ? firstErrorOffset(this.#text) : Number(told));
  }

  positionAt(offset: number): TextPosition {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }

  /** Fills in the offsets of what is asked for. */
  #scan(root: PathNode, namedMax: number, onShare?: (share: number) => void): DuplicateMembers {
    const scanner = createScanner(this.#text, true);
    const open: OpenContainer[] = [];
    const reported: { path: JsonPath; place: TextPosition }[] = [];
    let count = 0;
    // What is asked for of the value that comes next.
    let next: PathNode | undefined = root;
    let nameExpected = false;
    for (scanner.scan(); scanner.getTokenOffset() < this.#text.length; scanner.scan()) {
      const offset = scanner.getTokenOffset();
      // The first character of a token tells what it is.
      const token = this.#text[offset];
      const around = open.at(-1);
      if (token === '}' || token === ']') {
        open.pop();
        nameExpected = false;
      } else if (token === ',') {
        nameExpected = around?.memberNames != null;
        if (around?.memberNames === null) around.key = (around.key as number) + 1;
      } else if (token === ':') {
        nameExpected = false;
      } else if (nameExpected && around?.memberNames != null) {
        const name = scanner.getTokenValue();
        around.key = name;
        next = around.node?.children.get(name);
        if (around.memberNames.has(name)) {
          count++;
          if (reported.length < namedMax)
            reported.push({ path: open.map(({ key }) => key), place: this.positionAt(offset) });
          // Of a repeated name the last value is the one that counts, as it does for `JSON.parse`.
          if (next !== undefined) clearOffsets(next);
        }
        // More than a catalog may have: no more of them need to be remembered.
        if (around.memberNames.size < bounds.catalogObjectMembersMax) around.memberNames.add(name);
        if (next !== undefined) next.offset = offset;
      } else {
        if (around?.memberNames === null) next = around.node?.children.get(around.key);
        if (next !== undefined) next.offset ??= offset;
        if (token === '{') {
          open.push({ node: next, memberNames: new Set(), key: '' });
          onShare?.(offset / this.#text.length);
        } else if (token === '[') open.push({ node: next, memberNames: null, key: 0 });
        nameExpected = token === '{';
      }
    }
    return { reported, count };
  }
}

interface DuplicateMembers {
  readonly reported: readonly { readonly path: JsonPath; readonly place: TextPosition }[];
  readonly count: number;
}

function childOf({ children }: PathNode, step: string | number): PathNode {
  let asked = children.get(step);
  if (asked === undefined) {
    asked = { children: new Map(), offset: null };
    children.set(step, asked);
  }
  return asked;
}

/** What has not been found has nothing found inside it. */
function clearOffsets(asked: PathNode): void {
  if (asked.offset === null) return;
  asked.offset = null;
  for (const inner of asked.children.values()) clearOffsets(inner);
}

/** Where a text is no JSON by the judgement of a parser that tells; its end when that finds nothing. */
function firstErrorOffset(text: string): number {
  const found = new Error('found');
  let first = text.length;
  const onError = (_code: number, offset: number) => {
    first = offset;
    throw found;
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch (error) {
    // Nested too deep to be walked: it is told without a place of its own.
    if (error !== found && !(error instanceof RangeError)) throw error;
  }
  return first;
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

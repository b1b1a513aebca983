import { type Node, type ParseError, parseTree } from 'jsonc-parser';

/** A place in a text, both counted from 1; columns in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Knows where in a JSON text its values stand. */
export class JsonPlaces {
  readonly #lineStarts: readonly number[];
  readonly #root: Node | undefined;
  readonly #textLength: number;
  readonly #firstError: number | null;

  constructor(text: string) {
    this.#textLength = text.length;
    this.#lineStarts = lineStartsOf(text);
    const errors: ParseError[] = [];
    try {
      this.#root = parseTree(text, errors, { disallowComments: true });
    } catch (error) {
      // Nested too deeply to be walked. It is no catalog, and faults of it are told without their places.
      if (!(error instanceof RangeError)) throw error;
    }
    this.#firstError = errors[0]?.offset ?? null;
  }

  /** Where the value at a path begins, or its name where it has one; null when it is not there. */
  of(path: readonly (string | number)[]): Place | null {
    let node = this.#root;
    let offset = node?.offset;
    for (const step of path) {
      if (typeof step === 'number') {
        node = node?.type === 'array' ? node.children?.[step] : undefined;
        offset = node?.offset;
      } else {
        // Of a repeated name the last value is the one that counts, as it does for `JSON.parse`.
        const member: Node | undefined = node?.type === 'object' ? node.children?.findLast(isNamed(step)) : undefined;
        node = member?.children?.[1];
        offset = member?.offset;
      }
    }
    return offset === undefined ? null : this.at(offset);
  }

  /** Where the text stops being JSON, given what `JSON.parse` says of it. */
  ofSyntaxError(message: string): Place {
    const told = /at position (\d+)/.exec(message)?.[1];
    return this.at(told === undefined ? (this.#firstError ?? this.#textLength) : Number(told));
  }

  /** Every member whose name the same object has had before, with its path. */
  *repeatedMembers(): Generator<{ readonly path: readonly (string | number)[]; readonly place: Place }> {
    if (this.#root !== undefined) yield* this.#repeatedIn(this.#root, []);
  }

  *#repeatedIn(node: Node, path: readonly (string | number)[]): ReturnType<JsonPlaces['repeatedMembers']> {
    const seen = new Set<string>();
    for (const [at, child] of (node.children ?? []).entries()) {
      if (node.type === 'array') {
        yield* this.#repeatedIn(child, [...path, at]);
        continue;
      }
      const [key, value] = child.children ?? [];
      const name = key?.value as string;
      if (seen.has(name)) yield { path: [...path, name], place: this.at(child.offset) };
      seen.add(name);
      if (value?.children !== undefined) yield* this.#repeatedIn(value, [...path, name]);
    }
  }

  at(offset: number): Place {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }
}

function isNamed(name: string): (member: Node) => boolean {
  return ({ children }) => children?.[0]?.value === name;
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

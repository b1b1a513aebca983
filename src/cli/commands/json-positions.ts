import { visit } from 'jsonc-parser';
import { bounds } from '../../bounds.ts';

/** Position in a text. Line and column numbers start at 1; columns are counted in UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

type JsonPath = readonly (string | number)[];

/**
 * Locates values in a JSON text.
 *
 * @param text valid JSON whose nesting is not too deep for a recursive parser
 * @returns for each path, the position of the member name (or of the value in an array), or null if the path does not exist; and the
 * duplicate members of all objects: their number, and the first `duplicatesReportedMax` of them
 */
export function locateJsonPaths(text: string, paths: readonly JsonPath[], duplicatesReportedMax: number) {
  /** Positions of the requested values, by the JSON text of their paths. */
  const positions = new Map<string, TextPosition | null>(paths.map((path) => [JSON.stringify(path), null]));
  /** Names of the members that the parser has read in each object that the parser has entered and not left yet. */
  const openObjects: Set<string>[] = [];
  const reported: { path: JsonPath; position: TextPosition }[] = [];
  let count = 0;

  const storePosition = (path: JsonPath, line: number, column: number): void => {
    const key = JSON.stringify(path);
    if (positions.has(key)) positions.set(key, { line: line + 1, column: column + 1 });
  };
  /** Stores the position of an array item or of the whole text. For a member, the position of its name is already stored. */
  const enterValue = (line: number, column: number, getPath: () => JsonPath): void => {
    const path = getPath();
    if (typeof path.at(-1) !== 'string') storePosition(path, line, column);
  };
  visit(text, {
    onObjectBegin(_offset, _length, line, column, getPath) {
      enterValue(line, column, getPath);
      openObjects.push(new Set());
    },
    onArrayBegin: (_offset, _length, line, column, getPath) => enterValue(line, column, getPath),
    onLiteralValue: (_value, _offset, _length, line, column, getPath) => enterValue(line, column, getPath),
    onObjectProperty(name, _offset, _length, line, column, getPath) {
      const names = openObjects.at(-1)!;
      const path = [...getPath(), name];
      if (names.has(name)) {
        count++;
        if (reported.length < duplicatesReportedMax) {
          reported.push({ path, position: { line: line + 1, column: column + 1 } });
        }
        // If an object repeats a member name, `JSON.parse` uses the last value, so positions in the earlier value are discarded.
        const prefix = JSON.stringify(path).slice(0, -1);
        for (const key of positions.keys()) if (key.startsWith(prefix)) positions.set(key, null);
      }
      // Stores at most `catalogObjectMembersMax` names to limit memory. A catalog with a larger object is invalid.
      if (names.size < bounds.catalogObjectMembersMax) names.add(name);
      storePosition(path, line, column);
    },
    onObjectEnd: () => void openObjects.pop(),
  });
  return {
    positions: paths.map((path) => positions.get(JSON.stringify(path)) ?? null),
    duplicates: { reported, count },
  };
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
  let first: number | undefined;
  const onError = (_code: number, offset: number) => {
    first ??= offset;
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch (error) {
    // The recursive parser throws a RangeError (stack overflow) if the text is deeply nested.
    if (!(error instanceof RangeError)) throw error;
  }
  return first ?? text.length;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { jsonErrorPosition, locateJsonPaths } from '../../src/cli/commands/json-positions.ts';

const noDuplicates = { reported: [], count: 0 };

test('returns the position of a property name or an array item, and null for a missing path', () => {
  const text = '\n {"a": [1, {"b": {"c": 2}}],\n "d": null}';
  const existing = [[], ['a'], ['a', 0], ['a', 1, 'b', 'c'], ['d']];
  const others = [['e'], ['a', 2], ['a', 'b'], [0], ['d', 'e']];
  const { positions, duplicates } = locateJsonPaths(text, [...existing, ...others], 10);
  assert.deepEqual(
    positions.map((position) => position && [position.line, position.column]),
    [[2, 2], [2, 3], [2, 9], [2, 19], [3, 2], ...others.map(() => null)],
  );
  assert.deepEqual(duplicates, noDuplicates);
});

test('returns the position of the last occurrence of a duplicate property', () => {
  const text = '{"a":{"b":1,"c":[1]},\n"a":{"b":2,\n"\\u0062":3}}';
  const { positions, duplicates } = locateJsonPaths(text, [['a'], ['a', 'b'], ['a', 'c'], ['a', 'c', 0]], 10);
  assert.deepEqual(positions, [{ line: 2, column: 1 }, { line: 3, column: 1 }, null, null]);
  assert.deepEqual(duplicates, {
    reported: [
      { path: ['a'], position: { line: 2, column: 1 } },
      { path: ['a', 'b'], position: { line: 3, column: 1 } },
    ],
    count: 2,
  });
});

test('reports duplicate properties up to a limit and counts all duplicates', () => {
  const text = `[${'{"a":0,"a":1},'.repeat(200_000)}{}]`;
  const { reported, count } = locateJsonPaths(text, [], 1_000).duplicates;
  assert.deepEqual([reported.length, count], [1_000, 200_000]);
  assert.deepEqual(reported.at(-1)!.path, [999, 'a']);
});

for (const [name, text, line, column] of [
  ['an extra comma', '{\n  "format": 1,\n}', 3, 1],
  ['truncated text', '{\n  "format": 1,\n  "vertical": "perso', 3, 21],
  ['an empty file', '', 1, 1],
  ['a comment', '{\n  // no\n  "format": 1\n}', 2, 3],
] as const) {
  test(`locates the syntax error of ${name}`, () => {
    assert.deepEqual(jsonErrorPosition(text, jsonParseMessage(text)), { line, column });
  });
}

test('jsonErrorPosition returns a position for a syntax error after deeply nested arrays', () => {
  const text = `${'['.repeat(100_000)}7${']'.repeat(100_000)}]`;
  assert.equal(jsonErrorPosition(text, 'cut short').line, 1);
});

test('jsonErrorPosition ignores the words "at position 1" in JSON text that the error message quotes', () => {
  const text = '{"a": at position 1';
  assert.equal(jsonErrorPosition(text, jsonParseMessage(text)).column, 7);
  assert.equal(jsonErrorPosition(text, `"${text}" is not valid JSON`).column, 7);
});

test('locateJsonPaths returns the same positions as jsonc-parser', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const tree = parseTree(text)!;
      const paths = pathsIn(JSON.parse(text));
      const expected = paths.map((path) => {
        const node = findNodeAtLocation(tree, path)!;
        const offset = typeof path.at(-1) === 'string' ? node.parent!.offset : node.offset;
        const lines = text.slice(0, offset).split('\n');
        return { line: lines.length, column: lines.at(-1)!.length + 1 };
      });
      assert.deepEqual(locateJsonPaths(text, paths, 1), { positions: expected, duplicates: noDuplicates });
    }),
  );
});

function jsonParseMessage(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the text is valid JSON');
}

function pathsIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const steps = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...steps.flatMap(([step, inner]) => pathsIn(inner, [...path, step]))];
}

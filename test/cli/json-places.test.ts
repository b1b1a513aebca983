import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { JsonPositions } from '../../src/cli/actions/json-positions.ts';

test('a value is found by its name where it has one, and by its first character in a list', () => {
  const text = '\n {"a": [1, {"b": {"c": 2}}],\n "d": null}';
  const paths = [
    [],
    ['a'],
    ['a', 0],
    ['a', 1],
    ['a', 1, 'b', 'c'],
    ['d'],
    ['e'],
    ['a', 2],
    ['a', 'b'],
    [0],
    ['d', 'e'],
  ];
  const { places, repeated } = new JsonPositions(text).locate(paths, 10);
  assert.deepEqual(
    places.map((place) => place && [place.line, place.column]),
    [[2, 2], [2, 3], [2, 9], [2, 12], [2, 19], [3, 2], null, null, null, null, null],
  );
  assert.deepEqual(repeated, { named: [], count: 0 });
});

test('of a repeated name the last value counts, with what is inside it alone', () => {
  const text = '{"a":{"b":1,"c":[1]},\n"a":{"b":2,\n"\\u0062":3}}';
  const { places, repeated } = new JsonPositions(text).locate([['a'], ['a', 'b'], ['a', 'c'], ['a', 'c', 0]], 10);
  assert.deepEqual(places, [{ line: 2, column: 1 }, { line: 3, column: 1 }, null, null]);
  assert.deepEqual(repeated, {
    named: [
      { path: ['a'], place: { line: 2, column: 1 } },
      { path: ['a', 'b'], place: { line: 3, column: 1 } },
    ],
    count: 2,
  });
});

test('repeated members are named up to a bound, and all of them counted', () => {
  const text = `[${'{"a":0,"a":1},'.repeat(200_000)}{}]`;
  const { reported, count } = new JsonPositions(text).locate([], 1_000).repeated;
  assert.deepEqual([reported.length, count], [1_000, 200_000]);
  assert.deepEqual(reported.at(-1)!.path, [999, 'a']);
});

test('nesting of any depth is walked, and a value at its bottom found', () => {
  const depth = 100_000;
  const lists = `${'['.repeat(depth)}7${']'.repeat(depth)}`;
  const objects = `${'{"a":'.repeat(depth)}{"b":1,"b":2}${'}'.repeat(depth)}`;
  assert.deepEqual(new JsonPositions(lists).locate([Array.from({ length: depth }, () => 0)], 1).places, [
    { line: 1, column: depth + 1 },
  ]);
  const { repeated } = new JsonPositions(objects).locate([], 1);
  assert.deepEqual([repeated.count, repeated.reported[0]!.path.length], [1, depth + 1]);
  assert.deepEqual(new JsonPositions(`${lists}]`).syntaxErrorPosition('cut short').line, 1);
});

test('a position that a text makes its error repeat is not taken for that of the error', () => {
  const text = '{"a": at position 1';
  assert.equal(new JsonPositions(text).syntaxErrorPosition(messageOf(text)).column, 7);
  assert.equal(new JsonPositions(text).syntaxErrorPosition(`"${text}" is not valid JSON`).column, 7);
});

test('places are those of a parser that makes a tree of the whole text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const tree = parseTree(text)!;
      const paths = pathsIn(JSON.parse(text));
      const expected = paths.map((path) => {
        const node = findNodeAtLocation(tree, path)!;
        return new JsonPositions(text).positionAt(typeof path.at(-1) === 'string' ? node.parent!.offset : node.offset);
      });
      assert.deepEqual(new JsonPositions(text).locate(paths, 1), {
        places: expected,
        repeated: { named: [], count: 0 },
      });
    }),
  );
});

function messageOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('is JSON');
}

function pathsIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const steps = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...steps.flatMap(([step, inner]) => pathsIn(inner, [...path, step]))];
}

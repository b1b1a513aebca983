import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../../src/bounds.ts';
import { parseWeightedList, prefersJson } from '../../../src/http/routes/request-parsing.ts';

test('prefers JSON only if its weight is above that of HTML', () => {
  const yes = [
    'application/json',
    'APPLICATION/JSON',
    'application/json;q=0.9, text/html;q=0.8',
    ' application/json ,*/*',
  ];
  const no = [
    '',
    '*/*',
    'application/*',
    'text/html',
    'text/html,application/json',
    'application/json;q=0',
    'a, b;q=, ;',
  ];
  assert.deepEqual(
    yes.filter((accept) => !prefersJson(accept)),
    [],
  );
  assert.deepEqual(no.filter(prefersJson), []);
});

test('parses the weight of each item, 1 by default', () => {
  const listed = parseWeightedList('gzip, BR;q=0.5 , deflate ;q=0,zstd;level=3;q=0.125;x, bad;q=2');
  assert.deepEqual(Object.fromEntries(listed), { gzip: 1, br: 0.5, deflate: 0, zstd: 0.125, bad: 1 });
});

test('ignores a list longer than the limit', () => {
  const { headerListCharactersMax: longest } = bounds;
  const padded = (characters: number) => 'br'.padEnd(characters, ',');
  assert.equal(parseWeightedList(padded(longest)).get('br'), 1);
  assert.equal(parseWeightedList(padded(longest + 1)).size, 0);
});

test('accepts any header', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aj/*;q=01.,tgbr '), maxLength: 60 });
  fc.assert(
    fc.property(text, (header) => {
      for (const weight of parseWeightedList(header).values()) assert.ok(weight >= 0 && weight < 2);
    }),
  );
});

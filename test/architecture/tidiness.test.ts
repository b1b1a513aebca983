import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadFiles, sourceFiles } from './source-tree.ts';

const sources = sourceFiles('src', 'workers');

/** Where programs begin: everything else must be reachable from here. */
const entries = ['src/index.ts', 'src/cli/main.ts', 'src/web/widget/main.ts'];

test('every file of src is used', () => {
  assert.deepEqual(deadFiles(sources, entries), []);
});

test('every file of benchmarks and tests is used', () => {
  const helpers = sourceFiles('bench', 'test');
  // Those of test/cli/programs are loaded ahead of a server, by their names alone.
  const begins = /^(bench\/.*\bmain|test\/.*\.test|test\/crash\/main|test\/cli\/programs\/.*)\.ts$/;
  const paths = helpers.map(({ path }) => path).filter((path) => begins.test(path));
  assert.deepEqual(deadFiles(helpers, paths), []);
});

test('every exported value is used in another file', () => {
  const everything = [...sources, ...sourceFiles('bench', 'bin', 'examples', 'test')];
  const users = new Map<string, number>();
  for (const { text } of everything) {
    for (const word of new Set(text.match(/\w+/g))) users.set(word, (users.get(word) ?? 0) + 1);
  }
  const exported = /^export (?:async )?(?:abstract )?(?:const|function\*?|class) (\w+)/gm;
  const unused = everything.flatMap(({ path, text }) =>
    [...text.matchAll(exported)].filter(([, name]) => users.get(name!) === 1).map(([, name]) => `${path}: ${name}`),
  );
  assert.deepEqual(unused, []);
});

test('files have kebab-case names', () => {
  const odd = sources
    .map(({ path }) => path)
    .filter((path) => !/^([a-z0-9-]+\/)+[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(path));
  assert.deepEqual(odd, []);
});

test('process.env is read in the listed files only', () => {
  const readers = sources.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path);
  assert.deepEqual(readers.sort(), ['src/config/env.ts', 'src/http/engines/uws-engine.ts']);
});

test('time is read from the clock only', () => {
  // The listeners' own deadlines and the aggregator's pauses are machinery, not rules: no answer depends on them. In a
  // visitor's browser there is no other clock than its own.
  const machinery =
    /^(src\/domain\/clock|src\/http\/|src\/analytics\/|src\/event-log\/|src\/cli\/|src\/web\/widget\/expiry|workers\/)/;
  const readers = sources
    .filter(({ path, text }) => !machinery.test(path) && /\b(Date\.now|performance\.now)\(|new Date\(\)/.test(text))
    .map(({ path }) => path);
  assert.deepEqual(readers, []);
});

test('the code contains no TODO', () => {
  const left = sources.filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text)).map(({ path }) => path);
  assert.deepEqual(left, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from './source-tree.ts';

const sources = sourceFiles('src', 'workers');

/** Where programs begin: everything else must be reachable from here. */
const entries = ['src/index.ts', 'src/cli/main.ts', 'src/widget-client/main.ts'];

test('no file is dead', () => {
  const byPath = new Map(sources.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const queue = [...entries];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    queue.push(...(byPath.get(path)?.ownImports ?? []));
  }
  assert.deepEqual(
    sources.map(({ path }) => path).filter((path) => !reached.has(path)),
    [],
  );
});

test('files have kebab-case names', () => {
  const odd = sources
    .map(({ path }) => path)
    .filter((path) => !/^([a-z0-9-]+\/)+[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(path));
  assert.deepEqual(odd, []);
});

test('the environment is read in one file, and in the one whose library leaves no other way', () => {
  const readers = sources.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path);
  assert.deepEqual(readers.sort(), ['src/config/env.ts', 'src/http/uws-listener.ts']);
});

test('time comes from the clock, not from the system', () => {
  // The listeners' own deadlines and the aggregator's pauses are machinery, not rules: no answer depends on them. In a
  // visitor's browser there is no other clock than its own.
  const machinery =
    /^(src\/domain\/clock|src\/http\/|src\/analytics\/|src\/events\/|src\/cli\/|src\/widget-client\/expiry|workers\/)/;
  const readers = sources
    .filter(({ path, text }) => !machinery.test(path) && /\b(Date\.now|performance\.now)\(|new Date\(\)/.test(text))
    .map(({ path }) => path);
  assert.deepEqual(readers, []);
});

test('nothing is left for later in the code', () => {
  const left = sources.filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text)).map(({ path }) => path);
  assert.deepEqual(left, []);
});

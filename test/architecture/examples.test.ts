import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from './source-tree.ts';

const sources = sourceFiles('examples');

test('examples know nothing of the service but its API, and need no package', () => {
  const found = sources.flatMap(({ path, ownImports, packages }) => {
    const home = path.split('/').slice(0, 2).join('/');
    const outside = [
      ...ownImports.filter((to) => !to.startsWith(`${home}/`)),
      ...packages.filter((name) => !name.startsWith('node:')),
    ];
    return outside.map((what) => `${path}: ${what}`);
  });
  assert.deepEqual(found, []);
  assert.ok(sources.length > 0);
});

test('no file of an example is dead', () => {
  const byPath = new Map(sources.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const queue = sources.map(({ path }) => path).filter((path) => /^examples\/[^/]+\/main\.ts$/.test(path));
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

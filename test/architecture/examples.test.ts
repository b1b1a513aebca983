import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadFiles, sourceFiles } from './source-tree.ts';

const sources = sourceFiles('examples');

test('examples import neither the service nor packages', () => {
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

test('every file of an example is used', () => {
  const entries = sources.map(({ path }) => path).filter((path) => /^examples\/[^/]+\/main\.ts$/.test(path));
  assert.deepEqual(deadFiles(sources, entries), []);
});

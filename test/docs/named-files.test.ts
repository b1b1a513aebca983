import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { documents } from '../support/documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Created by the benchmarks. */
const generatedPaths = ['bench/results'];

test('files that documents name exist', () => {
  const named = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/`((?:src|test|workers|bench|bin)\/[\w./-]+)`/g)].map(
      ([, path = '']) => ({ document, path }),
    ),
  );
  assert.ok(named.length > 15, `${named.length}`);
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(join(root, path)) && !generatedPaths.includes(path)),
    [],
  );
});

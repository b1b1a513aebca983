import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';

const bytesMax = 100_000;

test('the script and the style sheet of each console have less than 100 kB together, compressed with gzip', () => {
  for (const name of ['partner', 'operator']) {
    const files = ['js', 'css'].map(
      (ending) => new URL(`../../src/web/console/dist/${name}.${ending}.gz`, import.meta.url),
    );
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    assert.ok(bytes < bytesMax, `${name}: ${bytes} bytes`);
  }
});

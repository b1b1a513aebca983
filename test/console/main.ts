/**
 * Runs all test files of the consoles in this process, so that they share the loaded modules and one browser. A suite for each file keeps the
 * hooks of the files apart.
 */
import { readdirSync } from 'node:fs';
import { describe } from 'node:test';
import './console-browser.ts';

for (const file of readdirSync(import.meta.dirname).sort()) {
  if (!file.endsWith('.test.ts')) continue;
  describe(file, async () => {
    await import(`./${file}`);
  });
}

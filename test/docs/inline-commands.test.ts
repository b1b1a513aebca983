import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documents } from '../support/documents.ts';
import { inlineCodeOf, problemOf } from './inline-commands.ts';
import { checkout } from './run-commands.ts';

test('commands in the prose of documents exist', async () => {
  const problems: string[] = [];
  let commands = 0;
  // The changelog also names commands that no longer exist.
  for (const document of documents.filter((path) => path !== 'CHANGELOG.md')) {
    for (const code of inlineCodeOf(readFileSync(join(checkout, document), 'utf8'))) {
      const problem = await problemOf(code);
      if (problem !== undefined) commands++;
      if (typeof problem === 'string') problems.push(`${document}: \`${code}\`: ${problem}`);
    }
  }
  assert.ok(commands > 50, `${commands}`);
  assert.deepEqual(problems, []);
});

test('problemOf finds invalid commands and accepts names, synopses and whole commands', async () => {
  for (const code of ['marketplace keys craete', 'marketplace keys list --jsno', 'make rnu']) {
    assert.equal(typeof (await problemOf(code)), 'string', code);
  }
  for (const code of ['marketplace keys', 'marketplace confirm FILE [--url URL] [--json]', 'make run']) {
    assert.equal(await problemOf(code), null, code);
  }
});

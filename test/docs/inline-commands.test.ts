import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documents } from '../support/documents.ts';
import { inlineCodeOf, problemOf } from './inline-commands.ts';
import { checkout } from './run-commands.ts';

test('every command in the prose of a document is one of the program, of make, or a file that is there', async () => {
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

for (const code of [
  'marketplace keys craete',
  'marketplace kyes',
  'marketplace keys list --jsno',
  'marketplace confirm FILE [--ulr URL]',
  'marketplace log verify one two three',
  'docker exec <container> marketplace bakcup /backup/today',
  'SVC_PORT=1 bin/marketplace srve',
  'make rnu',
  'bin/with-node node bench/nothing.ts',
]) {
  test(`a command that nobody could enter is found: ${code}`, async () => {
    assert.equal(typeof (await problemOf(code)), 'string');
  });
}

test('a name alone, a synopsis and a whole command are taken, and other code is none of these', async () => {
  for (const code of [
    'marketplace keys',
    'marketplace keys create',
    'npx marketplace --help',
    'marketplace confirm FILE [--url URL] [--json]',
    'make capacity-check KEYS=5000',
  ]) {
    assert.equal(await problemOf(code), null, code);
  }
  for (const code of ['marketplace', 'make', 'npm ci', 'keys.sqlite']) assert.equal(await problemOf(code), undefined);
});

test('code in prose may be broken over two lines, and that of fenced blocks is not of it', () => {
  const page = 'A `marketplace\nkeys` and `make`.\n\n```sh\necho `date`\n```\n';
  assert.deepEqual(inlineCodeOf(page), ['marketplace keys', 'make']);
});

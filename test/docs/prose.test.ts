import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { settingNames } from '../../src/config/env.ts';
import { documents, withoutCodeBlocks } from '../support/documents.ts';
import { problemOf } from './inline-commands.ts';
import { checkout } from './run-commands.ts';

const read = (document: string): string => readFileSync(join(checkout, document), 'utf8');

test('source files named in documents exist', () => {
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:src|test|workers|bench|bin)\/[\w./-]+)`/g)].map(([, path = '']) => ({
      document,
      path,
    })),
  );
  assert.ok(named.length > 15, `${named.length}`);
  // Benchmark result files exist only after a run of the benchmarks.
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(join(checkout, path)) && path !== 'bench/results'),
    [],
  );
});

/** Inline code in the prose of a document, also if it spans two lines. */
function inlineCodeOf(markdown: string): string[] {
  return [...withoutCodeBlocks(markdown).matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, code = '']) =>
    code.replaceAll(/\s+/g, ' '),
  );
}

test('marketplace commands in the inline code of documents are valid', async () => {
  assert.equal(typeof (await problemOf('marketplace keys list --jsno')), 'string');
  const problems: string[] = [];
  let commands = 0;
  // The changelog also names commands that no longer exist.
  for (const document of documents.filter((path) => path !== 'CHANGELOG.md')) {
    for (const code of inlineCodeOf(read(document))) {
      const problem = await problemOf(code);
      if (problem !== undefined) commands++;
      if (typeof problem === 'string') problems.push(`${document}: \`${code}\`: ${problem}`);
    }
  }
  assert.ok(commands > 50, `${commands}`);
  assert.deepEqual(problems, []);
});

test('docs/configuration.md lists every setting', () => {
  const listed = [...read('docs/configuration.md').matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)].flatMap(
    ([, names = '']) => names.replaceAll('`', '').split(', '),
  );
  assert.deepEqual(listed.sort(), [...settingNames].sort());
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { replaceResults } from '../../../bench/report/write-report.ts';

const readme = await readFile(new URL('../../../bench/README.md', import.meta.url), 'utf8');

test('replaces only the text between the markers', () => {
  const once = replaceResults(readme, 'first\n');
  const twice = replaceResults(once, 'second\n');
  assert.ok(once.includes('first\n') && !twice.includes('first\n') && twice.includes('second\n'));
  assert.equal(replaceResults(twice, 'first\n'), once);
});

test('rejects a text without markers and does not overwrite it', () => {
  assert.throws(() => replaceResults('# A README\n', 'first\n'), /no place marked/);
});

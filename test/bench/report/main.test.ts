import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toMarkdown } from '../../../bench/report/markdown.ts';
import { smallResult } from '../support/small-result.ts';

const main = fileURLToPath(new URL('../../../bench/report/main.ts', import.meta.url));

test('writes a page beside the result file and tables to standard output', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'report-'));
  try {
    const file = join(folder, 'a.json');
    await writeFile(file, JSON.stringify(smallResult));
    const { status, stdout } = spawnSync(process.execPath, [main, file], { encoding: 'utf8' });
    assert.equal(status, 0);
    assert.equal(stdout, toMarkdown(smallResult));
    assert.deepEqual(await readdir(folder), ['2026-01-02T03-04-05.000Z.html', 'a.json', 'latest.html']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('rejects an invalid result file with a single line of output', () => {
  const refused = (text: string) =>
    spawnSync(process.execPath, [main, '/dev/stdin'], { encoding: 'utf8', input: text });
  for (const text of ['', '[]', 'null', '{"format":1}']) {
    const { status, stdout, stderr } = refused(text);
    assert.deepEqual(
      { status, stdout, lines: stderr.trimEnd().split('\n').length },
      { status: 1, stdout: '', lines: 1 },
    );
  }
});

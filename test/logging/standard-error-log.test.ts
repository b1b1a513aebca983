import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('programs/write-lines.ts', import.meta.url));

async function startWriting(lines: number, stderr: 'pipe' | number = 'pipe') {
  const child = spawn(process.execPath, [program, String(lines)], {
    stdio: ['pipe', 'pipe', stderr],
  }) as ChildProcessWithoutNullStreams;
  child.stdout.setEncoding('utf8');
  assert.deepEqual(await once(child.stdout, 'data'), ['written\n']);
  return {
    child,
    /** Has it write its last line; resolves to what it says of the flush, and to its exit code. */
    async end(): Promise<[string, number | null]> {
      const exit = once(child, 'exit');
      child.stdin.end('end');
      const said = await text(child.stdout);
      return [said.trim(), ((await exit) as [number | null])[0]];
    },
  };
}

const linesOf = (log: string) =>
  log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { readonly at?: number; readonly msg?: string; readonly lines?: number });

test('all lines reach a reader who takes them', async () => {
  const { child, end } = await startWriting(500);
  const read = text(child.stderr);
  assert.deepEqual(await end(), ['true', 0]);
  const lines = linesOf(await read);
  assert.deepEqual([lines.length, lines.at(-1)?.msg], [501, 'the last']);
});

test('a reader who takes nothing holds up neither the work nor, for long, the end', async () => {
  const { end } = await startWriting(500);
  assert.deepEqual(await end(), ['false', 0]);
});

test('lines beyond what may wait are left out, and the log says how many once it can', async () => {
  const { child, end } = await startWriting(10_000);
  const read = text(child.stderr);
  // The first line that is read makes room for the last one.
  await once(child.stderr, 'data');
  assert.deepEqual(await end(), ['true', 0]);
  const lines = linesOf(await read);
  const leftOut = lines.reduce((sum, line) => sum + (line.lines ?? 0), 0);
  assert.ok(leftOut > 1_000, `${leftOut}`);
  assert.equal(lines.filter(({ at }) => at !== undefined).length + leftOut, 10_000);
});

test('a reader who goes away ends the log and not the process', async () => {
  const { child, end } = await startWriting(500);
  child.stderr.destroy();
  assert.deepEqual(await end(), ['true', 0]);
});

test('times are milliseconds for a program, and ISO 8601 for people at a terminal', async (t) => {
  const { child, end } = await startWriting(0);
  const read = text(child.stderr);
  await end();
  assert.match(await read, /^\{"level":30,"time":\d{13},/);
  if (spawnSync('script', ['--version']).status !== 0) return t.skip('the script command is missing');
  const { stdout } = spawnSync('script', ['-qec', `echo end | '${process.execPath}' '${program}' 0`, '/dev/null'], {
    env: { ...process.env, SHELL: '/bin/sh' },
    encoding: 'utf8',
  });
  assert.match(stdout, /\{"level":30,"time":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","msg":"the last"\}/);
});

test('a file has every line when the process ends', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'log');
  const { end } = await startWriting(500, openSync(path, 'a'));
  assert.deepEqual(await end(), ['true', 0]);
  assert.equal(linesOf(readFileSync(path, 'utf8')).length, 501);
});

test('a disk that is full ends neither the log nor the process', async () => {
  const { end } = await startWriting(10, openSync('/dev/full', 'a'));
  assert.deepEqual(await end(), ['true', 0]);
});

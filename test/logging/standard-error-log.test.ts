import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.ts';

const program = fileURLToPath(new URL('programs/write-lines.ts', import.meta.url));

async function startWriting(lines: number, stderr: 'pipe' | number = 'pipe', prefix: readonly string[] = []) {
  const [command = '', ...args] = [...prefix, process.execPath, program, String(lines)];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', stderr],
  }) as ChildProcessWithoutNullStreams;
  child.stdout.setEncoding('utf8');
  assert.deepEqual(await once(child.stdout, 'data'), ['written\n']);
  return {
    child,
    /** Makes the program write its last line. Resolves to the result of `flush` and the exit code. */
    async end(): Promise<[string, number | null]> {
      const exit = once(child, 'exit');
      child.stdin.end('end');
      const output = await text(child.stdout);
      return [output.trim(), ((await exit) as [number | null])[0]];
    },
  };
}

const linesOf = (log: string) =>
  log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { readonly index?: number; readonly msg?: string; readonly lines?: number });

test('writes all log lines to a pipe', async () => {
  const { child, end } = await startWriting(500);
  const read = text(child.stderr);
  assert.deepEqual(await end(), ['true', 0]);
  const log = await read;
  const lines = linesOf(log);
  assert.deepEqual([lines.length, lines.at(-1)?.msg], [501, 'the last']);
  assert.match(log, /^\{"level":30,"time":\d{13},/);
});

test('drops log lines when the buffer is full, and logs the number of dropped lines', async () => {
  const { child, end } = await startWriting(10_000);
  const read = text(child.stderr);
  // After the first line is read, the buffer has space for the last line.
  await once(child.stderr, 'data');
  assert.deepEqual(await end(), ['true', 0]);
  const lines = linesOf(await read);
  const dropped = lines.reduce((sum, line) => sum + (line.lines ?? 0), 0);
  assert.ok(dropped > 1_000, `${dropped}`);
  assert.equal(lines.filter(({ index }) => index !== undefined).length + dropped, 10_000);
});

test('the process exits with code 0 even if its log lines cannot be written (unread pipe, closed pipe, full disk)', async () => {
  const unread = await startWriting(500);
  assert.deepEqual(await unread.end(), ['false', 0]);
  const closed = await startWriting(500);
  closed.child.stderr.destroy();
  assert.deepEqual(await closed.end(), ['true', 0]);
  const full = await startWriting(10, openSync('/dev/full', 'a'));
  assert.deepEqual(await full.end(), ['true', 0]);
});

test('log lines on a terminal have ISO 8601 timestamps', (t) => {
  if (spawnSync('script', ['--version']).status !== 0) return t.skip('the script command is missing');
  const { stdout } = spawnSync('script', ['-qec', `echo end | '${process.execPath}' '${program}' 0`, '/dev/null'], {
    env: { ...process.env, SHELL: '/bin/sh' },
    encoding: 'utf8',
  });
  assert.match(stdout, /\{"level":30,"time":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","msg":"the last"\}/);
});

test('writes all log lines to a file', async (t) => {
  const path = join(temporaryFolder(t), 'log');
  const { end } = await startWriting(500, openSync(path, 'a'));
  assert.deepEqual(await end(), ['true', 0]);
  assert.equal(linesOf(readFileSync(path, 'utf8')).length, 501);
});

test('writes the buffered log lines to a file when the disk has space again, and logs the number of dropped lines', async (t) => {
  if (spawnSync('prlimit', ['--version']).status !== 0) return t.skip('the prlimit command is missing');
  const path = join(temporaryFolder(t), 'log');
  const { child, end } = await startWriting(10_000, openSync(path, 'a'), ['prlimit', '--fsize=4096:']);
  assert.equal(statSync(path).size, 4_096);
  spawnSync('prlimit', [`--pid=${child.pid}`, '--fsize=unlimited:']);
  assert.deepEqual(await end(), ['true', 0]);
  const lines = linesOf(readFileSync(path, 'utf8'));
  assert.deepEqual([lines.at(-2)?.lines, lines.at(-1)?.msg], [10_000 - (lines.length - 2), 'the last']);
  assert.ok(lines.length > 3_000, `${lines.length}`);
});

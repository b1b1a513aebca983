import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.ts';

const program = fileURLToPath(new URL('programs/lifecycle.ts', import.meta.url));
const timeoutMs = 600_000;

const cases: readonly (readonly [name: string, engine: string, threads: string])[] = [
  ['without a listener, matching in two threads', 'none', '2'],
  ['with the native listener', 'uws', '1'],
  ['with the node listener', 'node', '0'],
];

for (const [name, engine, threads] of cases) {
  test(`a program that embeds the service ${name} exits after close, and the service changes no globals`, async (t) => {
    const folder = temporaryFolder(t);
    const child = spawn(process.execPath, [program, folder, engine, threads], { stdio: ['ignore', 'pipe', 'pipe'] });
    const killer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const ended = new Promise<{ code: number | null }>((resolve) => child.once('exit', (code) => resolve({ code })));
    const [stdout, stderr, { code }] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    clearTimeout(killer);
    assert.equal(code, 0, stderr);
    assert.deepEqual([stdout, stderr], ['', '']);
  });
}

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { afterwards } from '../support/afterwards.ts';
import { runImage } from './run-image.ts';

/** Says what the server says, and would then be there for longer than the test may take. */
const stays = `
  echo 'serving http://127.0.0.1:1/v1/personal-loans, operations on http://127.0.0.1:2'
  echo 'in /data/first-keys.txt'
  exec sleep 100
`;

test('what runs in an image ends with its test, which need not have come to stop it', {
  timeout: 30_000,
}, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'marketplace-run-image-'));
  afterwards(t, () => rmSync(root, { recursive: true }));
  const folder = join(root, 'image');
  mkdirSync(join(folder, 'app'), { recursive: true });
  let pid = 0;
  await t.test('that leaves it running', async (inner) => {
    const { serverPid } = await runImage(inner, {
      folder,
      volumes: new Map(),
      command: ['sh', '-c', stays],
      workFolder: '/app',
      user: '1000:1000',
      env: {},
      programs: process.env.PATH!,
    });
    pid = serverPid;
    assert.ok(isThere(pid));
  });
  while (isThere(pid)) await setTimeout(5);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

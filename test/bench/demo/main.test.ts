import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../../bench/target/free-port.ts';
import { startServiceTarget } from '../../../bench/target/service-target.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';

const script = fileURLToPath(new URL('../../../bench/demo/main.ts', import.meta.url));

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}/v1/personal-loans`;
}

function demo(...args: string[]) {
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', timeout: 30_000, env: plainEnvironment() });
}

test('fails without a server, and prints how to start a server', async () => {
  const { status, stderr, stdout } = demo('--url', urlOf(await findFreePort()), '--key', 'svc_pl_live_none');
  assert.equal(status, 1);
  assert.match(stderr, /make run/);
  assert.equal(stderr.trim().split('\n').length, 1);
  assert.equal(stdout, '');
});

test('names an invalid option, and sends no request', () => {
  const { status, stderr } = demo('--borrowers', 'many');
  assert.equal(status, 1);
  assert.match(stderr, /--borrowers must be an integer from 1 to 1000/);
});

test('runs borrowers through a running server and summarizes the two variants', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'demo-'));
  const service = await startServiceTarget({ folder, keys: 1 });
  try {
    const { status, stdout, stderr } = demo(
      ...['--url', urlOf(service.port), '--key', service.keys[0]!, '--borrowers', '12'],
    );
    assert.equal(stderr, '');
    assert.equal(status, 0);
    for (const step of ['POST /session', 'POST /inputs', 'GET /marketplace?', '/c?sub=', 'GET /analytics?']) {
      assert.ok(stdout.includes(step), step);
    }
    for (let number = 2; number <= 12; number++) assert.match(stdout, new RegExp(`^ +${number} [AB] `, 'm'));
    assert.match(stdout, /^ +sessions_total +6 +6$/m);
    // Standard output is not a terminal, so the text has no colors.
    assert.ok(!stdout.includes('\x1b'));
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});

test('prints every response of every borrower with --full', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'demo-'));
  const service = await startServiceTarget({ folder, keys: 1 });
  try {
    const { status, stdout } = demo(
      ...['--url', urlOf(service.port), '--key', service.keys[0]!, '--borrowers', '3', '--full'],
    );
    assert.equal(status, 0);
    for (let number = 1; number <= 3; number++)
      assert.match(stdout, new RegExp(`^Borrower ${number}, step by step`, 'm'));
    assert.equal(stdout.match(/^GET \/marketplace\?/gm)?.length, 3);
    assert.equal(stdout.match(/"match_quality"/g)?.length, 3);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});

test('distinguishes an unknown key from a server that is not running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'demo-'));
  const service = await startServiceTarget({ folder, keys: 1 });
  try {
    const { status, stderr } = demo('--url', urlOf(service.port), '--key', 'svc_pl_live_unknown');
    assert.equal(status, 1);
    assert.match(stderr, /UNAUTHORIZED.*--key/);
  } finally {
    await service.close();
    await rm(folder, { recursive: true });
  }
});

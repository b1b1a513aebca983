import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../../bench/target/free-port.ts';
import { type ServiceTarget, startServiceTarget } from '../../../bench/target/service-target.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const script = fileURLToPath(new URL('../../../bench/demo/main.ts', import.meta.url));

const folder = temporaryFolder();
let service: ServiceTarget;
before(async () => {
  service = await startServiceTarget({ folder, keys: 1 });
});
after(() => service.close());

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}/v1`;
}

function demo(...args: string[]) {
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', timeout: 30_000, env: plainEnvironment() });
}

test('the demo fails without a running server and prints how to start the server', async () => {
  const { status, stderr, stdout } = demo('--url', urlOf(await findFreePort()), '--key', 'svc_pl_live_none');
  assert.equal(status, 1);
  assert.match(stderr, /make run/);
  assert.equal(stderr.trim().split('\n').length, 1);
  assert.equal(stdout, '');
});

const run = (...args: string[]) => demo('--url', urlOf(service.port), '--key', service.keys[0]!, ...args);

test('simulates borrowers on a real server and summarizes both landing page variants', () => {
  const { status, stdout, stderr } = run('--borrowers', '12');
  assert.deepEqual([status, stderr], [0, '']);
  for (const step of ['POST /session', 'POST /inputs', 'GET /marketplace?', '/c?sub=', 'GET /analytics?']) {
    assert.ok(stdout.includes(step), step);
  }
  assert.match(
    stdout,
    /^ +Lender +APR % +Monthly +Stars\n +-+ .*\n +1 {2}\S.* \d+\.\d\d to \d+\.\d\d +\$\d+\.\d\d +\d\.\d$/m,
  );
  for (let number = 2; number <= 12; number++) {
    const found = '(no offer|\\d+ offers?, first by \\w+: .+ % \\$\\d+/month( -> \\S+)?)';
    assert.match(stdout, new RegExp(`^ +${number} [AB] {2}\\$[\\d,]+ for \\w+, .*: \\w+, ${found}$`, 'm'));
  }
  assert.match(stdout, /^ +(demo-\S+-a) +demo-\S+-b$/m);
  assert.match(stdout, /^ +sessions_total +6 +6$/m);
  assert.match(stdout, /^ +click_rate +[01]\.\d{3} +[01]\.\d{3}$/m);
  // Standard output is not a terminal, so the text has no colors.
  assert.ok(!stdout.includes('\x1b'));
});

test('prints every response of every borrower with --full', () => {
  const { status, stdout } = run('--borrowers', '3', '--full');
  assert.equal(status, 0);
  for (let number = 1; number <= 3; number++)
    assert.match(stdout, new RegExp(`^Borrower ${number}, step by step`, 'm'));
  assert.equal(stdout.match(/^GET \/marketplace\?/gm)?.length, 3);
  assert.equal(stdout.match(/"match_quality"/g)?.length, 3);
});

test('distinguishes an unknown key from a server that is not running', () => {
  const { status, stderr } = run('--key', 'svc_pl_live_unknown');
  assert.equal(status, 1);
  assert.match(stderr, /UNAUTHORIZED.*--key/);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatBorrowerLine, formatOffersTable, formatVariantsTable } from '../../../bench/demo/print.ts';
import { findFreePort } from '../../../bench/target/free-port.ts';
import { type ServiceTarget, startServiceTarget } from '../../../bench/target/service-target.ts';
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

test('reports an invalid option without sending a request', () => {
  const { status, stderr } = demo('--borrowers', 'many');
  assert.equal(status, 1);
  assert.match(stderr, /--borrowers must be an integer from 1 to 1000/);
});

describe('demo with a running server', () => {
  let folder: string;
  let service: ServiceTarget;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-'));
    service = await startServiceTarget({ folder, keys: 1 });
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  const run = (...args: string[]) => demo('--url', urlOf(service.port), '--key', service.keys[0]!, ...args);

  test('runs borrowers through the server and summarizes the two variants', () => {
    const { status, stdout, stderr } = run('--borrowers', '12');
    assert.deepEqual([status, stderr], [0, '']);
    for (const step of ['POST /session', 'POST /inputs', 'GET /marketplace?', '/c?sub=', 'GET /analytics?']) {
      assert.ok(stdout.includes(step), step);
    }
    for (let number = 2; number <= 12; number++) assert.match(stdout, new RegExp(`^ +${number} [AB] `, 'm'));
    assert.match(stdout, /^ +sessions_total +6 +6$/m);
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
});

const offer = {
  lender_name: 'Harbor Lane',
  apr_range: { min: 9.5, max: 12 },
  monthly_payment_estimate: 341.484,
  svc_star_rating: 4.5,
  click_url: 'http://127.0.0.1/c',
};
const borrower = {
  loan_amount: 10_000,
  loan_purpose: 'moving',
  credit_score_range: '700-749',
  annual_income: 75_000,
  employment_status: 'employed',
  state: 'TX',
};

test('prints offers in columns, numbered from 1', () => {
  const [head, rule, first, second] = formatOffersTable([offer, { ...offer, lender_name: 'Io' }]).split('\n');
  assert.match(head!, /^ +Lender +APR % +Monthly +Stars$/);
  assert.match(rule!, /^ [ -]+$/);
  assert.match(first!, /^ {2}1 {2}Harbor Lane {2}9\.50 to 12\.00 {2}\$341\.48 {2}4\.5$/);
  assert.equal(second!.indexOf('9.50'), first!.indexOf('9.50'));
});

test('prints the offers, the readiness and the redirect of a borrower on one line', () => {
  const outcome = { readiness: 'partial', sort: 'lowest_apr' };
  const marketplace = { offers: [offer], total_offers: 17 };
  const line = formatBorrowerLine(7, 'B', borrower, { ...outcome, marketplace, clickedHost: 'apply.example' });
  assert.ok(!line.includes('\n'));
  for (const part of ['7 B', '$10,000 for moving', 'TX', 'partial', '17 offers', 'Harbor Lane', '-> apply.example']) {
    assert.ok(line.includes(part), part);
  }
  const none = { offers: [], total_offers: 0 };
  assert.match(
    formatBorrowerLine(1, 'A', borrower, { ...outcome, marketplace: none, clickedHost: null }),
    /partial, no offer$/,
  );
});

test('prints the analytics of two variants side by side under their referrer tags', () => {
  const summary = {
    referrer_tag: 'demo-a',
    sessions_total: 18,
    marketplace_views: 18,
    offer_clicks: 6,
    click_rate: 1 / 3,
    rev_attributed: 120.5,
    rev_confirmed: 0,
    rev_per_session: 0,
    top_lenders: [],
  };
  const text = formatVariantsTable([summary, { ...summary, referrer_tag: 'demo-b', offer_clicks: 10 }]);
  assert.match(text, /demo-a +demo-b/);
  assert.match(text, /offer_clicks +6 +10/);
  assert.match(text, /click_rate +0\.333 +0\.333/);
  assert.match(text, /top lender +- +-/);
});

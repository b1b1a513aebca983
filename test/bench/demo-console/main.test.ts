import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type DemoProcess, startDemoProcess } from '../../../bench/demo-console/demo-process.ts';
import { readDemoFile, writeDemoFile } from '../../../bench/demo-history/demo-file.ts';
import { stopChildProcess } from '../../../bench/target/owned-resources.ts';
import { msPerDay } from '../../../src/domain/calendar.ts';
import { listen } from '../../support/listen.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';
import { runAfterTest } from '../../support/run-after-test.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const script = fileURLToPath(new URL('../../../bench/demo-console/main.ts', import.meta.url));
const environment = { ...plainEnvironment(), SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_MATCHER_THREADS: '0' };
const dataDir = join(temporaryFolder(), 'demo');

/** Starts the demo until the end of the test. */
async function startDemo(t: TestContext): Promise<DemoProcess> {
  const demo = await startDemoProcess(dataDir, 'credit-cards', environment);
  runAfterTest(t, () => stopChildProcess(demo.child));
  return demo;
}

const authorization = (secret: string) => ({ headers: { Authorization: `Bearer ${secret}` } });

const sameOrigin = (headers: Readonly<Record<string, string>>) => ({
  headers: { 'Sec-Fetch-Site': 'same-origin', ...headers },
});

/** Opens a console and logs in as its page does. Returns the cookie. */
async function logIn(consoleUrl: string, credential: object): Promise<string> {
  const page = await fetch(consoleUrl);
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  const response = await fetch(new URL('api/login', consoleUrl), {
    method: 'POST',
    ...sameOrigin({ 'Content-Type': 'application/json' }),
    body: JSON.stringify(credential),
  });
  assert.equal(response.status, 200);
  return response.headers.get('set-cookie')!.split(';', 1)[0]!;
}

test('writes the history, prints working logins of both consoles, and stops at Ctrl-C', async (t) => {
  const { child, printed, partnerUrl, operatorUrl, keys, operatorToken } = await startDemo(t);
  assert.match(printed, /^All data is invented\. It ends today/m);
  assert.deepEqual(Object.keys(keys), ['live key', 'read-only key', 'test key']);
  for (const [kind, key] of Object.entries(keys)) {
    const cookie = await logIn(partnerUrl, { key });
    const response = await fetch(new URL('api/v1/credit-cards/experiments', partnerUrl), sameOrigin({ cookie }));
    const { data } = (await response.json()) as { data: readonly { readonly name: string }[] };
    assert.equal(data.length > 0, kind !== 'test key', kind);
  }
  const metrics = await (await fetch(new URL('/metrics', operatorUrl))).text();
  assert.match(metrics, /^marketplace_offers_at_budget [1-9]/m, 'an offer ran out of its budget');
  const cookie = await logIn(operatorUrl, { token: operatorToken });
  const listed = await fetch(new URL('api/keys', operatorUrl), sameOrigin({ cookie }));
  assert.equal(listed.status, 200);
  const uploads = await fetch(new URL('api/confirmations', operatorUrl), sameOrigin({ cookie }));
  const {
    data: [upload],
  } = (await uploads.json()) as { data: readonly { readonly accepted: number; readonly rejected: number }[] };
  assert.ok(upload!.accepted > 0 && upload!.rejected > 0);

  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('uses the folder again, replaces a revoked key, and says how old the history is', async (t) => {
  const first = await startDemo(t);
  const demo = readDemoFile(dataDir);
  const readOnly = demo.keys.find(({ scope }) => scope === 'analytics')!;
  const revoked = await fetch(new URL(`/keys/${readOnly.id}`, first.operatorUrl), {
    method: 'DELETE',
    ...authorization(first.operatorToken),
  });
  assert.equal(revoked.status, 200);
  await stopChildProcess(first.child);
  writeDemoFile(dataDir, { ...demo, endMs: demo.endMs - 3 * msPerDay });

  const second = await startDemo(t);
  assert.match(second.printed, /^All data is invented\. It ends on \S+ \(UTC\), [34] days ago/m);
  assert.equal(second.keys['live key'], first.keys['live key']);
  assert.notEqual(second.keys['read-only key'], first.keys['read-only key']);
  const tags = await fetch(
    new URL('/v1/credit-cards/tags', second.partnerUrl),
    authorization(second.keys['read-only key']!),
  );
  assert.equal(tags.status, 200);
});

test('fails with one line, before it writes a folder, if it cannot serve', async (t) => {
  const port = await listen(t, createServer());
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'other'));
  const cases: readonly [args: readonly string[], env: Readonly<Record<string, string>>, complaint: RegExp][] = [
    [[join(folder, 'new')], { SVC_PORT: String(port) }, /SVC_PORT .* must be an unused port/],
    [[join(folder, 'new')], { SVC_OPS_PORT: String(port) }, /SVC_OPS_PORT .* must be an unused port/],
    [['--vertical', 'none', join(folder, 'new')], {}, /--vertical must be one of: personal-loans, /],
    [[join(folder, 'other')], {}, /is no demo history/],
  ];
  for (const [args, env, complaint] of cases) {
    const options = { encoding: 'utf8', env: { ...environment, ...env } } as const;
    const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...args], options);
    assert.deepEqual([status, stdout], [1, ''], stderr);
    assert.match(stderr, complaint);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
  assert.deepEqual(readdirSync(folder), ['other']);
});

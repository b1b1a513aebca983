import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findFreePort } from '../../bench/target/free-port.ts';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { type Ran, runMarketplace } from './run-marketplace.ts';
import { serveMarketplace } from './serve-marketplace.ts';

/** Server with an API client and the command line. */
class ConfirmSetup {
  readonly folder: string;
  readonly url: string;
  readonly caller: ApiCaller;
  readonly greeting: string;

  constructor(folder: string, url: string, caller: ApiCaller, greeting: string) {
    this.folder = folder;
    this.url = url;
    this.caller = caller;
    this.greeting = greeting;
  }

  static async open(t: TestContext): Promise<ConfirmSetup> {
    const folder = mkdtempSync(join(tmpdir(), 'marketplace-confirm-'));
    afterwards(t, () => rmSync(folder, { recursive: true }));
    const server = await serveMarketplace(folder);
    afterwards(t, () => server.stop());
    const http = new HttpClient(server.port);
    afterwards(t, () => http.close());
    const [, key = ''] = /^ {2}live {2}(\S+)$/m.exec(readFileSync(join(folder, 'first-keys.txt'), 'utf8')) ?? [];
    const caller = new ApiCaller(http, 'personal-loans', key);
    return new ConfirmSetup(folder, `http://127.0.0.1:${server.operationsPort}`, caller, server.greeting());
  }

  /** Creates a session with this tag, clicks an offer, and returns the click_id. */
  async clickId(tag: string): Promise<string> {
    const subId = await this.caller.sessionWith(tag, personalLoansFixture.complete);
    const { offers } = await this.caller.offers(subId);
    const { headers } = await this.caller.click(offers[0]?.click_url as string);
    const location = new URL(headers.get('location') as string);
    return [...location.searchParams.values()].find((value) => value.length > 60) as string;
  }

  write(name: string, content: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  run(...args: readonly string[]): Promise<Ran> {
    return runMarketplace(['confirm', ...args], { SVC_DATA_DIR: this.folder });
  }

  async confirmed(tag: string): Promise<number> {
    return (await this.caller.summary({ referrer_tag: tag })).rev_confirmed;
  }
}

test('books a CSV file, writes rejected rows with reasons, and changes nothing when sent again', async (t) => {
  const setup = await ConfirmSetup.open(t);
  const clickId = await setup.clickId('csv');
  const now = new Date().toISOString();
  const good = Array.from({ length: 1_200 }, (_, n) => `${clickId},tx-${n},funded,0.25,${now},"a, ""b"""\r\n`);
  const path = setup.write(
    'payouts.csv',
    `\ufeffclick_id,txid,status,amount,occurred_at,note\r\n${good.join('')}${clickId},tx-0,reversed,0.2,${now},\r\n` +
      `${clickId},tx-0,funded,9,${now},"more, or less"\r\n${clickId},tx-x,funded,"1,5",${now},\r\n${clickId},short\r\n`,
  );
  const first = await setup.run(path, '--url', setup.url);
  assert.deepEqual([first.code, first.stdout], [4, '1204 rows: 1201 accepted, 0 repeated, 3 rejected\n'], first.stderr);
  const rejectedPath = join(setup.folder, 'payouts.rejected.csv');
  assert.equal(
    first.stderr,
    `  1 cells_miscounted\n  1 conflict\n  1 amount_invalid\nThe rejected rows are in ${rejectedPath}.\n`,
  );
  const rejected = readFileSync(rejectedPath, 'utf8');
  assert.equal(
    rejected,
    `click_id,txid,status,amount,occurred_at,note,reason\r\n${clickId},short,,,,,cells_miscounted\r\n` +
      `${clickId},tx-0,funded,9,${now},"more, or less",conflict\r\n${clickId},tx-x,funded,"1,5",${now},,amount_invalid\r\n`,
  );
  assert.equal(await setup.confirmed('csv'), 299.8);

  const again = await setup.run(path, '--url', setup.url);
  assert.equal(again.stdout, '1204 rows: 0 accepted, 1201 repeated, 3 rejected\n');
  assert.equal(readFileSync(rejectedPath, 'utf8'), rejected);
  assert.equal(await setup.confirmed('csv'), 299.8);

  // The file of rejected rows can be sent again after a correction.
  const corrected = setup.write('corrected.csv', rejected.replace('"1,5"', '1.5'));
  const third = await setup.run(corrected, '--url', setup.url, '--rejected', join(setup.folder, 'still.csv'));
  assert.equal(third.stdout, '3 rows: 1 accepted, 0 repeated, 2 rejected\n');
  assert.match(readFileSync(join(setup.folder, 'still.csv'), 'utf8'), /^click_id,[^\n]*,note,reason\r\n/);
});

test('books an NDJSON file and writes rejected rows as NDJSON', async (t) => {
  const setup = await ConfirmSetup.open(t);
  const row = {
    click_id: await setup.clickId('ndjson'),
    txid: 'tx-1',
    status: 'funded',
    amount: 40,
    occurred_at: new Date().toISOString(),
    note: 'kept',
  };
  const lines = [JSON.stringify(row), '', '{"txid":', '[1]', JSON.stringify({ ...row, amount: '40' })];
  const path = setup.write('payouts.ndjson', lines.join('\n'));
  const ran = await setup.run(path, '--url', setup.url, '--rejected', join(setup.folder, 'out.ndjson'));
  assert.deepEqual([ran.code, ran.stdout], [4, '4 rows: 1 accepted, 0 repeated, 3 rejected\n'], ran.stderr);
  assert.deepEqual(
    readFileSync(join(setup.folder, 'out.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      { row: '{"txid":', reason: 'not_json' },
      { row: [1], reason: 'not_an_object' },
      { ...row, amount: '40', reason: 'amount_invalid' },
    ],
  );
  assert.equal(await setup.confirmed('ndjson'), 40);

  // Without rejected rows, the file is deleted.
  setup.write('payouts.ndjson', `${JSON.stringify(row)}\n`);
  const clean = await setup.run(path, '--url', setup.url, '--rejected', join(setup.folder, 'out.ndjson'));
  assert.deepEqual(clean, { code: 0, stdout: '1 rows: 0 accepted, 1 repeated, 0 rejected\n', stderr: '' });
  assert.equal(existsSync(join(setup.folder, 'out.ndjson')), false);
});

test('the first start prints the path of the token, not the token', async (t) => {
  const setup = await ConfirmSetup.open(t);
  const path = join(setup.folder, 'operator-token');
  assert.ok(setup.greeting.includes(`is in ${path}\n`));
  assert.ok(!setup.greeting.includes(readFileSync(path, 'utf8').trim()));
});

const head = 'click_id,txid,status,amount,occurred_at\n';
test('reports an unreadable file in one line', async (t) => {
  const folder = folderWithToken(t);
  for (const [content, message] of [
    [`${head}a"b,1,2,3,4\n`, /line 2: a quote/],
    [Buffer.from([0x61, 0xff, 0x0a]), /not UTF-8/],
  ] as const) {
    writeFileSync(join(folder, 'a.csv'), content);
    const args = ['confirm', join(folder, 'a.csv'), '--url', 'http://127.0.0.1:1'];
    const ran = await runMarketplace(args, { SVC_DATA_DIR: folder });
    assert.deepEqual([ran.code, ran.stdout], [1, '']);
    assert.match(ran.stderr, /^marketplace: [^\n]+\n$/);
    assert.match(ran.stderr, message);
  }
});

test('reports a missing server, token or file in one line', async (t) => {
  const folder = folderWithToken(t);
  const file = join(folder, 'a.csv');
  writeFileSync(file, `${head}a,b,c,d,e\n`);
  const alias = join(folder, 'alias');
  symlinkSync(folder, alias);
  const url = ['--url', `http://127.0.0.1:${await findFreePort()}`];
  for (const [args, message] of [
    [[file, ...url], /no server responds at http:\/\/127\.0\.0\.1:\d+\/confirmations \(see --url\): ECONNREFUSED/],
    [
      [file, '--url', 'http://127.0.0.1:1'],
      /127\.0\.0\.1:1\/confirmations cannot be requested: web clients block port 1,/,
    ],
    [[file, ...url, '--token-file', join(folder, 'none')], /operator token .*none cannot be read \(ENOENT\)/],
    [[file, ...url, '--token-file', file], /does not contain an operator token/],
    [[join(folder, 'none.csv'), ...url], /none\.csv cannot be read \(ENOENT\)/],
    [[file, ...url, '--rejected', join(alias, 'a.csv')], /must not be the file that is sent/],
    [[file, ...url, '--rejected', folder], /cannot be written/],
  ] as const) {
    const ran = await runMarketplace(['confirm', ...args], { SVC_DATA_DIR: folder });
    assert.deepEqual([ran.code, ran.stdout], [1, '']);
    assert.match(ran.stderr, /^marketplace: [^\n]+\n$/);
    assert.match(ran.stderr, message);
  }
});

test('reports another file format or an invalid URL as a usage error', async () => {
  for (const args of [['a.txt'], ['a.csv', '--url', 'localhost:9090'], []]) {
    assert.equal((await runMarketplace(['confirm', ...args])).code, 2);
  }
});

test('reports a token that the server rejects', async (t) => {
  const setup = await ConfirmSetup.open(t);
  const other = folderWithToken(t);
  const path = setup.write('a.csv', `${head}a,b,c,d,e\n`);
  const ran = await setup.run(path, '--url', setup.url, '--token-file', join(other, 'operator-token'));
  assert.deepEqual([ran.code, ran.stdout], [1, '']);
  assert.match(ran.stderr, /rejects this operator token/);
});

function folderWithToken(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-confirm-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'operator-token'), `svc_operator_${'0'.repeat(64)}\n`);
  return folder;
}

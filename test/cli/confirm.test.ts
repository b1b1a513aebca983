import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findFreePort } from '../../bench/target/free-port.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { HttpClient } from '../support/http-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { assertFailed, type Ran, runMarketplace } from './run-marketplace.ts';
import { serveMarketplace } from './served-process.ts';

/** Server of all tests, with an API client and the command line. */
const folder = temporaryFolder();
const server = await serveMarketplace(folder);
const [, key = ''] = /^ {2}live {2}(\S+)$/m.exec(readFileSync(join(folder, 'first-keys.txt'), 'utf8')) ?? [];
const http = new HttpClient(server.port);
const caller = new ApiCaller(http, 'personal-loans', key);
const url = `http://127.0.0.1:${server.operationsPort}`;
after(async () => {
  http.close();
  await server.stop();
});

/** Creates a session with this tag, clicks an offer, and returns the click_id. */
async function createClick(tag: string): Promise<string> {
  const subId = await caller.createSessionWithFields(tag, personalLoansFixture.complete);
  const [offer] = (await caller.offers(subId)).offers;
  return clickIdFromRedirect(personalLoansFixture, offer!.svc_offer_id, await caller.click(offer!.click_url));
}

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const confirm = (...args: readonly string[]): Promise<Ran> =>
  runMarketplace(['confirm', ...args], { SVC_DATA_DIR: folder });

async function confirmedUsd(tag: string): Promise<number> {
  return (await caller.summary({ referrer_tag: tag })).rev_confirmed;
}

test('records a CSV file once, even if the file is sent again, and writes rejected rows with reasons', async () => {
  const clickId = await createClick('csv');
  const now = new Date().toISOString();
  const good = Array.from({ length: 1_200 }, (_, n) => `${clickId},tx-${n},funded,0.25,${now},"a, ""b"""\r\n`);
  const path = write(
    'payouts.csv',
    `\ufeffclick_id,txid,status,amount,occurred_at,note\r\n${good.join('')}${clickId},tx-0,reversed,0.2,${now},\r\n` +
      `${clickId},tx-0,funded,9,${now},"more, or less"\r\n${clickId},tx-x,funded,"1,5",${now},\r\n${clickId},short\r\n`,
  );
  const first = await confirm(path, '--url', url);
  assert.deepEqual([first.code, first.stdout], [4, '1204 rows: 1201 accepted, 0 repeated, 3 rejected\n'], first.stderr);
  const rejectedPath = join(folder, 'payouts.rejected.csv');
  assert.equal(
    first.stderr,
    '  1 conflict: This txid was booked with another amount, time or reason. The first row stays valid.\n' +
      '  1 amount_invalid: The amount is not a number above 0 with at most six decimals.\n' +
      '  1 cells_miscounted: The row has more or fewer cells than the first line.\n' +
      `The rejected rows are in ${rejectedPath}.\n`,
  );
  const rejected = readFileSync(rejectedPath, 'utf8');
  assert.equal(
    rejected,
    `click_id,txid,status,amount,occurred_at,note,rejection,payout_state,payout_amount\r\n` +
      `${clickId},tx-0,funded,9,${now},"more, or less",conflict,funded,0.25\r\n` +
      `${clickId},tx-x,funded,"1,5",${now},,amount_invalid,,\r\n${clickId},short,,,,,cells_miscounted,,\r\n`,
  );
  assert.equal(await confirmedUsd('csv'), 299.8);

  const again = await confirm(path, '--url', url);
  assert.equal(again.stdout, '1204 rows: 0 accepted, 1201 repeated, 3 rejected\n');
  assert.match(
    again.stderr,
    /^ {2}1 of the repeated rows are payouts that were reversed, wholly or in part; sending them again adds no revenue\n/,
  );
  assert.equal(readFileSync(rejectedPath, 'utf8'), rejected.replace('funded,0.25', 'partly_reversed,0.05'));
  assert.equal(await confirmedUsd('csv'), 299.8);

  // The file of rejected rows can be sent again after a correction.
  const corrected = write('corrected.csv', rejected.replace('"1,5"', '1.5'));
  const third = await confirm(corrected, '--url', url, '--rejected', join(folder, 'still.csv'));
  assert.equal(third.stdout, '3 rows: 1 accepted, 0 repeated, 2 rejected\n');
  assert.match(
    readFileSync(join(folder, 'still.csv'), 'utf8'),
    /^click_id,[^\n]*,note,rejection,payout_state,payout_amount\r\n/,
  );
});

test('books a reversal whose payout is in a later batch of the file, and writes the rejected rows in the order of the file', async () => {
  const clickId = await createClick('newest-first');
  const occurred_at = new Date().toISOString();
  const row = (txid: string, status: string, amount: number) => ({
    click_id: clickId,
    txid,
    status,
    amount,
    occurred_at,
  });
  const lines: string[] = [];
  const rejections: [txid: string, rejection: string, payout: string | undefined][] = [];
  // Newest rows first: the reversals are 1,100 rows before their payouts, and more rows are rejected than a request has.
  for (let n = 0; n < 1_100; n++) {
    const txid = `late-${n}`;
    if (n % 2 === 0) {
      lines.push(JSON.stringify(row(txid, 'reversed', 1)));
    } else {
      lines.push(JSON.stringify(row(txid, 'reversed', 1.000001)));
      rejections.push([txid, 'exceeds_funded', 'funded']);
    }
    if (n % 400 === 0) {
      lines.push('{');
      rejections.push(['{', 'not_json', undefined]);
    }
    lines.push(JSON.stringify(row(`void-${n}`, 'paid', 1)));
    rejections.push([`void-${n}`, 'status_invalid', undefined]);
  }
  for (let n = 0; n < 1_100; n++) lines.push(JSON.stringify(row(`late-${n}`, 'funded', 1)));
  const path = write('newest-first.ndjson', lines.join('\n'));
  const counts = { rows: lines.length, rejected: rejections.length };
  const rejectedPath = join(folder, 'newest-first.rejected.ndjson');
  for (const expected of [
    { accepted: 1_650, repeated: 0, reversed_payouts: 0 },
    { accepted: 0, repeated: 1_650, reversed_payouts: 550 },
  ]) {
    const ran = await confirm(path, '--url', url, '--json');
    assert.equal(ran.code, 4, ran.stderr);
    const { reasons: _, rejected_file, ...found } = JSON.parse(ran.stdout);
    assert.deepEqual([found, rejected_file], [{ ...counts, ...expected }, rejectedPath]);
    const rejected = readFileSync(rejectedPath, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      rejected.map(({ txid, row, rejection, payout_state }) => [txid ?? row, rejection, payout_state]),
      rejections,
    );
    assert.equal(await confirmedUsd('newest-first'), 550);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('unfinished')),
    [],
  );
});

test('records the rows of an NDJSON file and writes rejected rows as NDJSON', async () => {
  const row = {
    click_id: await createClick('ndjson'),
    txid: 'tx-1',
    status: 'funded',
    amount: 40,
    occurred_at: new Date().toISOString(),
    note: 'kept',
  };
  const lines = [JSON.stringify(row), '', '{"txid":', '[1]', JSON.stringify({ ...row, amount: '40' })];
  const path = write('payouts.ndjson', lines.join('\n'));
  const rejectedPath = join(folder, 'out.ndjson');
  const ran = await confirm(path, '--url', url, '--rejected', rejectedPath, '--json');
  assert.deepEqual([ran.code, ran.stderr], [4, '']);
  assert.deepEqual(JSON.parse(ran.stdout), {
    rows: 4,
    accepted: 1,
    repeated: 0,
    reversed_payouts: 0,
    rejected: 3,
    reasons: { not_json: 1, not_an_object: 1, amount_invalid: 1 },
    rejected_file: rejectedPath,
  });
  const rejected = readFileSync(rejectedPath, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    rejected.map((line) => JSON.parse(line)),
    [
      { row: '{"txid":', rejection: 'not_json' },
      { row: [1], rejection: 'not_an_object' },
      { ...row, amount: '40', rejection: 'amount_invalid' },
    ],
  );
  assert.equal(await confirmedUsd('ndjson'), 40);

  // Without rejected rows, the file is deleted.
  write('payouts.ndjson', `${JSON.stringify(row)}\n`);
  const clean = await confirm(path, '--url', url, '--rejected', rejectedPath);
  assert.deepEqual(clean, { code: 0, stdout: '1 rows: 0 accepted, 1 repeated, 0 rejected\n', stderr: '' });
  assert.equal(existsSync(rejectedPath), false);
});

test('books no amount of another currency or unit from a CSV or NDJSON file', async () => {
  const click_id = await createClick('euros');
  const row = { click_id, txid: 'tx-1', status: 'funded', amount: 40, occurred_at: new Date().toISOString() };
  const names = Object.keys(row).join(',');
  const cells = Object.values(row).join(',');
  const currencies = ['EUR', 'usd', '"1"', ''];
  const csv = write(
    'euros.csv',
    `${names},currency\n${currencies.map((currency) => `${cells},${currency}\n`).join('')}`,
  );
  const unit = write('cents.csv', `${names},amount_cents\n${cells},4000\n`);
  const members = [{ currency: 'EUR' }, { currency: '' }, { currency: null }, { currency: 1 }, { amountCents: 1 }];
  const ndjson = write('euros.ndjson', members.map((member) => JSON.stringify({ ...row, ...member })).join('\n'));
  const ofCsv = await confirm(csv, '--url', url);
  assert.equal(ofCsv.stdout, '4 rows: 0 accepted, 0 repeated, 4 rejected\n', ofCsv.stderr);
  assert.match(ofCsv.stderr, /^ {2}4 currency_invalid: The currency is not USD\. Convert the amount\.\n/);
  assert.match(readFileSync(join(folder, 'euros.rejected.csv'), 'utf8'), /,EUR,currency_invalid,,\r\n/);
  const ofNdjson = await confirm(ndjson, '--url', url, '--json');
  assert.deepEqual(JSON.parse(ofNdjson.stdout).reasons, { currency_invalid: 4, member_ambiguous: 1 });
  const message = /column 6 of the first line has a name that could change the meaning/;
  assertFailed(await confirm(unit, '--url', url), 1, message);
  assert.equal(await confirmedUsd('euros'), 0);
});

const head = 'click_id,txid,status,amount,occurred_at\n';
test('reports in one line a file, a server URL or an operator token that cannot be used', async () => {
  const file = write('a.csv', `${head}a,b,c,d,e\n`);
  const alias = join(folder, 'alias');
  symlinkSync(folder, alias);
  const otherToken = write('other-token', `svc_operator_${'0'.repeat(64)}\n`);
  const nobody = ['--url', `http://127.0.0.1:${await findFreePort()}`];
  for (const [args, message] of [
    [[write('quote.csv', `${head}a"b,1,2,3,4\n`), ...nobody], /line 2: a quote/],
    [[write('binary.csv', Buffer.from([0x61, 0xff, 0x0a])), ...nobody], /not UTF-8/],
    [[file, ...nobody], /no server responds at http:\/\/127\.0\.0\.1:\d+\/confirmations \(see --url\): ECONNREFUSED/],
    [
      [file, '--url', 'http://127.0.0.1:1'],
      /127\.0\.0\.1:1\/confirmations cannot be requested: web clients block port 1,/,
    ],
    [
      [file, ...nobody, '--token-file', join(folder, 'none')],
      /operator token .*none does not exist \(see --token-file\)/,
    ],
    [[file, ...nobody, '--token-file', file], /does not contain an operator token/],
    [[file, '--url', url, '--token-file', otherToken], /rejects this operator token/],
    [[join(folder, 'none.csv'), ...nobody], /none\.csv does not exist/],
    [[file, ...nobody, '--rejected', join(alias, 'a.csv')], /must not be the confirmation file/],
    [[file, ...nobody, '--rejected', folder], /cannot be written/],
  ] as const) {
    const ran = await confirm(...args);
    assertFailed(ran, 1, message);
    assert.match(ran.stderr, /^marketplace: [^\n]+\n$/);
  }
});

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { bounds } from '../../src/bounds.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { findTraces } from './traces.ts';

const commandLine = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
const faults = new URL('programs/faulty.ts', import.meta.url).href;

/** Texts to submit. Each text is used once, so that a trace identifies its source. */
const texts = [
  'tag', 'metadata name', 'metadata value', 'user agent in a body', 'user agent header', 'referer', 'cookie', 'forwarded address',
  'Idempotency-Key', 'unknown API key', 'malformed API key', 'basic credentials', 'field name', 'field value', 'unknown field value',
  'nested value', 'malformed JSON', 'wrong content type', 'content type itself', 'long body', 'invalid UTF-8', 'path', 'query name', 'query value', 'method',
  'header name', 'click session', 'click offer', 'click value', 'widget session', 'widget token', 'widget event', 'logo name', 'origin',
  'payout', 'refused payout', 'confirmed session', 'refused tag', 'refused user agent', 'refused metadata', 'analytics tag', 'cursor', 'list of ids',
  'account', 'embedding origin', 'fault', 'crash', 'operator credentials', 'issued account', 'refused account', 'refused vertical', 'refused member',
  'allowed origin', 'refused origin', 'unknown account', 'payout of a file', 'refused payout of a file', 'session of a file',
] as const; // biome-ignore format: a list of words
type Place = (typeof texts)[number];

const text = (place: Place): string => `zq7x${String(texts.indexOf(place)).padStart(3, '0')}x`;

/** Numbers to submit for the borrower, which a search can recognize in any encoding. */
const numbers = {
  'loan amount': 73_429,
  income: 7_318_529,
  'monthly debt': 641_973,
  'birth date as a number': 19_570_311,
  'a number out of range': 4_123_987_651,
} as const;
const birthdate = '1957-03-11';
const zip = '90317';

const submitted = new Map<string, string | number>([
  ...texts.map((place): [string, string] => [place, text(place)]),
  ...Object.entries(numbers),
  ['birth date', birthdate],
  ['zip', zip],
]);

/** Values that may be stored, by the names of the files. All other values must leave no trace. */
const mayBeKept: readonly (readonly [where: RegExp, what: readonly Place[]])[] = [
  // Figures are by tag, rows of analytics return the metadata, and the name of a payout identifies a repeated payout.
  [/^(ledger\/|analytics\.sqlite)/, ['tag', 'metadata name', 'metadata value', 'payout', 'payout of a file']],
  // The operator wrote these names.
  [/^keys\.sqlite/, ['account', 'issued account', 'embedding origin', 'allowed origin']],
];

/** Values that the server logs intentionally: names of callers and changes by the operator. */
const mayBeLogged: readonly string[] = ['account', 'issued account'];

const inLedger = ['tag', 'metadata name', 'metadata value', 'payout', 'payout of a file', 'the sub_id as text'];

/** Commands of the operator and the values that each command must print. `FILE` is a file of payouts. */
const commands: readonly (readonly [words: string, shows: readonly string[]])[] = [
  ['confirm FILE', []],
  ['confirm FILE --json', []],
  ['log inspect --count 1000', inLedger],
  ['log inspect --count 1000 --json', inLedger],
  ['log verify', []],
  ['log verify --json', []],
  ['analytics summary ACCOUNT', ['tag']],
  ['analytics summary ACCOUNT --json', ['tag']],
  ['analytics daily ACCOUNT', []],
  ['analytics daily ACCOUNT --json', []],
  ['analytics sessions ACCOUNT', ['the sub_id as text']],
  ['analytics sessions ACCOUNT --json', ['tag', 'metadata name', 'metadata value', 'the sub_id as text']],
  ['analytics tags', ['account']],
  ['analytics tags --json', ['account']],
  ['keys list', ['account', 'issued account']],
  ['keys list --json', ['account', 'issued account']],
  ['origins list --json', ['account', 'issued account', 'embedding origin', 'allowed origin']],
  ['check-config', []],
];

/** Runs a server with the bugs of `faulty.ts` and the most verbose log level. Records all output. */
class VerboseServer {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  ports = { public: 0, operations: 0 };
  printed = '';

  constructor(dataDir: string) {
    this.child = spawn(commandLine, ['serve'], {
      env: {
        ...plainEnvironment(),
        SVC_DATA_DIR: dataDir,
        SVC_PORT: '0',
        SVC_OPS_PORT: '0',
        SVC_MATCHER_THREADS: '1',
        SVC_LOG_LEVEL: 'trace',
        SVC_LISTENER: 'uws',
        NODE_OPTIONS: `--import ${faults}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.child, 'close');
  }

  async serving(): Promise<this> {
    const found = await new Promise<RegExpExecArray>((resolve, reject) => {
      const onData = (piece: string): void => {
        this.printed += piece;
        const match = /127\.0\.0\.1:(\d+)\/v1\/personal-loans, operations on 127\.0\.0\.1:(\d+)\n/.exec(this.printed);
        if (match !== null) resolve(match);
      };
      this.child.stdout!.setEncoding('utf8').on('data', onData);
      this.child.stderr!.setEncoding('utf8').on('data', onData);
      this.ended.then(() => reject(new Error(this.printed)), reject);
    });
    this.ports = { public: Number(found[1]), operations: Number(found[2]) };
    return this;
  }
}

interface RecordedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly operations?: boolean;
}

interface RecordedResponse {
  readonly status: number;
  readonly head: string;
  readonly text: string;
}

/** Sends requests and records the error responses. */
class RecordingClient {
  readonly errors: RecordedResponse[] = [];
  ports: VerboseServer['ports'];

  constructor(ports: VerboseServer['ports']) {
    this.ports = ports;
  }

  async ask(
    path: string,
    { method = 'GET', headers = {}, body, operations = false }: RecordedRequest = {},
  ): Promise<RecordedResponse> {
    const connection = operations
      ? await RawConnection.open(this.ports.operations)
      : await ServiceConnection.open(this.ports.public);
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const head = Object.entries({ Host: 'localhost', ...headers, ...length }).map((pair) => `${pair.join(': ')}\r\n`);
    connection.send(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n`);
    if (body !== undefined) connection.send(Buffer.from(body));
    const answer = await connection.response(method === 'HEAD');
    connection.close();
    const recorded = { status: answer.status, head: JSON.stringify([...answer.headers]), text: answer.body.toString() };
    if (recorded.status >= 400) this.errors.push(recorded);
    return recorded;
  }
}

const api = '/v1/personal-loans';

/** Sends requests to every path, with a recognizable value in every input. */
async function driveEveryPath(
  client: RecordingClient,
  key: string,
  operatorToken: string,
): Promise<{ subId: string; token: string; issuedKey: string }> {
  const authorization = { Authorization: `Bearer ${key}` };
  const json = { ...authorization, 'Content-Type': 'application/json' };
  const post = (operation: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    client.ask(`${api}/${operation}`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
  const ok = async (told: Promise<RecordedResponse>, status = 200): Promise<RecordedResponse> => {
    const { status: got, text: body } = await told;
    assert.equal(got, status, body);
    return told;
  };

  // Creates a session with every optional input.
  const created = await ok(
    post(
      'session',
      {
        referrer_tag: text('tag'),
        user_agent: `Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) ${text('user agent in a body')}`,
        metadata: { [text('metadata name')]: text('metadata value') },
      },
      {
        'User-Agent': text('user agent header'),
        Referer: `https://${text('referer')}.example/`,
        Cookie: `a=${text('cookie')}`,
        'X-Forwarded-For': text('forwarded address'),
        'Idempotency-Key': text('Idempotency-Key'),
      },
    ),
  );
  const subId = (JSON.parse(created.text) as { sub_id: string }).sub_id;
  const fields = {
    loan_amount: numbers['loan amount'],
    loan_purpose: 'debt_consolidation',
    credit_score_range: '750-799',
    annual_income: numbers.income,
    employment_status: 'employed',
    state: 'CA',
    birthdate,
    housing_status: 'own',
    monthly_debt_payments: numbers['monthly debt'],
    address_zip: zip,
    citizenship_status: 'citizen',
    education_level: 'graduate',
    co_borrower: false,
    loan_term_months: 36,
  };
  await ok(post('inputs', { sub_id: subId, fields }));
  for (const sort of ['recommended', 'svc_revenue']) {
    await ok(client.ask(`${api}/marketplace?sub_id=${subId}&format=json&sort=${sort}`, { headers: authorization }));
  }
  const offers = JSON.parse(
    (await client.ask(`${api}/marketplace?sub_id=${subId}&format=json`, { headers: authorization })).text,
  ) as { offers: { click_url: string }[] };
  const click = new URL(offers.offers[0]?.click_url ?? assert.fail('no offers'));
  await ok(client.ask(click.pathname + click.search, { headers: { 'User-Agent': text('user agent header') } }), 302);
  const widget = await ok(
    client.ask(`${api}/marketplace?sub_id=${subId}&format=js`, {
      headers: { ...authorization, Accept: 'application/json' },
    }),
  );
  const { token } = JSON.parse(widget.text) as { token: string };
  const link = `sub=${subId}&token=${token}`;
  await ok(client.ask(`/w?${link}`));
  await ok(
    client.ask(`/w/offers?${link}&load=00000000000000a1`, {
      headers: { Origin: `http://127.0.0.1:${client.ports.public}` },
    }),
  );
  const events = { load: '00000000000000a1', events: [{ event_id: text('widget event'), type: 'widget_loaded' }] };
  await ok(client.ask(`/w/events?${link}`, { method: 'POST', body: JSON.stringify(events) }), 204);
  const offer = click.searchParams.get('offer') ?? '';
  const row = {
    sub_id: subId,
    svc_offer_id: offer,
    txid: text('payout'),
    status: 'funded',
    amount: 25,
    occurred_at: new Date().toISOString(),
  };
  const operator = { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' };
  const manage = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = operator) =>
    client.ask(path, {
      operations: true,
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const confirmed = await ok(
    manage('POST', '/confirmations', [
      row,
      { ...row, txid: `${text('refused payout')}\n` },
      { ...row, sub_id: text('confirmed session') },
      text('refused payout'),
    ]),
  );
  // The second run has another time.
  assert.match(confirmed.text, /"index":0,"outcome":"(accepted"|rejected","reason":"conflict")/);
  for (const query of [
    `referrer_tag=${text('tag')}`,
    `referrer_tag=${text('tag')}&granularity=row`,
    `sub_id_list=${subId}`,
  ]) {
    await ok(client.ask(`${api}/analytics?${query}`, { headers: authorization }));
  }

  await ok(client.ask(`/docs?${text('query name')}=${text('query value')}`));
  await ok(client.ask(`${api}/openapi.json?${text('query name')}=${text('query value')}`));
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    await ok(client.ask(`${path}?${text('query name')}=${text('query value')}`, { operations: true }));
  }

  // Sends valid and invalid changes of the operator.
  const wanted = { account: text('issued account'), vertical: 'personal-loans', mode: 'live' };
  const issued = JSON.parse((await ok(manage('POST', '/keys', wanted), 201)).text) as { key: string; id: string };
  const issuedKey = issued.key;
  await ok(manage('GET', '/keys'));
  await ok(manage('GET', `/keys/${issued.id}`));
  await ok(manage('DELETE', `/keys/${issued.id}`));
  const origins = [`https://${text('allowed origin')}.example`];
  await ok(manage('POST', '/origins', { account: text('issued account'), origins }));
  await ok(manage('GET', `/origins?account=${text('issued account')}`));
  await ok(
    manage(
      'DELETE',
      `/origins?account=${text('issued account')}&origin=https%3A%2F%2F${text('refused origin')}.example`,
    ),
  );
  const stranger = { ...operator, Authorization: `Bearer ${text('operator credentials')}` };
  for (const refused of [
    manage('POST', '/keys', { ...wanted, account: `${text('refused account')}\n` }),
    manage('POST', '/keys', { ...wanted, vertical: text('refused vertical') }),
    manage('POST', '/keys', { ...wanted, mode: text('refused vertical') }),
    manage('POST', '/keys', { ...wanted, expires: text('refused member') }),
    manage('POST', '/keys', { ...wanted, [text('refused member')]: text('refused member') }),
    manage('POST', '/keys', `{"account":"${text('refused account')}",${text('malformed JSON')}`),
    manage('POST', '/keys', text('wrong content type'), { ...operator, 'Content-Type': 'text/plain' }),
    manage('POST', '/keys', { ...wanted, account: text('refused account') }, stranger),
    manage('GET', '/keys', undefined, stranger),
    manage('GET', `/keys/${text('path')}`),
    manage('DELETE', `/keys/${text('path')}`),
    manage('PUT', `/keys?${text('query name')}=${text('query value')}`),
    manage('POST', '/origins', { account: text('issued account'), origins: [`${text('refused origin')}/a`] }),
    manage('POST', '/origins', {
      account: text('unknown account'),
      origins: [`https://${text('refused origin')}.example`],
    }),
    manage('POST', '/origins', { account: text('issued account'), origins: { [text('refused member')]: 1 } }),
    manage('POST', '/origins', `[${text('malformed JSON')}`),
    manage('POST', '/origins', { account: text('unknown account'), origins }, stranger),
    manage('GET', `/origins?account=${text('unknown account')}&${text('query name')}=${text('query value')}`),
    manage('DELETE', `/origins?account=${text('unknown account')}&origin=${text('refused origin')}`),
  ]) {
    const { status } = await refused;
    assert.ok(status >= 400 && status < 500, `${status}`);
  }
  await client.ask(`/docs/${text('path')}`);
  await client.ask(`/v1/${text('path')}/openapi.json`);

  // Sends requests with every kind of error.
  const wrongFields = Object.fromEntries(Object.keys(fields).map((name) => [name, text('field value')]));
  for (const [operation, body, headers = {}] of [
    ['inputs', { sub_id: subId, fields: { ...wrongFields, [text('field name')]: text('unknown field value') } }],
    [
      'inputs',
      { sub_id: subId, fields: { ...fields, annual_income: numbers['a number out of range'], address_zip: +zip } },
    ],
    [
      'inputs',
      {
        sub_id: subId,
        fields: { birthdate: numbers['birth date as a number'], state: { deep: [text('nested value')] } },
      },
    ],
    ['inputs', { sub_id: text('widget session'), fields }],
    [
      'inputs',
      `{"sub_id":"${subId}","fields":{"annual_income":${numbers.income},"${text('malformed JSON')}":${text('malformed JSON')}`,
    ],
    ['inputs', Buffer.concat([Buffer.from(`"${text('invalid UTF-8')}`), Buffer.from([0xff, 0xfe, 0x22])])],
    ['inputs', { fields, long: text('long body').repeat(bounds.requestBodyBytesMax / 8) }],
    ['inputs', text('wrong content type'), { 'Content-Type': `text/${text('content type itself')}` }],
    ['session', { referrer_tag: `${text('refused tag')}!`, user_agent: [text('refused user agent')] }],
    ['session', { referrer_tag: 'abc', user_agent: text('refused user agent').repeat(200) }],
    ['session', { referrer_tag: 'abc', metadata: { a: { b: text('refused metadata') } } }],
    ['session', { referrer_tag: 'abc' }, { 'Idempotency-Key': `${text('Idempotency-Key')} é` }],
    ['session', { referrer_tag: 'another' }, { 'Idempotency-Key': text('Idempotency-Key') }],
  ] as [string, unknown, Record<string, string>?][]) {
    await post(operation, body, headers);
  }
  for (const credentials of [
    `Bearer svc_pl_live_${text('unknown API key').repeat(5)}`,
    `Bearer ${text('malformed API key')}`,
    `Basic ${text('basic credentials')}`,
  ]) {
    await post('session', { referrer_tag: 'abc' }, { Authorization: credentials });
  }
  await client.ask(`${api}/session?${text('query name')}=${text('query value')}`, { method: 'PUT' });
  await client.ask(`${api}/session?${text('query name')}=${text('query value')}`, {
    method: text('method').toUpperCase().replaceAll(/\d/g, 'Q'),
  });
  await client.ask(`${api}/marketplace?sub_id=${text('query value')}&format=json&${text('query name')}=1`, {
    headers: { ...authorization, [text('header name')]: text('header name') },
  });
  for (const path of [
    `/v1/${text('path')}/session`,
    `${api}/${text('path')}`,
    `${api}/marketplace?sub_id=${subId}&format=${text('query value')}&sort=${text('query value')}`,
    `${api}/analytics?referrer_tag=${text('analytics tag')}!`,
    `${api}/analytics?referrer_tag=abc&granularity=row&cursor=${text('cursor')}`,
    `${api}/analytics?sub_id_list=${text('list of ids')},%zz`,
  ]) {
    await client.ask(path, { headers: authorization });
  }
  for (const path of [
    `/c?sub=${text('click session')}&offer=${text('click offer')}&v=${text('click value')}`,
    `/c?sub=${subId}&offer=${text('click offer')}&v=${text('click value')}`,
    `/w?sub=${subId}&token=${text('widget token')}`,
    `/w/offers?sub=${text('widget session')}&token=${text('widget token')}`,
  ]) {
    await client.ask(path);
  }
  await client.ask(`/w/offers?${link}&load=00000000000000a1`, {
    headers: { Origin: `https://${text('origin')}.example` },
  });
  await client.ask(`/w/events?${link}`, {
    method: 'POST',
    body: `{"load":"${text('widget event')}","events":[${text('widget event')}`,
  });
  await client.ask(`/cdn/${text('logo name')}.svg?v=${text('logo name')}`);
  await manage('POST', '/confirmations', [row], stranger);
  await manage('POST', '/confirmations', `[{"sub_id":"${text('confirmed session')}",`);
  await client.ask(`/${text('path')}`, { operations: true });

  // Triggers bugs whose error messages contain submitted values.
  const faulty = { 'User-Agent': `${text('fault')} with-fault` };
  assert.equal((await client.ask(click.pathname + click.search, { headers: faulty })).status, 500);
  assert.equal((await post('session', { referrer_tag: 'abc', user_agent: `${text('fault')} with-fault` })).status, 500);
  return { subId, token, issuedKey };
}

/** Runs the commands of the operator. Asserts that each command prints only the expected values. */
async function assertOnlyShownByCommands(
  folder: string,
  ports: VerboseServer['ports'],
  subId: string,
  all: ReadonlyMap<string, string | number>,
): Promise<void> {
  const elsewhere = mkdtempSync(join(tmpdir(), 'marketplace-privacy-payouts-'));
  try {
    const file = join(elsewhere, 'payouts.ndjson');
    const first = await runMarketplace(['log', 'inspect', '--count', '1000', '--json'], { SVC_DATA_DIR: folder });
    const click = first.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { kind: string; sub_id: string; offer_id: string })
      .find(({ kind, sub_id }) => kind === 'offer_clicked' && sub_id === subId);
    assert.ok(click !== undefined);
    const row = {
      sub_id: subId,
      svc_offer_id: click.offer_id,
      txid: text('payout of a file'),
      status: 'funded',
      amount: 25,
      occurred_at: new Date().toISOString(),
    };
    const rows = [
      row,
      { ...row, sub_id: text('session of a file'), txid: text('refused payout of a file') },
      { ...row, status: text('refused payout of a file') },
    ];
    writeFileSync(
      file,
      `${rows.map((each) => JSON.stringify(each)).join('\n')}\n${text('refused payout of a file')}\n`,
    );
    const settings = { SVC_DATA_DIR: folder, SVC_OPS_PORT: String(ports.operations) };
    const found: [words: string, shown: string[]][] = [];
    for (const [words] of commands) {
      const args = words
        .replace('FILE', () => file)
        .replace('ACCOUNT', `--account ${text('account')} --tag ${text('tag')}`)
        .split(' ');
      const { code, stdout, stderr } = await runMarketplace(args, settings);
      // Exit code 4 means that some rows were rejected.
      assert.equal(code, words.startsWith('confirm') ? 4 : 0, `${words}: ${stderr}`);
      assert.notEqual(stdout, '', words);
      found.push([words, findTraces(all, Buffer.from(stdout + stderr)).sort()]);
    }
    assert.deepEqual(
      found,
      commands.map(([words, shows]) => [words, [...shows].sort()]),
    );
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

interface LogLine {
  readonly code?: string;
  readonly level: number;
  readonly err?: { readonly type: string };
  readonly leftOut?: Readonly<Record<string, number>>;
}

/** Returns the number of rejected requests in a log line. */
function refusalsIn({ code, leftOut = {} }: LogLine): number {
  const counted = Object.entries(leftOut).filter(([kind]) => /^[A-Z_]+$/.test(kind));
  return counted.reduce((count, [, more]) => count + more, code === undefined ? 0 : 1);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

function assertOnlyKeptInFiles(folder: string, secrets: ReadonlyMap<string, string>): void {
  const found: string[] = [];
  for (const file of filesIn(folder)) {
    const bytes = readFileSync(join(folder, file));
    for (const what of findTraces(submitted, bytes)) {
      if (!mayBeKept.some(([where, names]) => names.includes(what as Place) && where.test(file)))
        found.push(`${what} in ${file}`);
    }
    found.push(...findTraces(secrets, bytes).map((what) => `${what} in ${file}`));
  }
  assert.deepEqual(found, []);
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-privacy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('personal data', () => {
  test('personal data leaves no trace in output, logs, files and error responses', async (t) => {
    const folder = temporaryFolder(t);
    const settings = { SVC_DATA_DIR: folder };
    const wanted = ['--account', text('account'), '--vertical', 'personal-loans', '--mode', 'live', '--raw'];
    const key = (await runMarketplace(['keys', 'create', ...wanted], settings)).stdout.trim();
    const origin = `https://${text('embedding origin')}.example`;
    const allowed = await runMarketplace(['origins', 'allow', '--account', text('account'), origin], settings);
    assert.equal(allowed.code, 0, allowed.stderr);

    const first = await new VerboseServer(folder).serving();
    t.after(() => first.child.kill('SIGKILL'));
    const client = new RecordingClient(first.ports);
    const operatorToken = readOperatorToken(operatorTokenPath(folder));
    const { subId, token, issuedKey } = await driveEveryPath(client, key, operatorToken);
    const metrics = await client.ask('/metrics', { operations: true });

    // A bug outside of a request ends the server. The next server restores all data and is killed.
    const dying = client.ask(`${api}/session`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ referrer_tag: 'abc', user_agent: `${text('crash')} with-crash` }),
    });
    await Promise.allSettled([dying, first.ended]);
    assert.equal(first.child.exitCode, 1);
    const secrets = new Map([
      ['the API key', key],
      ['the widget token', token],
      ['the sub_id as text', subId],
      ['the issued key', issuedKey],
    ]);
    assertOnlyKeptInFiles(folder, secrets);
    const second = await new VerboseServer(folder).serving();
    t.after(() => second.child.kill('SIGKILL'));
    client.ports = second.ports;
    const { issuedKey: anotherKey } = await driveEveryPath(client, key, operatorToken);
    secrets.set('another issued key', anotherKey);
    const all = new Map([...submitted, ...secrets, ['the operator token', operatorToken]]);
    await assertOnlyShownByCommands(folder, second.ports, subId, all);
    second.child.kill('SIGKILL');
    await second.ended;
    const third = await new VerboseServer(folder).serving();
    t.after(() => third.child.kill('SIGKILL'));
    third.child.kill('SIGTERM');
    await third.ended;
    assertOnlyKeptInFiles(folder, secrets);

    // Every value in the list must occur in its file; otherwise the list is too long.
    for (const [where, names] of mayBeKept) {
      const files = filesIn(folder).filter((file) => where.test(file));
      const kept = files.flatMap((file) => findTraces(submitted, readFileSync(join(folder, file))));
      for (const what of names) assert.ok(kept.includes(what), `${what} is stored nowhere: remove it from the list`);
    }

    const printed = first.printed + second.printed + third.printed;
    assert.deepEqual(findTraces(all, Buffer.from(printed)), mayBeLogged, printed);
    assert.deepEqual(findTraces(all, Buffer.from(metrics.text)), []);
    for (const { status, head, text: body } of client.errors) {
      assert.deepEqual(findTraces(all, Buffer.from(head + body)), [], `${status} ${head} ${body}`);
    }

    // All requests must be in the log, because a test without requests would find no traces.
    const lines = printed
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
    const codes = new Set(lines.map(({ code }) => code));
    for (const code of [
      'INVALID_FIELD_VALUE',
      'INVALID_REQUEST',
      'INVALID_REFERRER_TAG',
      'UNAUTHORIZED',
      'ORIGIN_NOT_ALLOWED',
      'SUB_ID_NOT_FOUND',
      'NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'IDEMPOTENCY_MISMATCH',
      'INTERNAL_ERROR',
    ]) {
      assert.ok(codes.has(code), `${code} was not logged`);
    }
    assert.deepEqual(
      lines.filter(({ level }) => level === 60).map(({ err }) => err?.type),
      ['SyntaxError'],
    );
    assert.equal(
      lines.reduce((count, line) => count + refusalsIn(line), 0),
      client.errors.filter(({ text: body }) => body.startsWith('{"error"')).length,
    );
  });
});

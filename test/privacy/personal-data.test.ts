import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { bounds } from '../../src/bounds.ts';
import { listAllowedValues } from '../../src/domain/field-vector.ts';
import type { PocketField, Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { type LogLine, ServedProcess } from '../cli/served-process.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { sampleBorrowers } from '../support/sample-borrowers.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { findTraces } from './traces.ts';

const faults = new URL('programs/faulty.ts', import.meta.url).href;

/** Texts to submit. Each text is used once, so that a trace identifies its source. */
const texts = [
  'tag', 'metadata name', 'metadata value', 'user agent in a body', 'user agent header', 'referer', 'cookie', 'forwarded address',
  'Idempotency-Key', 'unknown API key', 'malformed API key', 'basic credentials', 'field name', 'field value', 'unknown field value',
  'nested value', 'malformed JSON', 'wrong content type', 'content type itself', 'long body', 'invalid UTF-8', 'path', 'query name', 'query value', 'method',
  'header name', 'click session', 'click offer', 'click value', 'widget session', 'widget token', 'widget event', 'logo name', 'origin',
  'payout', 'refused payout', 'confirmed session', 'refused tag', 'refused user agent', 'refused metadata', 'unit id', 'refused unit id', 'analytics tag', 'cursor', 'list of ids',
  'account', 'embedding origin', 'fault', 'crash', 'operator credentials', 'issued account', 'refused account', 'refused vertical', 'refused member',
  'console key', 'console token', 'console cookie', 'console body', 'allowed origin', 'refused origin', 'unknown account', 'payout of a file', 'refused payout of a file', 'session of a file',
] as const; // biome-ignore format: a list of words
type Place = (typeof texts)[number];

const text = (place: Place): string => `zq7x${String(texts.indexOf(place)).padStart(3, '0')}x`;

/** Numbers to submit for the borrower, by pocket field, which a search can recognize in any encoding. */
const numbers = {
  loan_amount: 73_429,
  annual_income: 7_318_529,
  monthly_debt_payments: 641_973,
  transfer_amount: 71_863,
  monthly_spend: 93_517,
  carried_balance: 83_621,
  property_value: 612_549,
  down_payment: 212_347,
  mortgage_balance: 312_873,
  cash_out_amount: 84_779,
  deposit_amount: 2_917_463,
  investable_assets: 1_873_649,
} as const;
const birthdateAsNumber = 19_570_311;
const outOfRangeNumber = 4_123_987_651;
const birthdate = '1957-03-11';
const zip = '90317';

const submitted = new Map<string, string | number>([
  ...texts.map((place): [string, string] => [place, text(place)]),
  ...Object.entries(numbers),
  ['birth date as a number', birthdateAsNumber],
  ['a number out of range', outOfRangeNumber],
  ['birth date', birthdate],
  ['zip', zip],
]);

/** Values that may be stored, by the names of the files. All other values must leave no trace. */
const mayBeKept: readonly (readonly [where: RegExp, what: readonly Place[]])[] = [
  // Figures are by tag, rows of analytics return the metadata, and the name of a payout identifies a repeated payout.
  [/^(ledger\/|analytics\.sqlite)/, ['tag', 'metadata name', 'metadata value', 'payout', 'payout of a file']],
  // The operator wrote these names.
  [/^(keys|audit)\.sqlite/, ['account', 'issued account', 'embedding origin', 'allowed origin']],
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
  ['tags TENANT', ['tag']],
  ['tags TENANT --json', ['tag']],
  ['keys list', ['account', 'issued account']],
  ['keys list --json', ['account', 'issued account']],
  ['audit list --limit 1000', ['account', 'issued account', 'embedding origin', 'allowed origin']],
  ['audit verify', []],
  ['origins list --json', ['account', 'issued account', 'embedding origin', 'allowed origin']],
  ['check-config', []],
];

/** Starts a server with the bugs of `faulty.ts` and the most verbose log level. Appends all output to `printed`. */
async function serveVerbosely(t: TestContext, dataDir: string, printed: string[]) {
  const served = new ServedProcess(t, {
    ...{ SVC_DATA_DIR: dataDir, SVC_MATCHER_THREADS: '1', SVC_LOG_LEVEL: 'trace', SVC_LISTENER: 'uws' },
    NODE_OPTIONS: `--import ${faults}`,
  });
  for (const output of [served.child.stdout!, served.child.stderr!])
    output.on('data', (text) => printed.push(`${text}`));
  return { served, ports: await served.ports() };
}

type Ports = Awaited<ReturnType<ServedProcess['ports']>>;

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
  ports: Ports;

  constructor(ports: Ports) {
    this.ports = ports;
  }

  async ask(
    path: string,
    { method = 'GET', headers = {}, body, operations = false }: RecordedRequest = {},
  ): Promise<RecordedResponse> {
    // The OpenAPI document, which `ServiceConnection` checks, contains neither the operations API nor the console.
    const isDocumented = !operations && !path.startsWith('/console');
    const connection = isDocumented
      ? await ServiceConnection.open(this.ports.public)
      : await RawConnection.open(operations ? this.ports.operations : this.ports.public);
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

/** Returns a value for every pocket field of a vertical, with recognizable numbers and digits. */
function visitorOf({ segment, fields }: Vertical): Fields {
  const valueFor = (field: PocketField): unknown => {
    if (field.kind === 'integer')
      return numbers[field.name as keyof typeof numbers] ?? assert.fail(`no number for ${field.name}`);
    if (field.kind === 'birthdate') return birthdate;
    if (field.kind === 'digits') return zip;
    return sampleBorrowers[segment]![field.name] ?? listAllowedValues(field)[0];
  };
  return Object.fromEntries(fields.map((field) => [field.name, valueFor(field)]));
}

/** Sends a visitor through every operation of the other verticals, with valid and invalid fields. */
async function driveSiblingVerticals(client: RecordingClient, operatorToken: string): Promise<string[]> {
  const keys: string[] = [];
  for (const sibling of builtInVerticals.verticals) {
    if (sibling === personalLoans) continue;
    const { segment: vertical } = sibling;
    const fields = visitorOf(sibling);
    const issued = await client.ask('/keys', {
      operations: true,
      method: 'POST',
      headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ account: text('account'), vertical, mode: 'live' }),
    });
    const { key } = JSON.parse(issued.text) as { key: string };
    keys.push(key);
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const post = (operation: string, body: object) =>
      client.ask(`/v1/${vertical}/${operation}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const { text: created } = await post('session', { referrer_tag: text('tag') });
    const { sub_id } = JSON.parse(created) as { sub_id: string };
    const inputs = await post('inputs', { sub_id, fields });
    assert.equal(inputs.status, 200, inputs.text);
    const shown = await client.ask(`/v1/${vertical}/marketplace?sub_id=${sub_id}&format=json`, { headers });
    const { offers } = JSON.parse(shown.text) as { offers: readonly { click_url: string }[] };
    const click = new URL(offers[0]?.click_url ?? assert.fail(`no offers of ${vertical}`));
    assert.equal((await client.ask(click.pathname + click.search)).status, 302);
    for (const wrong of Object.keys(fields)) {
      const refused = await post('inputs', { sub_id, fields: { ...fields, [wrong]: text('field value') } });
      assert.equal(refused.status, 400, refused.text);
    }
    const impossible = { property_value: numbers.property_value, down_payment: numbers.property_value };
    await post('inputs', { sub_id, fields: impossible });
  }
  return keys;
}

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
  const read = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    client.ask(`${api}/${path}`, { headers: { ...authorization, ...headers } });
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
        unit_id: text('unit id'),
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
  const fields = visitorOf(personalLoans);
  await ok(post('inputs', { sub_id: subId, fields }));
  for (const sort of ['recommended', 'svc_revenue']) {
    await ok(read(`marketplace?sub_id=${subId}&format=json&sort=${sort}`));
  }
  const { text: shown } = await read(`marketplace?sub_id=${subId}&format=json`);
  const offers = JSON.parse(shown) as { offers: { click_url: string }[] };
  const click = new URL(offers.offers[0]?.click_url ?? assert.fail('no offers'));
  await ok(client.ask(click.pathname + click.search, { headers: { 'User-Agent': text('user agent header') } }), 302);
  const widget = await ok(read(`marketplace?sub_id=${subId}&format=js`, { Accept: 'application/json' }));
  const { token } = JSON.parse(widget.text) as { token: string };
  const link = `sub=${subId}&token=${token}`;
  await ok(client.ask(`/w?${link}`));
  const own = { Origin: `http://127.0.0.1:${client.ports.public}` };
  await ok(client.ask(`/w/offers?${link}&load=00000000000000a1`, { headers: own }));
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
  const consoleHeaders = {
    'Content-Type': 'application/json',
    'Sec-Fetch-Site': 'same-origin',
    Cookie: `svc_console=${text('console cookie').padEnd(43, 'c')}`,
  };
  const login = '/console/api/login';
  for (const body of [{ key: text('console key') }, { key: [text('console body')] }, { [text('console body')]: key }]) {
    await client.ask(login, { method: 'POST', headers: consoleHeaders, body: JSON.stringify(body) });
  }
  await manage('POST', login, { token: text('console token') }, consoleHeaders);
  await ok(client.ask(login, { headers: consoleHeaders }), 401);
  await ok(client.ask(login, { method: 'POST', headers: consoleHeaders, body: JSON.stringify({ key }) }));
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
  const tagged = `referrer_tag=${text('tag')}`;
  for (const query of [tagged, `${tagged}&granularity=row`, `sub_id_list=${subId}`])
    await ok(read(`analytics?${query}`));

  const query = `${text('query name')}=${text('query value')}`;
  await ok(client.ask(`/docs?${query}`));
  await ok(client.ask(`${api}/openapi.json?${query}`));
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    await ok(client.ask(`${path}?${query}`, { operations: true }));
  }

  // Sends valid and invalid changes of the operator.
  const account = text('issued account');
  const wanted = { account, vertical: 'personal-loans', mode: 'live' };
  const issued = JSON.parse((await ok(manage('POST', '/keys', wanted), 201)).text) as { key: string; id: string };
  const issuedKey = issued.key;
  await ok(manage('GET', '/keys'));
  await ok(manage('GET', `/keys/${issued.id}`));
  await ok(manage('DELETE', `/keys/${issued.id}`));
  const origins = [`https://${text('allowed origin')}.example`];
  const refusedOrigin = `https://${text('refused origin')}.example`;
  await ok(manage('POST', '/origins', { account, origins }));
  await ok(manage('GET', `/origins?account=${account}`));
  await ok(manage('DELETE', `/origins?account=${account}&origin=${encodeURIComponent(refusedOrigin)}`));
  const stranger = { ...operator, Authorization: `Bearer ${text('operator credentials')}` };
  const unknown = text('unknown account');
  const refusedMember = text('refused member');
  for (const refused of [
    ...[
      { account: `${text('refused account')}\n` },
      ...[{ vertical: text('refused vertical') }, { mode: text('refused vertical') }, { expires: refusedMember }],
      { [refusedMember]: refusedMember },
    ].map((change) => manage('POST', '/keys', { ...wanted, ...change })),
    manage('POST', '/keys', `{"account":"${text('refused account')}",${text('malformed JSON')}`),
    manage('POST', '/keys', text('wrong content type'), { ...operator, 'Content-Type': 'text/plain' }),
    manage('POST', '/keys', { ...wanted, account: text('refused account') }, stranger),
    manage('GET', '/keys', undefined, stranger),
    manage('GET', `/keys/${text('path')}`),
    manage('DELETE', `/keys/${text('path')}`),
    manage('PUT', `/keys?${query}`),
    manage('POST', '/origins', { account, origins: [`${text('refused origin')}/a`] }),
    manage('POST', '/origins', { account: unknown, origins: [refusedOrigin] }),
    manage('POST', '/origins', { account, origins: { [refusedMember]: 1 } }),
    manage('POST', '/origins', `[${text('malformed JSON')}`),
    manage('POST', '/origins', { account: unknown, origins }, stranger),
    manage('GET', `/origins?account=${unknown}&${query}`),
    manage('DELETE', `/origins?account=${unknown}&origin=${text('refused origin')}`),
  ]) {
    const { status } = await refused;
    assert.ok(status >= 400 && status < 500, `${status}`);
  }
  await client.ask(`/docs/${text('path')}`);
  await client.ask(`/v1/${text('path')}/openapi.json`);

  // Sends requests with every kind of error.
  const wrongFields = Object.fromEntries(Object.keys(fields).map((name) => [name, text('field value')]));
  const outOfRange = { annual_income: outOfRangeNumber, address_zip: +zip };
  const ofOtherTypes = { birthdate: birthdateAsNumber, state: { deep: [text('nested value')] } };
  const cutOff = `"annual_income":${numbers.annual_income},"${text('malformed JSON')}":${text('malformed JSON')}`;
  for (const [operation, body, headers = {}] of [
    ['inputs', { sub_id: subId, fields: { ...wrongFields, [text('field name')]: text('unknown field value') } }],
    ['inputs', { sub_id: subId, fields: { ...fields, ...outOfRange } }],
    ['inputs', { sub_id: subId, fields: ofOtherTypes }],
    ['inputs', { sub_id: text('widget session'), fields }],
    ['inputs', `{"sub_id":"${subId}","fields":{${cutOff}`],
    ['inputs', Buffer.concat([Buffer.from(`"${text('invalid UTF-8')}`), Buffer.from([0xff, 0xfe, 0x22])])],
    ['inputs', { fields, long: text('long body').repeat(bounds.requestBodyBytesMax / 8) }],
    ['inputs', text('wrong content type'), { 'Content-Type': `text/${text('content type itself')}` }],
    ['session', { referrer_tag: `${text('refused tag')}!`, user_agent: [text('refused user agent')] }],
    ['session', { referrer_tag: 'abc', user_agent: text('refused user agent').repeat(200) }],
    ['session', { referrer_tag: 'abc', metadata: { a: { b: text('refused metadata') } } }],
    ['session', { referrer_tag: 'abc', unit_id: `${text('refused unit id')} ` }],
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
  for (const method of ['PUT', text('method').toUpperCase().replaceAll(/\d/g, 'Q')]) {
    await client.ask(`${api}/session?${query}`, { method });
  }
  const named = { [text('header name')]: text('header name') };
  await read(`marketplace?sub_id=${text('query value')}&format=json&${text('query name')}=1`, named);
  for (const path of [
    text('path'),
    `marketplace?sub_id=${subId}&format=${text('query value')}&sort=${text('query value')}`,
    `analytics?referrer_tag=${text('analytics tag')}!`,
    `analytics?referrer_tag=abc&granularity=row&cursor=${text('cursor')}`,
    `analytics?sub_id_list=${text('list of ids')},%zz`,
  ]) {
    await read(path);
  }
  await client.ask(`/v1/${text('path')}/session`, { headers: authorization });
  for (const path of [
    `/c?sub=${text('click session')}&offer=${text('click offer')}&v=${text('click value')}`,
    `/c?sub=${subId}&offer=${text('click offer')}&v=${text('click value')}`,
    `/w?sub=${subId}&token=${text('widget token')}`,
    `/w/offers?sub=${text('widget session')}&token=${text('widget token')}`,
  ]) {
    await client.ask(path);
  }
  const foreign = { Origin: `https://${text('origin')}.example` };
  await client.ask(`/w/offers?${link}&load=00000000000000a1`, { headers: foreign });
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
  t: TestContext,
  folder: string,
  ports: Ports,
  subId: string,
  all: ReadonlyMap<string, string | number>,
): Promise<void> {
  const file = join(temporaryFolder(t), 'payouts.ndjson');
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
  writeFileSync(file, `${rows.map((each) => JSON.stringify(each)).join('\n')}\n${text('refused payout of a file')}\n`);
  const settings = { SVC_DATA_DIR: folder, SVC_OPS_PORT: String(ports.operations) };
  const found: [words: string, shown: string[]][] = [];
  for (const [words] of commands) {
    const args = words
      .replace('FILE', () => file)
      .replace('TENANT', `--account ${text('account')}`)
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
}

/** Returns the number of rejected requests in a log line. */
function refusalsIn({ code, leftOut }: LogLine): number {
  const counted = Object.entries((leftOut ?? {}) as Record<string, number>).filter(([kind]) => /^[A-Z_]+$/.test(kind));
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

test('personal data leaves no trace in output, logs, files and error responses', async (t) => {
  const folder = temporaryFolder(t);
  const printed: string[] = [];
  const settings = { SVC_DATA_DIR: folder };
  const wanted = ['--account', text('account'), '--vertical', 'personal-loans', '--mode', 'live', '--raw'];
  const key = (await runMarketplace(['keys', 'create', ...wanted], settings)).stdout.trim();
  const origin = `https://${text('embedding origin')}.example`;
  const allowed = await runMarketplace(['origins', 'allow', '--account', text('account'), origin], settings);
  assert.equal(allowed.code, 0, allowed.stderr);

  const first = await serveVerbosely(t, folder, printed);
  const client = new RecordingClient(first.ports);
  const operatorToken = readOperatorToken(operatorTokenPath(folder));
  const { subId, token, issuedKey } = await driveEveryPath(client, key, operatorToken);
  const siblingKeys = await driveSiblingVerticals(client, operatorToken);
  const metrics = await client.ask('/metrics', { operations: true });

  // A bug outside of a request ends the server. The next server restores all data and is killed.
  const dying = client.ask(`${api}/session`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ referrer_tag: 'abc', user_agent: `${text('crash')} with-crash` }),
  });
  await Promise.allSettled([dying, first.served.ended]);
  assert.equal(first.served.child.exitCode, 1);
  const secrets = new Map([
    ['the API key', key],
    ['the widget token', token],
    ['the sub_id as text', subId],
    ['the issued key', issuedKey],
    ...siblingKeys.map((siblingKey): [string, string] => [`key ${siblingKey.slice(0, 7)}`, siblingKey]),
  ]);
  assertOnlyKeptInFiles(folder, secrets);
  const second = await serveVerbosely(t, folder, printed);
  client.ports = second.ports;
  const { issuedKey: anotherKey } = await driveEveryPath(client, key, operatorToken);
  secrets.set('another issued key', anotherKey);
  const all = new Map([...submitted, ...secrets, ['the operator token', operatorToken]]);
  await assertOnlyShownByCommands(t, folder, second.ports, subId, all);
  second.served.signal('SIGKILL');
  await second.served.ended;
  const third = await serveVerbosely(t, folder, printed);
  await third.served.stop();
  assertOnlyKeptInFiles(folder, secrets);

  // Every value in the list must occur in its file; otherwise the list is too long.
  for (const [where, names] of mayBeKept) {
    const files = filesIn(folder).filter((file) => where.test(file));
    const kept = files.flatMap((file) => findTraces(submitted, readFileSync(join(folder, file))));
    for (const what of names) assert.ok(kept.includes(what), `${what} is stored nowhere: remove it from the list`);
  }

  const output = printed.join('');
  assert.deepEqual(findTraces(all, Buffer.from(output)), mayBeLogged, output);
  assert.deepEqual(findTraces(all, Buffer.from(metrics.text)), []);
  for (const { status, head, text: body } of client.errors) {
    assert.deepEqual(findTraces(all, Buffer.from(head + body)), [], `${status} ${head} ${body}`);
  }

  // All requests must be in the log, because a test without requests would find no traces.
  const lines = [first, second, third].flatMap(({ served }) => served.log);
  const codes = new Set(lines.map(({ code }) => code));
  const expectedCodes =
    'INVALID_FIELD_VALUE INVALID_REQUEST INVALID_REFERRER_TAG UNAUTHORIZED ORIGIN_NOT_ALLOWED SUB_ID_NOT_FOUND NOT_FOUND ' +
    'METHOD_NOT_ALLOWED PAYLOAD_TOO_LARGE UNSUPPORTED_MEDIA_TYPE IDEMPOTENCY_MISMATCH INTERNAL_ERROR';
  for (const code of expectedCodes.split(' ')) {
    assert.ok(codes.has(code), `${code} was not logged`);
  }
  assert.deepEqual(
    lines.filter(({ level }) => level === 60).map(({ err }) => (err as { type: string }).type),
    ['SyntaxError'],
  );
  assert.equal(
    lines.reduce((count, line) => count + refusalsIn(line), 0),
    client.errors.filter(({ text: body }) => body.startsWith('{"error"')).length,
  );
});

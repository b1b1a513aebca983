import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  createMarketplace,
  FolderInUseError,
  InvalidCatalogError,
  InvalidCertificateError,
  type Marketplace,
  type MarketplaceOptions,
  type MarketplaceQuery,
  type PartnerApi,
  type PartnerApiResult,
  personalLoans,
} from '../../src/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { newKey, ok, refusal, startEmbedded } from './embedded-marketplace.ts';

const exampleCatalog = fileURLToPath(
  new URL('../../src/verticals/personal-loans/example-catalog.json', import.meta.url),
);

let folder: string;
let marketplace: Marketplace;
const urls = { click: 'https://go.example.com/', public: 'https://api.example.com/loans/' };
before(async () => {
  folder = temporaryFolder();
  marketplace = await createMarketplace({ dataDir: folder, durability: 'write', urls });
});
after(() => marketplace.close());

/** Returns the API for a new key with this daily session limit. */
function partnerWith(sessionsPerDay = 1_000): PartnerApi {
  return marketplace.partnerApi(marketplace.keys.create({ ...newKey, limits: { sessionsPerDay } }).key);
}

const wrongOptions: readonly (readonly [name: string, options: Partial<MarketplaceOptions>])[] = [
  ['matcherThreads', { matcherThreads: -1 }],
  ['matcherThreads', { matcherThreads: 257 }],
  ['maxSessions', { maxSessions: 0 }],
  ['maxReferrerTags', { maxReferrerTags: 1_000_001 }],
  ['confirmationGraceDays', { confirmationGraceDays: 46 }],
  ['maxSessions', { maxSessions: Number.NaN }],
  ['sessionTtlMs', { sessionTtlMs: 0.5 }],
  ['sessionTtlMs', { sessionTtlMs: 4 * 60 * 60 * 1000 + 1 }],
  ['limits.requestsPerMinute', { limits: { requestsPerMinute: 1_000_001 } }],
  ['limits.analyticsPerMinute', { limits: { analyticsPerMinute: '50' as never } }],
  ['limits.sessionsPerDay', { limits: { sessionsPerDay: 0 } }],
  ['durability', { durability: 'none' as never }],
  ['catalogs', { catalogs: [] }],
  ['catalogs', { catalogs: [{ vertical: personalLoans, mode: 'live', text: '{}' }] }],
  ['urls.click', { urls: { click: 'go.example.com' } }],
  ['urls.click', { urls: { click: 'https://go.example.com/?to=' } }],
  ['urls.click', { urls: undefined as never }],
  ['urls.click', { urls: {} }],
  ['urls.click', { urls: { public: 'https://api.example.com' }, listen: false }],
  [
    'logger',
    { logger: Object.assign(Object.create(console), { fatal: console.error, child: () => console }) as never },
  ],
  ['logger', { logger: 'info' as never }],
  ['logger', { logger: null as never }],
  ['clock', { clock: Date as never }],
  ['clock', { clock: { wallMs: Date.now } as never }],
  ['urls.public', { urls: { public: 'ftp://go.example.com' } }],
  ['urls.cdn', { urls: { cdn: 5 as never } }],
  ['corsOrigins', { corsOrigins: ['https://www.example.com/'] }],
  ['corsOrigins', { corsOrigins: 'https://www.example.com' as never }],
  ['listen.port', { listen: { port: 65_536 } }],
  ['listen.operationsPort', { listen: { operationsPort: -1 } }],
  ['listen.operationsAllowedHosts', { listen: { operationsAllowedHosts: ['ops.internal:9090'] } }],
  ['listen.operationsAllowedHosts', { listen: { operationsAllowedHosts: 'ops.internal' as never } }],
  ['listen.engine', { listen: { engine: 'apache' as never } }],
];

test('createMarketplace rejects an invalid option before creating files, and names the option', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  for (const [name, options] of wrongOptions) {
    const isNamed = (error: unknown) => error instanceof RangeError && error.message.startsWith(`${name} must `);
    await assert.rejects(createMarketplace({ dataDir, urls, ...options }), isNamed, JSON.stringify(options));
  }
  assert.equal(existsSync(dataDir), false);
});

test('createMarketplace rejects an invalid vertical before creating files', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const fields = [...personalLoans.fields, { name: 'phone', kind: 'digits', length: 10 } as const];
  const catalogs = [{ vertical: { ...personalLoans, fields }, mode: 'live', text: '{}' }] as const;
  const message = /^vertical personal-loans: values of phone must be /;
  await assert.rejects(createMarketplace({ dataDir, urls, catalogs }), { name: 'RangeError', message });
  assert.equal(existsSync(dataDir), false);
});

const misnamed: readonly (readonly [message: string, options: unknown])[] = [
  ['the argument of createMarketplace must be an object', undefined],
  ['dataDir must be the path of a file or folder', {}],
  ['dataDir must be the path of a file or folder', { dataDir: 5 }],
  ['unknown option datadir; did you mean dataDir?', { datadir: '/secret/folder' }],
  ['secretFile must be the path of a file or folder', { dataDir: '/secret/folder', secretFile: null }],
  ['limits must be an object', { dataDir: '/secret/folder', limits: 5 }],
  ['listen must be an object', { dataDir: '/secret/folder', listen: true }],
  ['unknown option listen.prot; did you mean listen.port?', { dataDir: '/secret/folder', listen: { prot: 1 } }],
  [
    'listen.tls.keyFile must be the path of a file or folder',
    { dataDir: '/secret/folder', listen: { tls: { certificateFile: '/secret/file' } } },
  ],
  [
    'unknown option listen.tls.cert; the options are listen.tls.certificateFile, listen.tls.keyFile, listen.tls.minVersion',
    { dataDir: '/secret/folder', listen: { tls: { cert: '/secret/file' } } },
  ],
  ['unknown option urls.clicks; did you mean urls.click?', { dataDir: '/secret/folder', urls: { clicks: '' } }],
  [
    'unknown option a\\u000ab; the options are dataDir, secretFile, listen, urls, catalogs, matcherThreads, durability, retentionDays, maxSessions, maxReferrerTags, sessionTtlMs, confirmationGraceDays, limits, corsOrigins, testClock, logger, clock',
    { 'a\nb': 1 },
  ],
];

test('createMarketplace rejects a misspelled option or an option of the wrong type with a readable message', async () => {
  for (const [message, options] of misnamed) {
    await assert.rejects(createMarketplace(options as never), { name: 'RangeError', message });
  }
  assert.equal(existsSync('/secret'), false);
});

test('keys.create creates no key if an option is misspelled, or if the expiry or a limit is invalid', () => {
  const { keys } = marketplace;
  const before = keys.list();
  for (const [options, message] of [
    [{ expiresAT: new Date('2999-01-01') }, 'unknown option expiresAT; did you mean expiresAt?'],
    [{ limits: { sessionPerDay: 1 } }, 'unknown option limits.sessionPerDay; did you mean limits.sessionsPerDay?'],
  ] as const) {
    assert.throws(() => keys.create({ ...newKey, ...(options as object) }), { name: 'RangeError', message });
  }
  const message = 'the argument of keys.create must be an object';
  assert.throws(() => keys.create(undefined as never), { name: 'RangeError', message });
  for (const options of [
    { expiresAt: new Date('garbage') },
    { expiresAt: new Date(0) },
    { scope: 'read' as never },
    { scope: null as never },
    { expiresAt: '2999-12-31' as never },
    { limits: { requestsPerMinute: 0 } },
    { limits: { analyticsPerMinute: 1_000_001 } },
    { limits: { sessionsPerDay: Number.POSITIVE_INFINITY } },
  ]) {
    assert.throws(() => keys.create({ ...newKey, ...options }), RangeError);
  }
  assert.deepEqual(keys.list(), before);
});

test('URLs have no trailing slash, and those that are not configured start with the public URL or the click URL', async (t) => {
  assert.equal(marketplace.urls.click, 'https://go.example.com');
  assert.equal(marketplace.urls.cdn, 'https://api.example.com/loans/cdn');
  const { urls: derived } = await startEmbedded(t, { urls: { click: 'https://go.example.com/lenders/' } });
  const base = 'https://go.example.com/lenders';
  assert.deepEqual(derived, { public: base, click: base, widget: `${base}/w`, cdn: `${base}/cdn` });
});

test('a program without a listener can serve the logos, and getWidget rejects', async () => {
  const partner = partnerWith();
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'logos' }));
  ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id }));
  const { svg, headers } = marketplace.findLogo(offers[0]!.logo_url)!;
  assert.match(Buffer.from(svg).toString(), /<svg/);
  assert.equal(headers['Content-Type'], 'image/svg+xml');
  for (const url of ['', '/cdn/', '/cdn/other.svg', 'http://[', new URL('https://go.example.com/cdn/other.svg')]) {
    assert.equal(marketplace.findLogo(url), null);
  }
  await assert.rejects(partner.getWidget({ sub_id, format: 'iframe' }), /^Error: getWidget needs the option listen/);
});

test('a program without a listener can serve the landing pages of sandbox and example clicks', async () => {
  for (const mode of ['test', 'live'] as const) {
    const { key } = marketplace.keys.create({ account: 'landing', vertical: 'personal-loans', mode });
    const partner = marketplace.partnerApi(key);
    const { sub_id } = ok(await partner.createSession({ referrer_tag: 'landing' }));
    ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
    const [offer] = ok(await partner.getMarketplace({ sub_id })).offers;
    assert.equal(marketplace.findLandingPage(offer!.click_url), null);
    const click = await marketplace.followClick(offer!.click_url);
    assert.ok(click.kind === 'redirect');
    const { html, headers } = marketplace.findLandingPage(click.location)!;
    assert.ok(html.includes(`<strong>${offer!.lender_name}</strong>, offer <code>${offer!.svc_offer_id}</code>`), html);
    assert.equal(headers['Content-Type'], 'text/html; charset=utf-8');
    assert.match(headers['Content-Security-Policy']!, /^default-src 'none'/);
    const { pathname, search } = new URL(click.location);
    assert.deepEqual(marketplace.findLandingPage(`/base${pathname}${search}`), { html, headers });
  }
  assert.match(marketplace.findLandingPage('/c/sandbox')!.html, /Sandbox landing page/);
  for (const url of ['', '/', '/c', '/c/', '/c/other', 'http://[', new URL('https://go.example.com/sandbox')]) {
    assert.equal(marketplace.findLandingPage(url), null);
  }
});

test('partnerApi derives the vertical from the key; a key of another vertical gets 403, and an unknown vertical throws', async () => {
  const verticals = ['personal-loans', 'credit-cards', 'mortgage', 'banking', 'find-advisor'];
  for (const [at, vertical] of verticals.entries()) {
    for (const mode of ['live', 'test'] as const) {
      const { key } = marketplace.keys.create({ account: 'verticals', vertical, mode });
      ok(await marketplace.partnerApi(key).createSession({ referrer_tag: 'verticals' }));
      const other = marketplace.partnerApi(key, verticals[(at + 1) % verticals.length]);
      assert.equal(refusal(await other.createSession({ referrer_tag: 'verticals' })).error, 'VERTICAL_MISMATCH');
      assert.throws(() => marketplace.partnerApi(key, 'boat-loans'), RangeError);
    }
  }
  for (const key of ['', 'svc_xx_live_1', 'svc_pl_live_1', none, nothing, 5 as never]) {
    const answer = await marketplace.partnerApi(key).createSession({ referrer_tag: 'verticals' });
    assert.equal(refusal(answer).error, 'UNAUTHORIZED');
  }
});

test('createMarketplace throws a different error class for each cause of a failed start', async (t) => {
  await assert.rejects(createMarketplace({ dataDir: folder, urls }), FolderInUseError);
  assert.ok((await partnerWith().createSession({ referrer_tag: 'locked' })).ok);
  const sound = { vertical: personalLoans, mode: 'live', file: exampleCatalog } as const;
  const faulty = { vertical: personalLoans, mode: 'test', text: '{' } as const;
  await assert.rejects(
    createMarketplace({ dataDir: temporaryFolder(t), urls, catalogs: [sound, faulty] }),
    (fault: unknown) => {
      assert.ok(fault instanceof InvalidCatalogError);
      assert.match(fault.message, /^the test catalog of personal-loans cannot be used:\ncatalog: is not JSON/);
      return fault.errors.length === 1;
    },
  );
  const tls = { certificateFile: exampleCatalog, keyFile: exampleCatalog };
  await assert.rejects(createMarketplace({ dataDir: temporaryFolder(t), listen: { tls } }), InvalidCertificateError);
});

type Call = (partner: PartnerApi, subId: string) => Promise<PartnerApiResult<unknown>>;
const none = undefined as never;
const nothing = null as never;

const wrongArguments: readonly (readonly [param: string, call: Call])[] = [
  ['body', (partner) => partner.createSession(none)],
  ['body', (partner) => partner.createSession(nothing)],
  ['body', (partner) => partner.createSession('visits' as never)],
  ['user_agent', (partner) => partner.createSession({ referrer_tag: 'abc', user_agent: 5 as never })],
  ['metadata', (partner) => partner.createSession({ referrer_tag: 'abc', metadata: { big: 1n as never } })],
  ['unit_id', (partner) => partner.createSession({ referrer_tag: 'abc', unit_id: 5 as never })],
  ['Idempotency-Key', (partner) => partner.createSession({ referrer_tag: 'abc' }, { idempotencyKey: 5 as never })],
  [
    'Idempotency-Key',
    (partner) => partner.createSession({ referrer_tag: 'abc' }, { idempotencyKey: ['abc'] as never }),
  ],
  ['body', (partner) => partner.submitInputs(none)],
  ['body', (partner) => partner.submitInputs(nothing)],
  ['sub_id', (partner) => partner.submitInputs({ sub_id: 5 as never, fields: {} })],
  ['fields', (partner, sub_id) => partner.submitInputs({ sub_id, fields: nothing })],
  ['sub_id', (partner) => partner.getMarketplace(none)],
  ['sub_id', (partner) => partner.getMarketplace(nothing)],
  ['sub_id', (partner) => partner.getMarketplace({ sub_id: 5 as never })],
  ['sub_id', (partner) => partner.getMarketplace({ sub_id: {} as never })],
  ['max_offers', (partner, sub_id) => partner.getMarketplace({ sub_id, max_offers: Symbol('3') as never })],
  ['max_offers', (partner, sub_id) => partner.getMarketplace({ sub_id, max_offers: Object.create(null) as never })],
  ['sort', (partner, sub_id) => partner.getMarketplace({ sub_id, sort: nothing })],
  ['format', (partner, sub_id) => partner.getMarketplace({ sub_id, format: 'iframe' } as object as MarketplaceQuery)],
  ['format', (partner, sub_id) => partner.getMarketplace({ sub_id, format: 'xml' } as object as MarketplaceQuery)],
  ['format', (partner, sub_id) => partner.getMarketplace({ sub_id, format: nothing } as object as MarketplaceQuery)],
  ['explain', (partner, sub_id) => partner.getMarketplace({ sub_id, explain: 'true' as never })],
  ['referrer_tag', (partner) => partner.queryAnalytics(none)],
  ['referrer_tag', (partner) => partner.queryAnalytics(nothing)],
  ['sub_id_list', (partner, id) => partner.queryAnalytics({ sub_id_list: id as never })],
  ['sub_id_list', (partner) => partner.queryAnalytics({ sub_id_list: [Symbol('a') as never] })],
  ['sub_id_list', (partner) => partner.queryAnalytics({ sub_id_list: [] })],
  ['date_from', (partner) => partner.queryAnalytics({ referrer_tag: 'abc', date_from: new Date(0) as never })],
  ['date_to', (partner) => partner.queryAnalytics({ referrer_tag: 'abc', date_to: 5 as never })],
  ['limit', (partner) => partner.queryAnalytics({ referrer_tag: 'abc', granularity: 'row', limit: '5' as never })],
  ['limit', (partner) => partner.queryAnalytics({ referrer_tag: 'abc', granularity: 'row', limit: 0.5 })],
  ['limit', (partner) => partner.listTags({ limit: '5' as never })],
  ['limit', (partner) => partner.listTags({ limit: 101 })],
  ['cursor', (partner) => partner.listTags({ cursor: 'x' })],
  ['cursor', (partner) => partner.queryAnalytics({ referrer_tag: 'abc', granularity: 'daily', cursor: nothing })],
];

test('an argument of the wrong type causes an error result that names the argument, and causes no exception', async () => {
  const partner = partnerWith();
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'arguments' }));
  for (const [param, call] of wrongArguments) {
    const { status, error, param: named } = refusal(await call(partner, sub_id));
    assert.deepEqual([status, error, named], [400, 'INVALID_REQUEST', param], String(call));
  }
  assert.equal(refusal(await partner.queryAnalytics({ referrer_tag: 5 as never })).error, 'INVALID_REFERRER_TAG');
});

test('confirmations.submit returns an error for an invalid batch', async () => {
  const submit = marketplace.confirmations.submit as (rows: unknown) => Promise<PartnerApiResult<unknown>>;
  for (const rows of [undefined, Array.from({ length: 501 }, () => null)]) {
    const { status, error, param } = refusal(await submit(rows));
    assert.deepEqual([status, error, param], [400, 'INVALID_REQUEST', 'body']);
  }
  for (const rows of [null, 'text', [[]], [Symbol('row')]]) ok(await submit(rows));
});

test('createSession does not count a rejected call against the daily limit', async () => {
  const partner = partnerWith(1);
  const misspelt = { idempotency_key: 'one' } as object;
  const message = 'unknown option idempotency_key; did you mean idempotencyKey?';
  for (let tries = 0; tries < 3; tries++) {
    await partner.createSession(nothing);
    await partner.createSession({ referrer_tag: 'abc' }, { idempotencyKey: 5 as never });
    await assert.rejects(partner.createSession({ referrer_tag: 'abc' }, misspelt), { name: 'RangeError', message });
  }
  assert.ok((await partner.createSession({ referrer_tag: 'abc' })).ok);
});

test('createSession creates a new session at each call without an idempotencyKey', async () => {
  const partner = partnerWith();
  const ids = new Set<string>();
  for (const options of [{ idempotencyKey: '' }, { idempotencyKey: '' }, { idempotencyKey: null }, {}, nothing]) {
    ids.add(ok(await partner.createSession({ referrer_tag: 'abc' }, options)).sub_id);
  }
  assert.equal(ids.size, 5);
});

test('returns the first session for a repeated idempotencyKey, even if the daily limit of sessions is reached', async () => {
  const partner = partnerWith(1);
  // `counter` has no JSON representation. It is an unknown member, so the comparison of the requests ignores it.
  const body = { referrer_tag: 'abc', counter: 1n };
  const first = ok(await partner.createSession(body, { idempotencyKey: 'one' }));
  assert.deepEqual(ok(await partner.createSession(body, { idempotencyKey: 'one' })), first);
  const another = await partner.createSession({ referrer_tag: 'abc' }, { idempotencyKey: 'two' });
  assert.equal(refusal(another).error, 'RATE_LIMIT_EXCEEDED');
});

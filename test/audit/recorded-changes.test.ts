import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { auditActions } from '../../src/audit/audit-actions.ts';
import type { AuditEntry } from '../../src/audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../src/audit/sqlite-audit-log.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { sampleExperiment } from '../cli/sample-data-folder.ts';
import { cookieOf, loginPath, sendAsPage, sendLogin } from '../contract/console-support.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ApiCaller, assertOk } from '../support/api-caller.ts';
import { ChangeableCatalogs, withDailyCap } from '../support/changeable-catalogs.ts';
import { HttpClient } from '../support/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const folder = join(temporaryFolder(), 'data');
const catalogs = new ChangeableCatalogs(fixture);
const hostile = '<b>\u202e"acme';
/** Texts that must be in no entry. */
const secrets: string[] = [];
const seenActions = new Set<string>();
let lastNumber = 0;
let marketplace: Marketplace;
let http: HttpClient;
let operations: HttpClient;
let cookie = '';
let key = { key: '', id: '' };

const startService = async () => {
  marketplace = await createMarketplace({
    dataDir: folder,
    catalogs: catalogs.sources,
    testClock: true,
    clock: new ManualClock(Date.now()),
    listen: { engine: 'node' },
  });
  http = new HttpClient(marketplace.ports!.public);
  operations = new HttpClient(marketplace.ports!.operations);
};
const stopService = async () => {
  http.close();
  operations.close();
  await marketplace.close();
};

function readEntries(): readonly AuditEntry[] {
  const log = new SqliteAuditLog(auditLogPath(folder), 1_000);
  try {
    return log.readEntriesAfter(0, 1_000);
  } finally {
    log.close();
  }
}

/** Runs a function, and returns the entries that it added: actor, action and subject. */
async function entriesOf(run: () => unknown): Promise<string[]> {
  await run();
  const added = readEntries().filter(({ number }) => number > lastNumber);
  lastNumber = added.at(-1)?.number ?? lastNumber;
  return added.map(({ actorKind, actorName, action, subject }) => {
    seenActions.add(action);
    return [actorKind, actorName ?? '-', action, subject].join(' | ');
  });
}

const askOperator = (method: string, path: string, body?: unknown) =>
  operations.send({
    method,
    path,
    headers: {
      Authorization: `Bearer ${readFileSync(join(folder, 'operator-token'), 'utf8').trim()}`,
      'Content-Type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const partner = () => new ApiCaller(http, 'personal-loans', key.key);
const definition = { ...sampleExperiment, hypothesis: 'a secret hypothesis' };
const user = userInfo().username;

async function runCommand(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runMarketplace(words, { SVC_DATA_DIR: folder, SVC_TEST_CLOCK: 'on' });
  assert.equal(code, 0, stderr);
  return stdout;
}

const newKey = { account: hostile.replace('\u202e', ''), vertical: 'personal-loans', mode: 'live' } as const;
const otherKeys: Record<string, string> = {};

/** A change, and the entries that it must add. Text in braces is replaced: `{key}` by the id of the key. */
type Row = readonly [what: string, run: () => unknown, expected: readonly string[]];

const whileRunning: readonly Row[] = [
  [
    'a key by the operator token',
    async () => {
      const created = await askOperator('POST', '/keys', newKey);
      key = JSON.parse(created.text);
    },
    ['operator_token | - | key.create | {key}'],
  ],
  [
    'a key by the operator console',
    async () => {
      const token = readFileSync(join(folder, 'operator-token'), 'utf8').trim();
      const login = await sendLogin(operations, { token });
      cookie = cookieOf(login);
      const body = JSON.stringify(newKey);
      const created = await sendAsPage(
        operations,
        { method: 'POST', path: loginPath.replace('login', 'keys'), body },
        cookie,
      );
      otherKeys.console = JSON.parse(created.text).id;
      secrets.push(token, JSON.parse(created.text).key, cookie.split('=')[1]!);
    },
    ['operator_console | - | key.create | {console}'],
  ],
  [
    'a revoked key, once',
    async () => {
      for (let i = 0; i < 2; i++) assertOk(await askOperator('DELETE', `/keys/${otherKeys.console}`));
      assert.equal((await askOperator('DELETE', '/keys/key_000000000000')).status, 404);
    },
    ['operator_token | - | key.revoke | {console}'],
  ],
  [
    'origins, if they change',
    async () => {
      const origins = ['https://a.example'];
      for (let i = 0; i < 2; i++) assertOk(await askOperator('POST', '/origins', { account: newKey.account, origins }));
      const query = new URLSearchParams({ account: newKey.account, origin: origins[0]! });
      for (let i = 0; i < 2; i++) assertOk(await askOperator('DELETE', `/origins?${query}`));
    },
    [`operator_token | - | origin.allow | ${newKey.account}`, `operator_token | - | origin.remove | ${newKey.account}`],
  ],
  [
    'experiments of a partner',
    async () => {
      const caller = partner();
      for (let i = 0; i < 2; i++) assertOk(await caller.send('PUT', 'experiments/by-partner', definition));
      const relabeled = { ...definition, arms: definition.arms.map((arm) => ({ ...arm, label: 'a secret label' })) };
      assertOk(await caller.send('PUT', 'experiments/by-partner', relabeled));
      const note = 'a secret note';
      assertOk(await caller.send('POST', 'experiments/by-partner/close', { outcome: 'broken', note }));
      for (let i = 0; i < 2; i++) assertOk(await caller.send('DELETE', 'experiments/by-partner'));
      assert.equal((await caller.send('DELETE', 'experiments/unknown')).status, 404);
    },
    ['define', 'change', 'close', 'delete'].map((verb) => `partner_key | {key} | experiment.${verb} | by-partner`),
  ],
  [
    'an experiment in the partner console',
    async () => {
      const login = await sendLogin(http, { key: key.key });
      const path = '/console/api/v1/personal-loans/experiments/by-console';
      const body = JSON.stringify(definition);
      assertOk(await sendAsPage(http, { method: 'PUT', path, body }, cookieOf(login)));
      assertOk(await sendAsPage(http, { method: 'DELETE', path }, cookieOf(login)));
      secrets.push(cookieOf(login).split('=')[1]!);
    },
    ['define', 'delete'].map((verb) => `partner_console | {key} | experiment.${verb} | by-console`),
  ],
  [
    'changes of an embedding program',
    async () => {
      const created = marketplace.keys.create({ account: 'program', vertical: 'personal-loans', mode: 'test' });
      otherKeys.program = created.id;
      marketplace.origins.allow('program', 'https://b.example');
      ok(await marketplace.partnerApi(created.key).defineExperiment({ name: 'by-program', ...definition }));
      secrets.push(created.key);
    },
    [
      'embedding_program | - | key.create | {program}',
      'embedding_program | - | origin.allow | program',
      'embedding_program | {program} | experiment.define | by-program',
    ],
  ],
  [
    'an upload of confirmations',
    async () => {
      const session = assertOk<{ sub_id: string }>(await partner().post('session', { referrer_tag: 'table' }));
      assertOk(await partner().post('inputs', { sub_id: session.sub_id, fields: { [fixture.amount]: 73_429 } }));
      secrets.push('73429', session.sub_id);
      const row = {
        sub_id: session.sub_id,
        svc_offer_id: 'unknown',
        txid: 'a-secret-txid',
        status: 'funded',
        amount: 1,
      };
      assertOk(await askOperator('POST', '/confirmations', [row, { ...row, amount: -1 }]));
      assert.equal((await askOperator('POST', '/confirmations', 'x'.repeat(10))).status, 200);
    },
    ['submit', 'result', 'submit', 'result'].map((verb) => `operator_token | - | confirmations.${verb} | {batch}`),
  ],
  [
    'the test clock',
    async () => {
      assertOk(await askOperator('POST', '/test-clock', { advance_days: 1 }));
      assert.equal((await askOperator('POST', '/test-clock', { advance_days: 0 })).status, 400);
    },
    ['operator_token | - | test_clock.advance | test clock'],
  ],
  [
    'a catalog, if its version changes',
    async () => {
      for (let i = 0; i < 2; i++) {
        catalogs.writeCatalog(withDailyCap(catalogs.initialCatalog, 7));
        for (const reload of await marketplace.reloadCatalogs()) assert.ok(reload.ok);
      }
    },
    ['service | - | catalog.activate | personal-loans live'],
  ],
  [
    'commands of a system user',
    async () => {
      const flags = ['--account', 'acme', '--vertical', 'personal-loans', '--mode', 'test', '--json'];
      const created = JSON.parse(await runCommand('keys', 'create', ...flags));
      otherKeys.command = created.id;
      secrets.push(created.key);
      for (let i = 0; i < 2; i++) await runCommand('keys', 'revoke', created.id);
      for (let i = 0; i < 2; i++) await runCommand('origins', 'allow', '--account', 'acme', 'https://c.example');
      for (let i = 0; i < 2; i++) await runCommand('origins', 'remove', '--account', 'acme', 'https://c.example');
      await runCommand('secret', 'rotate');
      for (const command of ['keys list', 'origins list', 'audit list', 'audit verify']) {
        await runCommand(...command.split(' '));
      }
    },
    [
      ...['key.create | {command}', 'key.revoke | {command}', 'origin.allow | acme', 'origin.remove | acme'],
      'secret.rotate | secret 2',
    ].map((entry) => `command_line | ${user} | ${entry}`),
  ],
];

const files = (...names: string[]) => {
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
};

/** Changes while the service is stopped. Each row leaves a folder in which the service starts. */
const whileStopped: readonly Row[] = [
  ['a start without a change', async () => await startAndStop(), []],
  [
    'a start with another catalog',
    async () => {
      catalogs.writeCatalog(catalogs.initialCatalog);
      await startAndStop();
    },
    ['service | - | catalog.activate | personal-loans live'],
  ],
  [
    'a new operator token, and a new key of visitors in an older secret file',
    async () => {
      files('operator-token', 'inventory.json');
      const path = join(folder, 'secrets.json');
      const { unit_key, ...others } = JSON.parse(readFileSync(path, 'utf8'));
      writeFileSync(path, JSON.stringify(others));
      await startAndStop();
      secrets.push(unit_key, others.secrets[0].hex);
    },
    ['service | - | unit_key.create | unit key', 'service | - | operator_token.create | operator token'],
  ],
  [
    'accepted losses of the keys and the journal',
    async () => {
      files('keys.sqlite', 'keys.sqlite-wal', 'keys.sqlite-shm', 'journal');
      await runCommand('keys', 'repair');
      await runCommand('keys', 'repair', '--yes');
      await runCommand('log', 'repair', '--accept-missing-journal', '--yes');
    },
    [`command_line | ${user} | keys.repair | key file`, `command_line | ${user} | journal.accept_loss | journal`],
  ],
  [
    'an accepted loss of the ledger, and a cut log',
    async () => {
      files('ledger');
      await runCommand('log', 'repair', '--accept-missing-ledger');
      await runCommand('log', 'repair', '--accept-missing-ledger', '--yes');
      await startService();
      const created = marketplace.keys.create({ account: 'cut', vertical: 'personal-loans', mode: 'test' });
      otherKeys.cut = created.id;
      ok(await marketplace.partnerApi(created.key).createSession({ referrer_tag: 'cut' }));
      await stopService();
      const path = join(folder, 'ledger', '0000000000000001.log');
      const bytes = readFileSync(path);
      bytes.fill(0xff, 80, 96);
      writeFileSync(path, bytes);
      const verified = await runMarketplace(['log', 'verify', '--json'], { SVC_DATA_DIR: folder });
      const { damage } = JSON.parse(verified.stdout);
      const cut = ['log', 'repair', '--cut', `0000000000000001.log:${damage.offset}`];
      await runCommand(...cut);
      await runCommand(...cut, '--yes');
    },
    [
      `command_line | ${user} | ledger.accept_loss | ledger`,
      'embedding_program | - | key.create | {cut}',
      `command_line | ${user} | log.repair | ledger`,
    ],
  ],
];

async function startAndStop(): Promise<void> {
  await startService();
  await stopService();
}

/** Replaces the ids that differ in each run. */
function fill(expected: readonly string[]): string[] {
  const ids: Readonly<Record<string, string>> = { key: key.id, ...otherKeys };
  return expected.map((entry) => entry.replaceAll(/\{(\w+)\}/g, (text, name: string) => ids[name] ?? text));
}

const withoutBatch = (entries: readonly string[]) =>
  entries.map((each) => each.replace(/batch_[0-9a-f]{12}$/, '{batch}'));

describe('every change has entries in the audit log', () => {
  before(async () => {
    const first = await entriesOf(startService);
    assert.deepEqual(first, [
      'service | - | audit.create | audit log',
      'service | - | secret.create | secret 1',
      'service | - | catalog.activate | personal-loans live',
      'service | - | catalog.activate | personal-loans test',
      'service | - | operator_token.create | operator token',
    ]);
  });

  for (const [what, run, expected] of whileRunning) {
    test(what, async () => {
      const entries = await entriesOf(run);
      assert.deepEqual(withoutBatch(entries), fill(expected));
    });
  }

  test('the page of uploads shows rows, outcomes and reasons', async () => {
    const { data } = assertOk<{ data: readonly Record<string, unknown>[] }>(await askOperator('GET', '/confirmations'));
    const { batch, submitted_at: _, completed_at, bytes, ...upload } = data[1]!;
    assert.match(String(batch), /^batch_/);
    assert.ok(completed_at !== null && Number(bytes) > 100);
    const counts = { accepted: 0, repeated: 0, rejected: 2, unknown: 0 };
    const { rejected_by_reason: reasons, ...others } = upload;
    assert.deepEqual(others, {
      actor: 'operator_token',
      actor_name: null,
      rows: 2,
      outcome: 'processed',
      ...counts,
      accepted_by_status: { funded: 0, reversed: 0 },
    });
    assert.equal(
      Object.values(reasons as object).reduce((sum, count) => sum + count, 0),
      2,
    );
  });

  describe('while the service is stopped', () => {
    before(() => stopService());
    for (const [what, run, expected] of whileStopped) {
      test(what, async () => {
        const entries = await entriesOf(run);
        assert.deepEqual(entries, fill(expected));
      });
    }
  });

  after(() => {
    // Other tests cover an accepted loss of the audit log and a failed change.
    const covered = [...seenActions, 'audit.accept_loss', 'change.failed'];
    assert.deepEqual(covered.sort(), [...auditActions].sort());
    const guide = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const rows = guide.slice(guide.indexOf('| Action | Change |')).split('\n\n', 1)[0]!;
    const documented = [...rows.matchAll(/`(\w+\.\w+)`/g)].map(([, action]) => action!);
    assert.deepEqual([...new Set(documented)].sort(), [...auditActions].sort());
  });
});

after(() => {
  const stored = readEntries()
    .map((entry) => JSON.stringify(entry))
    .join('\n');
  const { hex } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')).secrets[0];
  const texts = ['a secret', 'a-secret', hex, key.key, ...secrets];
  assert.ok(texts.length > 10);
  for (const text of texts) {
    assert.ok(text.length > 3);
    const hash = createHash('sha256').update(text).digest();
    for (const forbidden of [text, hash.toString('hex'), hash.toString('base64url'), hash.toString('base64')]) {
      assert.ok(!stored.includes(forbidden), `an entry contains ${text}`);
    }
  }
});

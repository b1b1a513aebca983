import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { keyFilePath, readKeyFileNumbers } from '../../src/auth/key-file.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { LedgerWitness } from '../../src/server/check-data-folder.ts';
import { issueKey, registerShards } from '../auth/support.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

/** Data folder with accounts 1, 2 and 3 of shard 0, and 65,537 and 65,538 of shard 1. Each account has a session. */
const folder = join(temporaryFolder(), 'data');

async function withService(dataDir: string, use: (marketplace: Marketplace) => unknown): Promise<void> {
  const { catalogs } = personalLoansFixture;
  const marketplace = await createMarketplace({
    dataDir,
    clock: new ManualClock(),
    catalogs,
    listen: { engine: 'node' },
  });
  try {
    await use(marketplace);
  } finally {
    await marketplace.close();
  }
}

before(async () => {
  const accounts = ['a', 'b', 'c', 'd', 'e'];
  registerShards(keyFilePath(folder), 2);
  for (const account of accounts) issueKey(folder, { account });
  // One service serves the accounts of both shards, whose numbers an earlier release may have assigned.
  changeKeyFile(folder, 'UPDATE shards SET started = 0');
  await withService(folder, async (marketplace) => {
    for (const account of accounts) {
      const { key } = marketplace.keys.create({ account, vertical: 'personal-loans', mode: 'live' });
      const partner = marketplace.partnerApi(key);
      ok(await partner.createSession({ referrer_tag: 'table' }));
      ok(await partner.queryAnalytics({ referrer_tag: 'table' }));
    }
  });
  assert.deepEqual(readKeyFileNumbers(keyFilePath(folder)).accounts, [3, 0x1_0002]);
});

/** Copies the folder without the given files. `change` changes the assigned account numbers of its key file. */
function copyFolder(t: TestContext, removed: readonly string[], change: string): string {
  const copy = join(temporaryFolder(t), 'data');
  cpSync(folder, copy, { recursive: true });
  for (const name of removed) rmSync(join(copy, name), { recursive: true });
  changeKeyFile(copy, change);
  return copy;
}

function changeKeyFile(dataDir: string, sql: string): void {
  const database = new Database(keyFilePath(dataDir));
  database.exec(sql);
  database.close();
}

const withoutInventory = ['inventory.json'];
const withoutSnapshot = ['inventory.json', 'snapshot', 'analytics.sqlite'];

for (const [what, removed] of [
  ['the inventory', []],
  ['the analytics', withoutInventory],
  ['the ledger', withoutSnapshot],
] as const) {
  for (const [older, newer] of [
    [0, 1],
    [1, 0],
  ] as const) {
    test(`a key file is older if shard ${older} has fewer accounts than ${what} knows, and shard ${newer} more`, async (t) => {
      const copy = copyFolder(
        t,
        removed,
        `UPDATE shards SET last_account = last_account + iif(number = ${newer}, 5, -1)`,
      );
      await assert.rejects(
        withService(copy, () => {}),
        /is older than the data folder \(accounts up to .* accounts up to 3, 65538,/,
      );
      const repaired = await runMarketplace(['keys', 'repair', '--yes', '--json'], { SVC_DATA_DIR: copy });
      assert.equal(repaired.code, 0, repaired.stderr);
      assert.deepEqual(
        readKeyFileNumbers(keyFilePath(copy)).accounts,
        newer === 1 ? [3, 0x1_0002 + 5] : [3 + 5, 0x1_0002],
      );
      await withService(copy, () => {});
    });
  }
}

test('an older key file without the shard of a known account is refused', async (t) => {
  const copy = copyFolder(t, [], 'DELETE FROM shards WHERE number = 1');
  await assert.rejects(
    withService(copy, () => {}),
    /is older than the data folder \(accounts up to 3, /,
  );
});

test('reads the highest account number in the inventory of an earlier release', async (t) => {
  const copy = copyFolder(t, ['analytics.sqlite'], 'UPDATE shards SET last_account = 3 WHERE number = 0');
  const path = join(copy, 'inventory.json');
  const { keys, ...others } = JSON.parse(readFileSync(path, 'utf8'));
  const { accounts: _, ...otherNumbers } = keys;
  const writeInventory = (account: number) =>
    writeFileSync(path, JSON.stringify({ ...others, keys: { account, ...otherNumbers } }));
  writeInventory(4);
  await assert.rejects(
    withService(copy, () => {}),
    /is older than the data folder \(accounts up to 3, 65538, .* accounts up to 4,/,
  );
  writeInventory(3);
  await withService(copy, () => {});
});

test('reads the highest account number in the snapshot of an earlier release', () => {
  const text = JSON.stringify({ highestAccount: 7, highestKey: 9, hasUnits: false, startPosition: 1, sub: null });
  const witness = new LedgerWitness();
  witness.restore([{ id: 'any', bytes: Buffer.from(text) }]);
  assert.deepEqual(witness.accounts.list(), [7]);
});

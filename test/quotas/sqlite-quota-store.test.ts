import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { QuotaStoreUnavailableError } from '../../src/quotas/quota-store.ts';
import { SqliteQuotaStore, sharedLimitsPath } from '../../src/quotas/sqlite-quota-store.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { testQuotaStore } from './quota-store-contract.ts';

const program = fileURLToPath(new URL('programs/take-all.ts', import.meta.url));

testQuotaStore('a SQLite file', (t) => {
  const path = sharedLimitsPath(temporaryFolder(t));
  return {
    open(shards) {
      const store = new SqliteQuotaStore(path, shards);
      store.limitWaits();
      runAfterTest(t, () => store.close());
      return store;
    },
    block() {
      const database = new Database(path);
      database.exec('BEGIN IMMEDIATE');
      return () => database.close();
    },
    async takeAll(...numbers) {
      const process_ = spawn(process.execPath, [program, path, ...numbers.map(String)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [output] = await Promise.all([text(process_.stdout), once(process_, 'close')]);
      return Number.parseInt(output, 10);
    },
  };
});

it('a file of a newer release is refused', (t) => {
  const path = sharedLimitsPath(temporaryFolder(t));
  new SqliteQuotaStore(path, 1).close();
  const database = new Database(path);
  database.pragma('user_version = 99');
  database.close();
  assert.throws(() => new SqliteQuotaStore(path, 1), QuotaStoreUnavailableError);
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SqlDatabase } from '../../src/analytics/sql-database.ts';
import {
  readStoreVersion,
  type StoreUpgrade,
  StoreVersionMismatchError,
  upgradeStore,
} from '../../src/analytics/store-upgrades.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function createStore(t: TestContext, version: number): SqlDatabase {
  const database = new SqlDatabase(join(temporaryFolder(t), 'store'));
  runAfterTest(t, () => database.close());
  database.execute(`CREATE TABLE tag (name TEXT); INSERT INTO tag VALUES ('a'); PRAGMA user_version = ${version}`);
  return database;
}

const addColumn: StoreUpgrade = { sql: 'ALTER TABLE tag ADD COLUMN clicks INTEGER', recomputesFigures: false };
const fillColumn: StoreUpgrade = { sql: 'UPDATE tag SET clicks = 7', recomputesFigures: false };
const countAnew: StoreUpgrade = { sql: 'UPDATE tag SET clicks = 0', recomputesFigures: true };

test('applies the upgrades from the version of the store on, in order', (t) => {
  const upgrades = new Map([
    [5, countAnew],
    [6, addColumn],
    [7, fillColumn],
  ]);
  const store = createStore(t, 6);
  upgradeStore(store, upgrades, 8);
  assert.deepEqual(store.rows('SELECT * FROM tag'), [['a', 7]]);
  assert.deepEqual(readStoreVersion(store), { version: 8, isOutdated: false });
  upgradeStore(store, upgrades, 8);
  assert.deepEqual(readStoreVersion(store), { version: 8, isOutdated: false });
});

test('the figures are outdated after an upgrade that recomputes them, also after later upgrades', (t) => {
  const store = createStore(t, 6);
  upgradeStore(
    store,
    new Map([
      [6, addColumn],
      [7, countAnew],
    ]),
    8,
  );
  assert.deepEqual(readStoreVersion(store), { version: 8, isOutdated: true });
  upgradeStore(store, new Map([[8, fillColumn]]), 9);
  assert.deepEqual(store.rows('SELECT * FROM tag'), [['a', 7]]);
  assert.deepEqual(readStoreVersion(store), { version: 9, isOutdated: true });
});

test('a store is unchanged if an upgrade is missing or fails, or if a later release wrote the store', (t) => {
  for (const [version, upgrades, error] of [
    [6, new Map([[6, addColumn]]), StoreVersionMismatchError],
    [6, new Map([[7, addColumn]]), StoreVersionMismatchError],
    [
      9,
      new Map([
        [6, addColumn],
        [7, fillColumn],
      ]),
      StoreVersionMismatchError,
    ],
    [
      6,
      new Map([
        [6, addColumn],
        [7, { sql: 'UPDATE tag SET views = 1', recomputesFigures: false }],
      ]),
      /no such column/,
    ],
  ] as const) {
    const store = createStore(t, version);
    assert.throws(() => upgradeStore(store, upgrades, 8), error);
    assert.deepEqual(store.rows('SELECT * FROM tag'), [['a']]);
    assert.deepEqual(readStoreVersion(store), { version, isOutdated: false });
  }
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { EmbedOriginRegistry } from '../../src/auth/embed-origin-registry.ts';
import { KeyFileError, keyFilePath, openKeyFile, readShardCount } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { bounds } from '../../src/bounds.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { issueKey, noonMs, openDirectory, registerShards, unrecorded } from './support.ts';

/** Schema of version 1. It must not change, because such files exist. */
const version1 = `
  CREATE TABLE accounts (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts (number),
    vertical TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    requests_per_minute INTEGER CHECK (requests_per_minute > 0),
    analytics_per_minute INTEGER CHECK (analytics_per_minute > 0),
    sessions_per_day INTEGER CHECK (sessions_per_day > 0)
  ) STRICT;

  PRAGMA user_version = 1;
`;

/** Statements that version 2 added. */
const version2 = `
  CREATE TABLE embed_origins (
    account INTEGER NOT NULL REFERENCES accounts (number),
    origin TEXT NOT NULL,
    PRIMARY KEY (account, origin)
  ) STRICT, WITHOUT ROWID;

  PRAGMA user_version = 2;
`;

/** Statements that version 3 added. */
const version3 = `
  CREATE TABLE changes (
    number INTEGER PRIMARY KEY,
    hash BLOB,
    account INTEGER
  ) STRICT;

  INSERT INTO changes (hash) SELECT hash FROM keys ORDER BY number;
  INSERT INTO changes (account) SELECT DISTINCT account FROM embed_origins;

  CREATE TRIGGER key_added AFTER INSERT ON keys BEGIN
    INSERT INTO changes (hash) VALUES (new.hash);
  END;
  CREATE TRIGGER key_changed AFTER UPDATE ON keys BEGIN
    INSERT INTO changes (hash) SELECT old.hash UNION SELECT new.hash;
  END;
  CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN
    INSERT INTO changes (hash) VALUES (old.hash);
  END;
  CREATE TRIGGER origin_added AFTER INSERT ON embed_origins BEGIN
    INSERT INTO changes (account) VALUES (new.account);
  END;
  CREATE TRIGGER origin_changed AFTER UPDATE ON embed_origins BEGIN
    INSERT INTO changes (account) SELECT old.account UNION SELECT new.account;
  END;
  CREATE TRIGGER origin_deleted AFTER DELETE ON embed_origins BEGIN
    INSERT INTO changes (account) VALUES (old.account);
  END;

  PRAGMA user_version = 3;
`;

/** Query with which a server of version 3 reads changed keys. */
const version3Query = `
  SELECT changes.number AS change, changes.hash, keys.number
  FROM changes LEFT JOIN keys ON keys.hash = changes.hash AND revoked IS NULL
  WHERE changes.number > ? ORDER BY changes.number`;

const openProgram = fileURLToPath(new URL('programs/open-key-file.ts', import.meta.url));
const lockProgram = fileURLToPath(new URL('programs/lock-a-while.ts', import.meta.url));

test('throws without creating a file if a required key file is missing', (t) => {
  const folder = temporaryFolder(t);
  assert.throws(() => new KeyRegistry(keyFilePath(folder), { mustExist: true }), KeyFileError);
  assert.deepEqual(readdirSync(folder), []);
});

test('creates key files that only the owner can read', (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const registry = new KeyRegistry(keyFilePath(folder));
  t.after(() => registry.close());
  assert.equal(statSync(folder).mode & 0o077, 0);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
});

test('rejects a key file that is not a SQLite database', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  writeFileSync(path, 'not a database, and long enough to be looked at as if it were one'.repeat(20));
  assert.throws(
    () => openKeyFile(path, 100),
    (error: unknown) => error instanceof KeyFileError && error.message.includes(path) && !error.message.includes('\n'),
  );
});

test('rejects a key file of a newer version', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  const newer = new Database(path);
  newer.pragma('user_version = 99');
  newer.close();
  assert.throws(() => openKeyFile(path, 100), /newer version/);
});

test('opening the key file waits while another process creates the file', async (t) => {
  const path = keyFilePath(temporaryFolder(t));
  const other = spawn(process.execPath, [lockProgram, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs).close();
  await once(other, 'exit');
});

test('opening the key file fails if the file stays locked', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  const other = new Database(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  assert.throws(
    () => openKeyFile(path, 20),
    (error: unknown) => error instanceof KeyFileError && error.message.includes(path) && !error.message.includes('\n'),
  );
});

/** Creates a key file of version 1 with one key of the account `acme`. */
function createVersion1(t: TestContext) {
  const folder = temporaryFolder(t);
  const key = generateApiKey(personalLoans, 'live', 1);
  const database = new Database(keyFilePath(folder));
  database.pragma('journal_mode = WAL');
  database.exec(version1);
  database.prepare('INSERT INTO accounts (name) VALUES (?)').run('acme');
  database
    .prepare(
      `INSERT INTO keys (id, account, vertical, mode, hash, created, sessions_per_day)
       VALUES ('key_0123456789ab', 1, 'personal-loans', 'live', ?, ?, 7)`,
    )
    .run(Buffer.from(hashApiKey(key), 'latin1'), noonMs);
  return { folder, key, database };
}

function schemaOf(folder: string): unknown[] {
  const database = new Database(keyFilePath(folder));
  try {
    const version = database.pragma('user_version', { simple: true });
    const statements = database.prepare("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name");
    return [
      version,
      ...statements
        .pluck()
        .all()
        .map((sql) => String(sql).replaceAll(/\s+/g, ' ')),
    ];
  } finally {
    database.close();
  }
}

test('migrates a key file of version 1 to the current schema and retains the keys', (t) => {
  const { folder, key, database } = createVersion1(t);
  database.close();
  const registry = new KeyRegistry(keyFilePath(folder), { mustExist: true });
  t.after(() => registry.close());
  const [listed, ...others] = registry.listKeys();
  assert.deepEqual(
    [listed?.id, listed?.accountName, listed?.limits.sessionsPerDay, others],
    ['key_0123456789ab', 'acme', 7, []],
  );
  assert.equal(openDirectory(t, folder).findKeyByHash(hashApiKey(key))?.number, 1);
  assert.equal(issueKey(folder).issued.number, 2);

  const origins = new EmbedOriginRegistry(keyFilePath(folder), { mustExist: true });
  t.after(() => origins.close());
  assert.deepEqual(origins.allowOrigins('acme', ['https://shop.example'], unrecorded), ['allowed']);

  const fresh = temporaryFolder(t);
  openKeyFile(keyFilePath(fresh), 100).close();
  assert.deepEqual(schemaOf(folder), schemaOf(fresh));
});

test('new accounts of a version 1 key file follow its numbers, and live on shard 0 until their shard is registered', (t) => {
  for (const [last, shards, expected, shard] of [
    [1, 1, 2, 0],
    [65_534, 1, 65_535, 0],
    [65_535, 1, null, null],
    [65_535, 2, 65_537, 1],
    [65_600, 1, 65_601, 0],
    [65_600, 2, 65_601, 1],
  ] as const) {
    const { folder, database } = createVersion1(t);
    database.exec(`UPDATE sqlite_sequence SET seq = ${last} WHERE name = 'accounts'`);
    if (last > 65_535) database.exec(`INSERT INTO accounts VALUES (${last}, 'last')`);
    database.close();
    const path = keyFilePath(folder);
    openKeyFile(path, 100).close();
    if (shards > readShardCount(path)) registerShards(path, shards);
    const issue = () => issueKey(folder, { account: 'new' }).issued.account;
    if (expected === null) {
      assert.throws(issue, KeyFileError);
      continue;
    }
    assert.equal(issue(), expected, `after ${last}`);
    const directory = openDirectory(t, folder);
    assert.deepEqual([directory.findShard(expected, 2), directory.findShard(last, 2)], [shard, 0], `after ${last}`);
  }
});

test('registers shards once, and never removes a shard', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  openKeyFile(path, 100).close();
  const counts = [readShardCount(path)];
  for (const count of [3, 3, 2]) {
    registerShards(path, count);
    counts.push(readShardCount(path));
  }
  assert.deepEqual(counts, [1, 3, 3, 3]);
});

test('migrates a version 2 key file with its keys and origins, and applies later changes by a process that opened the old file', (t) => {
  const { folder, key, database } = createVersion1(t);
  t.after(() => database.close());
  database.exec(version2);
  database.exec("INSERT INTO embed_origins VALUES (1, 'https://b.example'), (1, 'https://a.example')");
  const directory = openDirectory(t, folder);
  assert.equal(directory.findKeyByHash(hashApiKey(key))?.number, 1);
  assert.deepEqual(directory.findOrigins(1), ['https://a.example', 'https://b.example']);
  // The process that wrote the file still has it open.
  database.exec('UPDATE keys SET revoked = 1; DELETE FROM embed_origins');
  directory.reloadKeyFile();
  assert.equal(directory.findKeyByHash(hashApiKey(key)), undefined);
  assert.deepEqual(directory.findOrigins(1), []);
});

test('a server of version 3 that has the key file open accepts new keys with the scope full, and no others', (t) => {
  const { folder, key, database } = createVersion1(t);
  t.after(() => database.close());
  database.exec(version2);
  database.exec(version3);
  const select = database.prepare<[number], { change: number; hash: Buffer | null; number: number | null }>(
    version3Query,
  );
  const accepted = new Set([hashApiKey(key)]);
  let lastChange = select.all(0).at(-1)!.change;
  const poll = () => {
    for (const { change, hash, number } of select.all(lastChange)) {
      lastChange = change;
      if (number !== null) accepted.add(hash!.toString('latin1'));
      else if (hash !== null) accepted.delete(hash.toString('latin1'));
    }
  };
  const directory = openDirectory(t, folder);
  const scopeOf = (text: string) => directory.findKeyByHash(hashApiKey(text))?.scope;
  assert.equal(scopeOf(key), 'full');

  const reader = issueKey(folder, { scope: 'analytics' });
  const full = issueKey(folder);
  poll();
  directory.reloadKeyFile();
  assert.deepEqual([scopeOf(reader.key), scopeOf(full.key)], ['analytics', 'full']);
  assert.deepEqual([...accepted], [hashApiKey(key), hashApiKey(full.key)]);
  // The server of version 3 can also create and revoke keys.
  database.exec(
    `INSERT INTO keys (id, account, vertical, mode, hash, created) VALUES ('new', 1, 'banking', 'live', zeroblob(32), 1)`,
  );
  database.prepare('UPDATE keys SET revoked = 1 WHERE id IN (?, ?)').run(reader.issued.id, full.issued.id);
  poll();
  directory.reloadKeyFile();
  assert.deepEqual([scopeOf(reader.key), scopeOf(full.key)], [undefined, undefined]);
  assert.equal(directory.findKeyByHash('\0'.repeat(32))?.scope, 'full');
  assert.deepEqual([...accepted], [hashApiKey(key), '\0'.repeat(32)]);
});

test('opening a key file with the current schema version does not change the file', (t) => {
  const { folder, database } = createVersion1(t);
  openKeyFile(keyFilePath(folder), 100).close();
  const changes = () => database.pragma('data_version', { simple: true });
  const before = changes();
  openKeyFile(keyFilePath(folder), 100).close();
  assert.equal(changes(), before);
  database.close();
});

test('a process that opened a version 1 key file can still read the file after a migration by another process', (t) => {
  const { folder, database } = createVersion1(t);
  t.after(() => database.close());
  const count = database.prepare('SELECT count(*) FROM keys WHERE revoked IS NULL').pluck();
  assert.equal(count.get(), 1);
  openKeyFile(keyFilePath(folder), 100).close();
  issueKey(folder);
  assert.equal(count.get(), 2);
});

test('several processes can migrate the same key file concurrently', async (t) => {
  const { folder, database } = createVersion1(t);
  database.close();
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [openProgram, keyFilePath(folder)], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  t.after(() => children.forEach((child) => void child.kill('SIGKILL')));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const ends = children.map((child) => once(child, 'exit'));
  for (const child of children) child.stdin.write('go\n');
  assert.deepEqual(
    await Promise.all(ends),
    children.map(() => [0, null]),
  );
  assert.equal(schemaOf(folder)[0], 6);
});

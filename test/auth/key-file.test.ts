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
import { KeyFileError, keyFilePath, openKeyFile } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { bounds } from '../../src/bounds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { issueKey, noonMs, openDirectory } from './support.ts';

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
  const key = generateApiKey('svc_pl_', 'live');
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
  assert.deepEqual(origins.allowOrigins('acme', ['https://shop.example']), ['allowed']);

  const fresh = temporaryFolder(t);
  openKeyFile(keyFilePath(fresh), 100).close();
  assert.deepEqual(schemaOf(folder), schemaOf(fresh));
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
  assert.equal(schemaOf(folder)[0], 3);
});

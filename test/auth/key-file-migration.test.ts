import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { EmbedOriginRegistry } from '../../src/auth/embed-origin-registry.ts';
import { keyFilePath, openKeyFile } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { issueKey, ManualClock, noonMs, openDirectory, temporaryFolder } from './support.ts';
import { version1, version2 } from './version-1.ts';

const opener = fileURLToPath(new URL('programs/open-key-file.ts', import.meta.url));

/** A folder with a key file of version 1 that holds one key of the account `acme`. */
function folderOfVersion1(t: TestContext) {
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

test('a file of version 1 keeps its keys and gets what a new file has', (t) => {
  const { folder, key, database } = folderOfVersion1(t);
  database.close();
  const register = KeyRegistry.openExisting(keyFilePath(folder));
  t.after(() => register.close());
  const [listed, ...more] = register.list();
  assert.deepEqual(
    [listed?.id, listed?.accountName, listed?.limits.sessionsPerDay, more],
    ['key_0123456789ab', 'acme', 7, []],
  );
  assert.equal(openDirectory(t, folder, new ManualClock()).findByHash(hashApiKey(key))?.number, 1);
  assert.equal(issueKey(folder).issued.number, 2);

  const origins = EmbedOriginRegistry.openExisting(keyFilePath(folder));
  t.after(() => origins.close());
  assert.deepEqual(origins.allow('acme', ['https://shop.example']), ['allowed']);

  const fresh = temporaryFolder(t);
  openKeyFile(keyFilePath(fresh), 100).close();
  assert.deepEqual(schemaOf(folder), schemaOf(fresh));
});

test('a file of version 2 keeps its keys and origins, and tells of what changes from then on', (t) => {
  const { folder, key, database } = folderOfVersion1(t);
  t.after(() => database.close());
  database.exec(version2);
  database.exec("INSERT INTO embed_origins VALUES (1, 'https://b.example'), (1, 'https://a.example')");
  const directory = openDirectory(t, folder, new ManualClock());
  assert.equal(directory.findByHash(hashApiKey(key))?.number, 1);
  assert.deepEqual(directory.origins.forAccount(1), ['https://a.example', 'https://b.example']);
  // The program that wrote the file still has it open.
  database.exec('UPDATE keys SET revoked = 1; DELETE FROM embed_origins');
  directory.refresh();
  assert.equal(directory.findByHash(hashApiKey(key)), undefined);
  assert.deepEqual(directory.origins.forAccount(1), []);
});

test('opening a file that has the newest version does not write to it', (t) => {
  const { folder, database } = folderOfVersion1(t);
  openKeyFile(keyFilePath(folder), 100).close();
  const changes = () => database.pragma('data_version', { simple: true });
  const before = changes();
  openKeyFile(keyFilePath(folder), 100).close();
  assert.equal(changes(), before);
  database.close();
});

test('a program of version 1 that has the file open goes on reading its keys', (t) => {
  const { folder, database } = folderOfVersion1(t);
  t.after(() => database.close());
  const count = database.prepare('SELECT count(*) FROM keys WHERE revoked IS NULL').pluck();
  assert.equal(count.get(), 1);
  openKeyFile(keyFilePath(folder), 100).close();
  issueKey(folder);
  assert.equal(count.get(), 2);
});

test('several processes that open a file of version 1 at once all succeed', async (t) => {
  const { folder, database } = folderOfVersion1(t);
  database.close();
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [opener, keyFilePath(folder)], { stdio: ['pipe', 'pipe', 'inherit'] }),
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

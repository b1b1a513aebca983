import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { copyDatabase } from '../../src/files/copy-database.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const writer = fileURLToPath(new URL('write-to-database.ts', import.meta.url));

const entries = 40_000;

/** Creates a database that is copied in several chunks. */
function createDatabase(t: TestContext): string {
  const file = join(temporaryFolder(t), 'original');
  change(file, (database) => {
    database.pragma('journal_mode = WAL');
    database.exec(
      'CREATE TABLE entry (text TEXT NOT NULL); CREATE TABLE total (entries INTEGER, writes INTEGER); INSERT INTO total VALUES (0, 0)',
    );
    addEntries(database, entries);
  });
  return file;
}

function addEntries(database: Database.Database, count: number): void {
  const insert = database.prepare('INSERT INTO entry (text) VALUES (?)');
  database.transaction(() => {
    for (let row = 0; row < count; row++) insert.run(`${row} `.repeat(20));
    database.exec('UPDATE total SET entries = (SELECT count(*) FROM entry)');
  })();
}

function change(file: string, run: (database: Database.Database) => void): void {
  const database = new Database(file);
  run(database);
  database.close();
}

/** Checks that a database is consistent. Reads a copy, because SQLite changes the files of a database that it opens. */
function readTotals(t: TestContext, file: string): { readonly entries: number; readonly writes: number } {
  const copy = join(temporaryFolder(t), 'copy');
  for (const suffix of ['', '-wal'])
    if (existsSync(file + suffix)) writeFileSync(copy + suffix, readFileSync(file + suffix));
  const database = new Database(copy);
  try {
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok');
    const read = (sql: string) => database.prepare<[], number>(sql).pluck().get()!;
    const [count, writes] = [read('SELECT entries FROM total'), read('SELECT writes FROM total')];
    assert.equal(count, read('SELECT count(*) FROM entry'));
    if (writes > 0) assert.equal(read(`SELECT count(*) FROM entry WHERE text = 'write ${writes}'`), entries / 500);
    return { entries: count, writes };
  } finally {
    database.close();
  }
}

const countEntries = (t: TestContext, file: string) => readTotals(t, file).entries;
const copyTarget = (t: TestContext) => join(temporaryFolder(t), 'target');
const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

test('copies a database while another process writes to it', async (t) => {
  const file = createDatabase(t);
  const child = fork(writer, [file], { execArgv: [] });
  runAfterTest(t, () => child.kill('SIGKILL'));
  let committed = 0;
  child.on('message', (transaction: number) => {
    committed = transaction;
  });
  const base = copyTarget(t);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  // Gives the other process time to write between two chunks.
  const onBytesRead = () => void Atomics.wait(sleeper, 0, 0, 20);
  for (let copies = 0; copies < 3; copies++) {
    await once(child, 'message');
    const atStart = committed;
    const target = copies === 0 ? base : copyTarget(t);
    assert.equal(await copyDatabase(file, target, { base: copies === 0 ? undefined : base, onBytesRead }), null);
    assert.ok(readTotals(t, target).writes >= atStart);
    assert.equal(statSync(target).ino, statSync(base).ino);
  }
  assert.ok(committed > 3);
});

test('with a base, writes only the changed pages, and does not change the base', async (t) => {
  const file = createDatabase(t);
  const [first, second, third] = [copyTarget(t), copyTarget(t), copyTarget(t)];
  await copyDatabase(file, first);
  const bytes = readFileSync(first);
  change(file, (database) => {
    addEntries(database, 5);
    database.exec("UPDATE entry SET text = 'changed' WHERE rowid = 5000");
  });
  await copyDatabase(file, second, { base: first });
  assert.equal(statSync(second).ino, statSync(first).ino);
  const walBytes = bytesOf(`${second}-wal`);
  assert.ok(walBytes > 0 && walBytes < 10 * 4_200, `${walBytes} bytes`);
  change(file, (database) => addEntries(database, 5));
  await copyDatabase(file, third, { base: second });
  assert.deepEqual(
    [first, second, third].map((copy) => countEntries(t, copy)),
    [entries, entries + 5, entries + 10],
  );
  assert.deepEqual(readFileSync(first), bytes);
});

test('a copy without changes since the base has no write-ahead log', async (t) => {
  const file = createDatabase(t);
  const [first, second] = [copyTarget(t), copyTarget(t)];
  await copyDatabase(file, first);
  await copyDatabase(file, second, { base: first });
  assert.deepEqual([statSync(second).ino, existsSync(`${second}-wal`)], [statSync(first).ino, false]);
});

test('copies the whole database if more than a quarter has changed, also if the base is another file', async (t) => {
  const file = createDatabase(t);
  const base = copyTarget(t);
  await copyDatabase(file, base);
  for (const replaceBase of [
    () => change(file, (database) => database.exec("UPDATE entry SET text = text || 'x' WHERE rowid % 3 = 0")),
    () => truncateSync(base, bytesOf(base) / 2),
    () => writeFileSync(base, 'no database'),
    () => writeFileSync(base, ''),
    () => rmSync(base),
  ]) {
    replaceBase();
    const target = copyTarget(t);
    assert.equal(await copyDatabase(file, target, { base }), null);
    assert.equal(existsSync(`${target}-wal`), false);
    assert.notEqual(statSync(target).ino, statSync(base, { throwIfNoEntry: false })?.ino);
    assert.equal(countEntries(t, target), entries);
  }
});

test('does not copy a file that shares its pages with another copy, which a checkpoint would change', async (t) => {
  const file = createDatabase(t);
  const [first, second, third] = [copyTarget(t), copyTarget(t), copyTarget(t)];
  await copyDatabase(file, first);
  const bytes = readFileSync(first);
  change(file, (database) => addEntries(database, 5));
  await copyDatabase(file, second, { base: first });
  assert.match((await copyDatabase(second, third))!, /shares a file/);
  assert.deepEqual([readFileSync(first), existsSync(third)], [bytes, false]);
  assert.equal(countEntries(t, second), entries + 5);
});

test('copies a database that has become smaller', async (t) => {
  const file = createDatabase(t);
  const [first, second] = [copyTarget(t), copyTarget(t)];
  await copyDatabase(file, first);
  change(file, (database) => {
    database.exec('DELETE FROM entry WHERE rowid > 39800; UPDATE total SET entries = 39800; VACUUM');
  });
  await copyDatabase(file, second, { base: first });
  assert.equal(countEntries(t, second), 39_800);
});

test('reports a damaged database, and creates no file', async (t) => {
  const target = copyTarget(t);
  const damaged = join(temporaryFolder(t), 'damaged');
  writeFileSync(damaged, 'no database at all '.repeat(1_000));
  assert.match((await copyDatabase(damaged, target))!, /not a database/);
  assert.equal(existsSync(target), false);
});

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { ConsoleLoginFile, consoleLoginPath } from '../../src/auth/console-login-file.ts';
import { ConsoleLogins } from '../../src/auth/console-logins.ts';
import { bounds } from '../../src/bounds.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const secretHash = 'k'.repeat(32);

/** Opens the logins of a folder. `errors` lists the errors of the file: `read` or `write`. */
function openLogins(t: TestContext, folder: string, clock = new ManualClock()) {
  const errors: string[] = [];
  const file = new ConsoleLoginFile({
    path: consoleLoginPath(folder),
    onReadError: () => errors.push('read'),
    onWriteError: () => errors.push('write'),
  });
  t.after(() => file.close());
  const logins = new ConsoleLogins(clock, file);
  const logIn = (hash = secretHash) => {
    const created = logins.create('partner', hash);
    return created.ok ? created.value.token : created.error.code;
  };
  return { logins, logIn, errors, file, clock };
}

test('a restart keeps the logins that are valid, and no others', (t) => {
  const folder = temporaryFolder(t);
  const { logins, logIn, file, clock } = openLogins(t, folder);
  const expired = logIn();
  clock.advance(bounds.consoleLoginMs - 1);
  const kept = logIn();
  const ended = logIn();
  logins.end('partner', ended);
  assert.ok(logins.find('partner', expired));
  clock.advance(1);
  file.close();
  const restarted = openLogins(t, folder, clock);
  assert.deepEqual(
    [expired, kept, ended].map((token) => restarted.logins.find('partner', token) !== undefined),
    [false, true, false],
  );
  assert.equal(restarted.logins.find('operator', kept), undefined);
  assert.equal(restarted.logins.find('partner', kept)?.expiresAtMs, clock.wallMs() + bounds.consoleLoginMs - 1);
  clock.advance(bounds.consoleLoginMs - 1);
  assert.equal(restarted.logins.find('partner', kept), undefined);
  restarted.file.close();
  // After the wall clock was set back, a login may not live longer than a new one.
  clock.setWall(clock.wallMs() - 3 * bounds.consoleLoginMs);
  assert.equal(openLogins(t, folder, clock).logins.find('partner', kept), undefined);
});

test('the file contains hashes instead of tokens, and only its owner can read it', (t) => {
  const folder = temporaryFolder(t);
  const { logIn } = openLogins(t, folder);
  const token = logIn();
  const names = readdirSync(folder);
  assert.ok(names.includes('console-logins.sqlite-wal'));
  for (const name of names) {
    const path = `${folder}/${name}`;
    assert.equal(statSync(path).mode & 0o077, 0, name);
    assert.ok(!readFileSync(path).includes(token), name);
  }
});

/** Changes of the file while no service uses it, with the expected errors of the next start. */
const damages: readonly (readonly [title: string, damage: (path: string) => void, errors: readonly string[]])[] = [
  ['is empty', (path) => truncateSync(path, 0), []],
  ['is truncated', (path) => truncateSync(path, 5_000), ['read']],
  ['is no database', (path) => writeFileSync(path, 'no database'.repeat(1_000)), ['read']],
  [
    'has damaged pages',
    (path) => writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, 100), Buffer.alloc(9_000, 7)])),
    ['read'],
  ],
  ['is of a newer version', (path) => changeDatabase(path, 'PRAGMA user_version = 99'), ['read']],
  ['has another table', (path) => changeDatabase(path, 'DROP TABLE logins; CREATE TABLE logins (x)'), ['read']],
];

function changeDatabase(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

for (const [title, damage, expected] of damages) {
  test(`a start with a file that ${title} has no logins, and saves new ones`, (t) => {
    const folder = temporaryFolder(t);
    const before = openLogins(t, folder);
    const lost = before.logIn();
    before.file.close();
    damage(consoleLoginPath(folder));
    const { logins, logIn, errors, file } = openLogins(t, folder);
    assert.equal(logins.find('partner', lost), undefined);
    const saved = logIn();
    assert.deepEqual(errors, expected);
    file.close();
    assert.ok(openLogins(t, folder).logins.find('partner', saved));
  });
}

test('logins work without a file that can be written', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(`${consoleLoginPath(folder)}/occupied`, { recursive: true });
  const unreadable = openLogins(t, folder);
  assert.ok(unreadable.logins.find('partner', unreadable.logIn()));
  assert.deepEqual(unreadable.errors, ['read']);

  const other = temporaryFolder(t);
  const { logins, logIn, errors } = openLogins(t, other);
  changeDatabase(consoleLoginPath(other), 'DROP TABLE logins');
  const tokens = [logIn(), logIn()];
  assert.ok(tokens.every((token) => logins.find('partner', token)));
  assert.deepEqual(errors, ['write']);
});

test('a restart restores no login whose end could not be saved', (t) => {
  const folder = temporaryFolder(t);
  const { logins, logIn, errors, file } = openLogins(t, folder);
  const [ended, other] = [logIn(), logIn()];
  // The file can be read but not changed, as on a full disk.
  const failure = "CREATE TRIGGER full BEFORE DELETE ON logins BEGIN SELECT RAISE(ABORT, 'full'); END";
  changeDatabase(consoleLoginPath(folder), failure);
  logins.end('partner', ended);
  assert.ok(logins.find('partner', other));
  assert.ok(logins.find('partner', logIn()));
  assert.deepEqual(errors, ['write']);
  file.close();
  assert.equal(openLogins(t, folder).logins.find('partner', ended), undefined);
});

test('a login above a limit ends the oldest login of the key or of the console', (t) => {
  const folder = temporaryFolder(t);
  const { logins, logIn, file, clock } = openLogins(t, folder);
  const operator = logins.create('operator', 'operator'.padEnd(32));
  assert.ok(operator.ok);
  const other = logIn('o'.repeat(32));
  const tokens = Array.from({ length: bounds.consoleLoginsPerSecretMax + 1 }, () => {
    clock.advance(bounds.rateLimitWindowMs / bounds.consoleLoginsPerMinute);
    return logIn();
  });
  const valid = tokens.map((token) => logins.find('partner', token) !== undefined);
  assert.deepEqual(valid, [false, ...Array<boolean>(bounds.consoleLoginsPerSecretMax).fill(true)]);
  assert.ok(logins.find('partner', other));
  for (let number = 0; number < bounds.consoleLoginsMax - bounds.consoleLoginsPerSecretMax; number++) {
    logIn(String(number).padStart(32));
  }
  assert.ok(logins.find('operator', operator.value.token));
  assert.equal(logins.find('partner', other), undefined);
  assert.ok(logins.find('partner', tokens.at(-1)!));
  logIn('p'.repeat(32));
  file.close();
  assert.ok(openLogins(t, folder, clock).logins.find('operator', operator.value.token));
});

test('limits the logins per minute with one API key', (t) => {
  const { logIn, clock } = openLogins(t, temporaryFolder(t));
  for (let number = 0; number < bounds.consoleLoginsPerMinute; number++) assert.notEqual(logIn(), 'TOO_MANY_LOGINS');
  assert.equal(logIn(), 'TOO_MANY_LOGINS');
  assert.notEqual(logIn('o'.repeat(32)), 'TOO_MANY_LOGINS');
  clock.advance(bounds.rateLimitWindowMs);
  assert.notEqual(logIn(), 'TOO_MANY_LOGINS');
});

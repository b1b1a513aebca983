import assert from 'node:assert/strict';
import fs, { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { addSecret, addUnitKey, openOrCreateSecretFile, SecretFileError } from '../../src/secrets/secret-file.ts';
import { SecretSet } from '../../src/secrets/secret-set.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const hex = (digit: string) => digit.repeat(64);

describe('openOrCreateSecretFile', () => {
  const pathFor = (t: TestContext) => join(temporaryFolder(t), 'secret.json');

  it('creates a private file with a new secret; later calls read the secret and do not change the file', (t) => {
    const path = pathFor(t);
    const created = openOrCreateSecretFile(path, false);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(created.newest.bytes.length, 32);
    const other = openOrCreateSecretFile(join(path, '..', 'other.json'), false);
    assert.notDeepEqual(created.newest.bytes, other.newest.bytes);
    assert.equal(created.unitKey?.length, 32);
    assert.equal(new Set([created.unitKey, other.unitKey, created.newest.bytes].map(String)).size, 3);
    assert.deepEqual(readdirSync(join(path, '..')), ['other.json', 'secret.json']);
    const content = readFileSync(path, 'utf8');
    assert.deepEqual(openOrCreateSecretFile(path, true), created);
    assert.equal(readFileSync(path, 'utf8'), content);
  });

  it('throws if a ledger exists but its secret file is missing', (t) => {
    const path = pathFor(t);
    assert.throws(() => openOrCreateSecretFile(path, true), SecretFileError);
    assert(!existsSync(path));
  });

  const fileOf = (...secrets: readonly (readonly [number: number, hex: string])[]) =>
    JSON.stringify({ secrets: secrets.map(([number, digits]) => ({ number, hex: digits })) });

  it('reads all secrets of the file', (t) => {
    const path = pathFor(t);
    writeFileSync(path, fileOf([2, hex('b')], [1, hex('a')]));
    const ring = openOrCreateSecretFile(path, true);
    assert.deepEqual([...ring.secretVersions].sort(), [1, 2]);
    assert.deepEqual(ring.newest, { number: 2, bytes: Buffer.alloc(32, 0xbb) });
  });

  it('addUnitKey adds a unit key to the file of an earlier release, which addSecret retains', (t) => {
    const path = pathFor(t);
    const link = `${path}.link`;
    symlinkSync(path, link);
    writeFileSync(path, fileOf([2, hex('b')], [1, hex('a')]));
    assert.equal(openOrCreateSecretFile(link, true).unitKey, null);
    assert.equal(addSecret(link), 3);
    assert.equal(openOrCreateSecretFile(link, true).unitKey, null);
    const unitKey = addUnitKey(link);
    assert.equal(addSecret(link), 4);
    const secrets = openOrCreateSecretFile(path, true);
    assert.deepEqual(secrets.unitKey, unitKey);
    assert.deepEqual([...secrets.secretVersions].sort(), [1, 2, 3, 4]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.ok(lstatSync(link).isSymbolicLink());
  });

  it('addUnitKey names the missing member if the file cannot be replaced', (t) => {
    const path = pathFor(t);
    writeFileSync(path, fileOf([1, hex('a')]));
    let code = '';
    // The user of the tests may be root, who can replace every file.
    t.mock.method(fs, 'renameSync', () => {
      throw Object.assign(new Error(`${code}: rename`), { code });
    });
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    for (code of ['EACCES', 'EROFS', 'EBUSY']) {
      assert.throws(() => addUnitKey(path), {
        name: 'SecretFileError',
        message: new RegExp(`${code}.*add "unit_key"`),
      });
    }
    code = 'ENOSPC';
    assert.throws(() => addUnitKey(path), { code });
    assert.equal(readFileSync(path, 'utf8'), fileOf([1, hex('a')]));
  });

  for (const [what, content] of [
    ['no content', ''],
    ['no JSON', 'secret'],
    ['another JSON value', '[]'],
    ['no secrets', fileOf()],
    ['a short secret', fileOf([1, hex('a').slice(1)])],
    ['capitals', fileOf([1, hex('A')])],
    ['a number of zero', fileOf([0, hex('a')])],
    ['a number above 255', fileOf([256, hex('a')])],
    ['a number twice', fileOf([1, hex('a')], [1, hex('b')])],
    ...['', hex('A'), `${hex('a')}a`, null].map(
      (unit_key) =>
        [`the unit key ${unit_key}`, JSON.stringify({ secrets: [{ number: 1, hex: hex('b') }], unit_key })] as const,
    ),
  ] as const) {
    it(`rejects a secret file with ${what}, and the error does not contain the secret`, (t) => {
      const path = pathFor(t);
      writeFileSync(path, content);
      assert.throws(
        () => openOrCreateSecretFile(path, false),
        (error: Error) => error instanceof SecretFileError && !/aaaaaaaa/i.test(error.message),
      );
      assert.equal(readFileSync(path, 'utf8'), content);
    });
  }
});

describe('SecretSet', () => {
  const ringOf = (...numbers: number[]) =>
    new SecretSet(numbers.map((number) => ({ number, bytes: Buffer.alloc(32, number) })));

  it('the secret with the highest number is the newest', () => {
    const ring = ringOf(2, 9, 1);
    assert.equal(ring.newest.number, 9);
    assert.deepEqual([...ring.secretVersions].sort(), [1, 2, 9]);
  });

  it('derives a different key for each secret and purpose, and derives the same key each time', () => {
    const keys = new Set<string>();
    for (const number of [1, 2]) {
      for (const purpose of ['sub-id', 'click-id', 'offer-value', 'cursor'] as const) {
        const key = ringOf(1, 2).deriveKey(number, purpose)!;
        assert.equal(key.length, 32);
        assert.deepEqual(key, ringOf(1, 2).deriveKey(number, purpose));
        keys.add(key.toString('hex'));
      }
    }
    assert.equal(keys.size, 8);
    for (const fill of [1, 2]) assert(!keys.has(Buffer.alloc(32, fill).toString('hex')));
  });

  it('SecretSet throws for an empty list of secrets, and derives no key for an unknown secret number', () => {
    assert.equal(ringOf(1).deriveKey(2, 'sub-id'), null);
    assert.throws(() => ringOf());
  });
});

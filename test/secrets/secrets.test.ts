import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openOrCreateSecretFile, SecretFileError } from '../../src/secrets/secret-file.ts';
import { SecretRing } from '../../src/secrets/secret-ring.ts';

const hex = (digit: string) => digit.repeat(64);

describe('openOrCreateSecretFile', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'secret-'));
    path = join(folder, 'secret.json');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('creates a private file with one secret, and does not change the file later', () => {
    const created = openOrCreateSecretFile(path, false);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['secret.json']);
    assert.equal(created.newest.bytes.length, 32);
    const content = readFileSync(path, 'utf8');
    assert.deepEqual(openOrCreateSecretFile(path, true).newest, created.newest);
    assert.equal(readFileSync(path, 'utf8'), content);
  });

  it('each new secret file contains a different secret', () => {
    const one = openOrCreateSecretFile(path, false);
    const other = openOrCreateSecretFile(join(folder, 'other.json'), false);
    assert.notDeepEqual(one.newest.bytes, other.newest.bytes);
  });

  it('throws for a missing secret file if a ledger exists', () => {
    assert.throws(() => openOrCreateSecretFile(path, true), SecretFileError);
    assert(!existsSync(path));
  });

  it('reads all secrets of the file', () => {
    writeFileSync(
      path,
      JSON.stringify({
        secrets: [
          { number: 2, hex: hex('b') },
          { number: 1, hex: hex('a') },
        ],
      }),
    );
    const ring = openOrCreateSecretFile(path, true);
    assert.deepEqual([...ring.secretNumbers].sort(), [1, 2]);
    assert.deepEqual(ring.newest, { number: 2, bytes: Buffer.alloc(32, 0xbb) });
  });

  for (const [what, content] of [
    ['no content', ''],
    ['no JSON', 'secret'],
    ['another JSON value', '[]'],
    ['no secrets', '{"secrets": []}'],
    ['a short secret', JSON.stringify({ secrets: [{ number: 1, hex: hex('a').slice(1) }] })],
    ['capitals', JSON.stringify({ secrets: [{ number: 1, hex: hex('A') }] })],
    ['a number of zero', JSON.stringify({ secrets: [{ number: 0, hex: hex('a') }] })],
    ['a number above 255', JSON.stringify({ secrets: [{ number: 256, hex: hex('a') }] })],
    [
      'a number twice',
      JSON.stringify({
        secrets: [
          { number: 1, hex: hex('a') },
          { number: 1, hex: hex('b') },
        ],
      }),
    ],
  ] as const) {
    it(`rejects a secret file with ${what}`, () => {
      writeFileSync(path, content);
      assert.throws(() => openOrCreateSecretFile(path, false), SecretFileError);
      assert.equal(readFileSync(path, 'utf8'), content);
    });
  }

  it('the error for an invalid secret file does not contain the secret', () => {
    const secret = 'c0ffee'.repeat(10);
    writeFileSync(path, JSON.stringify({ secrets: [{ number: 1, hex: secret }] }));
    assert.throws(
      () => openOrCreateSecretFile(path, true),
      (error: Error) => error instanceof SecretFileError && !error.message.includes(secret),
    );
  });
});

const bytes = (fill: number) => Buffer.alloc(32, fill);

describe('SecretRing', () => {
  it('the secret with the highest number is the newest', () => {
    const ring = new SecretRing([
      { number: 2, bytes: bytes(2) },
      { number: 9, bytes: bytes(9) },
      { number: 1, bytes: bytes(1) },
    ]);
    assert.equal(ring.newest.number, 9);
    assert.deepEqual([...ring.secretNumbers].sort(), [1, 2, 9]);
  });

  it('derives a different key for each secret and purpose, and always the same key', () => {
    const secrets = [
      { number: 1, bytes: bytes(1) },
      { number: 2, bytes: bytes(2) },
    ];
    const keys = new Set<string>();
    for (const number of [1, 2]) {
      for (const purpose of ['sub-id', 'click-id', 'offer-value', 'cursor'] as const) {
        const key = new SecretRing(secrets).deriveKey(number, purpose)!;
        assert.equal(key.length, 32);
        assert.deepEqual(key, new SecretRing(secrets).deriveKey(number, purpose));
        keys.add(key.toString('hex'));
      }
    }
    assert.equal(keys.size, 8);
    for (const secret of secrets) assert(!keys.has(secret.bytes.toString('hex')));
  });

  it('deriveKey returns null for an unknown secret number', () => {
    assert.equal(new SecretRing([{ number: 1, bytes: bytes(1) }]).deriveKey(2, 'sub-id'), null);
  });

  it('SecretRing throws if it contains no secrets', () => {
    assert.throws(() => new SecretRing([]));
  });
});

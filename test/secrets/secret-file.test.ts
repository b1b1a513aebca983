import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openOrCreateSecretFile, SecretFileError } from '../../src/secrets/secret-file.ts';

const hex = (digit: string) => digit.repeat(64);

describe('openOrCreateSecretFile', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'secret-'));
    path = join(folder, 'secret.json');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('creates a private file with one secret, and keeps it', () => {
    const created = openOrCreateSecretFile(path, false);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['secret.json']);
    assert.equal(created.newest.bytes.length, 32);
    const content = readFileSync(path, 'utf8');
    assert.deepEqual(openOrCreateSecretFile(path, true).newest, created.newest);
    assert.equal(readFileSync(path, 'utf8'), content);
  });

  it('creates a different secret each time', () => {
    const one = openOrCreateSecretFile(path, false);
    const other = openOrCreateSecretFile(join(folder, 'other.json'), false);
    assert.notDeepEqual(one.newest.bytes, other.newest.bytes);
  });

  it('rejects a missing file if there is a ledger', () => {
    assert.throws(() => openOrCreateSecretFile(path, true), SecretFileError);
    assert(!existsSync(path));
  });

  it('reads all secrets', () => {
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
    it(`rejects a file with ${what}`, () => {
      writeFileSync(path, content);
      assert.throws(() => openOrCreateSecretFile(path, false), SecretFileError);
      assert.equal(readFileSync(path, 'utf8'), content);
    });
  }

  it('does not show a secret in an error', () => {
    const secret = 'c0ffee'.repeat(10);
    writeFileSync(path, JSON.stringify({ secrets: [{ number: 1, hex: secret }] }));
    assert.throws(
      () => openOrCreateSecretFile(path, true),
      (error: Error) => error instanceof SecretFileError && !error.message.includes(secret),
    );
  });
});

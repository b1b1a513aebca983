import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { generateApiKey, hashApiKey, isAccountName, parseBearerKey, parseKeyExpiry } from '../../src/auth/api-key.ts';
import { bounds } from '../../src/bounds.ts';

test('a key starts with its vertical and mode and ends in 48 hex digits', () => {
  assert.match(generateApiKey('svc_pl_', 'live'), /^svc_pl_live_[0-9a-f]{48}$/);
  assert.match(generateApiKey('svc_cc_', 'test'), /^svc_cc_test_[0-9a-f]{48}$/);
});

test('generated keys are unique', () => {
  const keys = new Set(Array.from({ length: 1000 }, () => generateApiKey('svc_pl_', 'live')));
  assert.equal(keys.size, 1000);
});

test('the hash of a key is its SHA-256', () => {
  const key = generateApiKey('svc_pl_', 'live');
  assert.deepEqual(Buffer.from(hashApiKey(key), 'latin1'), createHash('sha256').update(key).digest());
});

test('parses a bearer key with a scheme in any case', () => {
  const key = generateApiKey('svc_pl_', 'test');
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) assert.equal(parseBearerKey(`${scheme} ${key}`), key);
});

test('accepts several spaces after the scheme', () => {
  const key = generateApiKey('svc_pl_', 'test');
  assert.equal(parseBearerKey(`Bearer   ${key}`), key);
});

const key = generateApiKey('svc_pl_', 'live');
for (const [what, header] of [
  ['an absent header', ''],
  ['the scheme alone', 'Bearer'],
  ['the scheme and a space', 'Bearer '],
  ['a key without a scheme', key],
  ['another scheme', `Basic ${key}`],
  ['a scheme that starts with bearer', `Bearers ${key}`],
  ['a scheme with a character that differs only in the case bit', `bEARE\u0012 ${key}`],
  ['no space after the scheme', `Bearer${key}`],
  ['a tab after the scheme', `Bearer\t${key}`],
  ['a key without its last digit', `Bearer ${key.slice(0, -1)}`],
  ['a key with an extra digit', `Bearer ${key}0`],
  ['a key of an unknown mode', `Bearer ${key.replace('_live_', '_prod_')}`],
  ['a key without the prefix of a vertical', `Bearer ${key.slice('svc_pl_'.length)}`],
  ['a key that is too long', `Bearer ${'s'.repeat(bounds.apiKeyCharactersMax)}${key}`],
] as const) {
  test(`rejects ${what}`, () => {
    assert.equal(parseBearerKey(header), null);
  });
}

test('never throws and never returns a key that is too long', () => {
  const mark = fc.constantFrom('Bearer ', 'bearer', ' ', 'live_', 'test_', 'svc_pl_', key, '0'.repeat(48), '\u00e9');
  const header = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(mark, fc.string()), { maxLength: 6 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(header, (text) => {
      const found = parseBearerKey(text);
      assert(found === null || (found.length <= bounds.apiKeyCharactersMax && text.endsWith(found)));
    }),
  );
});

test('an account name has 1 to 64 printable characters', () => {
  for (const name of ['a', 'Acme Loans, Inc.', 'Çelik & Söhne', 'x'.repeat(64)]) assert(isAccountName(name), name);
  for (const name of ['', ' ', ' a', 'a ', 'a\nb', 'a\u0000', 'a\u202eb', 'x'.repeat(65)]) {
    assert(!isAccountName(name), JSON.stringify(name));
  }
});

test('a date expires at the end of its UTC day', () => {
  assert.equal(parseKeyExpiry('2030-12-31'), Date.UTC(2031, 0, 1));
  assert.equal(parseKeyExpiry('2028-02-29'), Date.UTC(2028, 2, 1));
});

test('a timestamp expires at its exact time', () => {
  assert.equal(parseKeyExpiry('2030-12-31T18:30:00Z'), Date.UTC(2030, 11, 31, 18, 30));
  assert.equal(parseKeyExpiry('2030-12-31T18:30Z'), Date.UTC(2030, 11, 31, 18, 30));
  assert.equal(parseKeyExpiry('2030-12-31T18:30:00.250+02:00'), Date.UTC(2030, 11, 31, 16, 30, 0, 250));
});

for (const text of [
  '',
  'tomorrow',
  '2030-1-1',
  '2030-13-01',
  '2030-02-30',
  '2029-02-29',
  '2030-02-30T00:00:00Z',
  '2030-12-31T18:30:00',
  '2030-12-31T25:00:00Z',
  '2030-12-31 18:30:00Z',
  '1924905600',
]) {
  test(`rejects the expiry ${JSON.stringify(text)}`, () => {
    assert.equal(parseKeyExpiry(text), null);
  });
}

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  generateApiKey,
  hashApiKey,
  isValidAccountName,
  parseBearerKey,
  parseKeyExpiry,
} from '../../src/auth/api-key.ts';
import { bounds } from '../../src/bounds.ts';
import { creditCards } from '../../src/verticals/credit-cards/credit-cards.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';

test('an API key has the prefix of its vertical, its mode, account, vertical and mode as digits, and 38 random digits', () => {
  assert.match(generateApiKey(personalLoans, 'live', 1), /^svc_pl_live_0000000102[0-9a-f]{38}$/);
  assert.match(generateApiKey(creditCards, 'test', 0xffff_fffe), /^svc_cc_test_fffffffe05[0-9a-f]{38}$/);
});

test('generated API keys are unique', () => {
  const keys = new Set(Array.from({ length: 1000 }, () => generateApiKey(personalLoans, 'live', 1)));
  assert.equal(keys.size, 1000);
});

test('the hash of an API key is the SHA-256 of its text', () => {
  const key = generateApiKey(personalLoans, 'live', 1);
  assert.deepEqual(Buffer.from(hashApiKey(key), 'latin1'), createHash('sha256').update(key).digest());
});

const key = generateApiKey(personalLoans, 'live', 1);

test('parses an API key after the word Bearer in upper or lower case and one or more spaces', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR ', 'Bearer  ']) {
    assert.equal(parseBearerKey(`${scheme} ${key}`), key);
  }
});

test('rejects Authorization headers without a bearer API key', () => {
  for (const header of [
    ...['', 'Bearer', 'Bearer ', key, `Basic ${key}`, `Bearers ${key}`, `Bearer${key}`, `Bearer\t${key}`],
    // Differs from the scheme only in the bit for the case.
    `bEARE\u0012 ${key}`,
    ...[key.slice(0, -1), `${key}0`, key.replace('_live_', '_prod_'), key.slice('svc_pl_'.length)].map(
      (other) => `Bearer ${other}`,
    ),
    `Bearer ${'s'.repeat(bounds.apiKeyCharactersMax)}${key}`,
  ]) {
    assert.equal(parseBearerKey(header), null, header);
  }
});

test('parsing a random Authorization header never throws, and never returns an API key that is too long', () => {
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
  for (const name of ['a', 'Acme Loans, Inc.', 'Çelik & Söhne', 'x'.repeat(64)]) assert(isValidAccountName(name), name);
  for (const name of ['', ' ', ' a', 'a ', 'a\nb', 'a\u0000', 'a\u202eb', 'x'.repeat(65)]) {
    assert(!isValidAccountName(name), JSON.stringify(name));
  }
});

test('an API key expires at the end of the given UTC day or at the given time', () => {
  assert.equal(parseKeyExpiry('2030-12-31'), Date.UTC(2031, 0, 1));
  assert.equal(parseKeyExpiry('2028-02-29'), Date.UTC(2028, 2, 1));
  assert.equal(parseKeyExpiry('2030-12-31T18:30Z'), Date.UTC(2030, 11, 31, 18, 30));
  assert.equal(parseKeyExpiry('2030-12-31T18:30:00.250+02:00'), Date.UTC(2030, 11, 31, 16, 30, 0, 250));
});

test('rejects an expiry that is neither a date nor a timestamp with a UTC offset', () => {
  for (const text of [
    ...['', 'tomorrow', '1924905600', '2030-1-1', '2030-13-01', '2030-02-30', '2029-02-29', '2030-02-30T00:00:00Z'],
    ...['2030-12-31T18:30:00', '2030-12-31T25:00:00Z', '2030-12-31 18:30:00Z'],
  ]) {
    assert.equal(parseKeyExpiry(text), null, text);
  }
});

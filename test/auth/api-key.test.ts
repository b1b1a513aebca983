import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { generateApiKey, hashApiKey, parseBearerKey } from '../../src/auth/api-key.ts';
import { bounds } from '../../src/bounds.ts';

test('a key names its vertical and mode, and ends in 48 lower-case hexadecimal digits', () => {
  assert.match(generateApiKey('svc_pl_', 'live'), /^svc_pl_live_[0-9a-f]{48}$/);
  assert.match(generateApiKey('svc_cc_', 'test'), /^svc_cc_test_[0-9a-f]{48}$/);
});

test('no two keys are the same', () => {
  const keys = new Set(Array.from({ length: 1000 }, () => generateApiKey('svc_pl_', 'live')));
  assert.equal(keys.size, 1000);
});

test('the hash of a key is its SHA-256', () => {
  const key = generateApiKey('svc_pl_', 'live');
  assert.deepEqual(Buffer.from(hashApiKey(key), 'latin1'), createHash('sha256').update(key).digest());
});

test('a key is found behind the bearer scheme, in whatever case that is written', () => {
  const key = generateApiKey('svc_pl_', 'test');
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) assert.equal(parseBearerKey(`${scheme} ${key}`), key);
});

test('more than one space may stand behind the scheme', () => {
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
  ['a scheme that only begins like bearer', `Bearers ${key}`],
  ['a scheme that ends in other characters of the same case bit', `bEARE\u0012 ${key}`],
  ['no space behind the scheme', `Bearer${key}`],
  ['a tab behind the scheme', `Bearer\t${key}`],
  ['a key without its last digit', `Bearer ${key.slice(0, -1)}`],
  ['a key with a digit too many', `Bearer ${key}0`],
  ['a key of neither mode', `Bearer ${key.replace('_live_', '_prod_')}`],
  ['nothing before the mode', `Bearer ${key.slice('svc_pl_'.length)}`],
  ['a key that is too long', `Bearer ${'s'.repeat(bounds.apiKeyCharactersMax)}${key}`],
] as const) {
  test(`${what} is not a key`, () => {
    assert.equal(parseBearerKey(header), null);
  });
}

test('no header makes the parser throw, and what it finds is never too long', () => {
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

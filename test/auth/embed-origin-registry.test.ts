import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EmbedOriginError, EmbedOriginRegistry } from '../../src/auth/embed-origin-registry.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { issueKey, unrecorded } from './support.ts';

const shop = 'https://shop.example';
const local = 'http://localhost:3000';

/** Opens a registry with the accounts `other` (1) and `acme` (2). */
function openRegistry(t: TestContext): EmbedOriginRegistry {
  const folder = temporaryFolder(t);
  issueKey(folder, { account: 'other' });
  issueKey(folder, { account: 'acme' });
  const registry = new EmbedOriginRegistry(keyFilePath(folder));
  t.after(() => registry.close());
  return registry;
}

test('lists the origins of each account in alphabetical order', (t) => {
  const registry = openRegistry(t);
  assert.deepEqual(registry.allowOrigins('acme', [shop, local], unrecorded), ['allowed', 'allowed']);
  assert.deepEqual(registry.allowOrigins('other', [shop], unrecorded), ['allowed']);
  const otherOrigins = [{ account: 1, accountName: 'other', origin: shop }];
  const acmeOrigins = [local, shop].map((origin) => ({ account: 2, accountName: 'acme', origin }));
  assert.deepEqual(registry.listOrigins(), [...otherOrigins, ...acmeOrigins]);
  assert.deepEqual(registry.listOrigins('acme'), acmeOrigins);
});

test('reports whether an origin was already allowed or already removed', (t) => {
  const registry = openRegistry(t);
  assert.deepEqual(registry.allowOrigins('acme', [shop, shop], unrecorded), ['allowed', 'already_allowed']);
  assert.deepEqual(registry.allowOrigins('acme', [local, shop], unrecorded), ['allowed', 'already_allowed']);
  assert.equal(registry.listOrigins().length, 2);
  assert.deepEqual(registry.removeOrigins('acme', [shop, shop], unrecorded), ['removed', 'not_allowed']);
  assert.deepEqual(registry.removeOrigins('other', [local], unrecorded), ['not_allowed']);
  assert.deepEqual(
    registry.listOrigins().map(({ origin }) => origin),
    [local],
  );
});

test('changes no origins if one of the given origins is invalid', (t) => {
  const registry = openRegistry(t);
  registry.allowOrigins('acme', [shop], unrecorded);
  for (const invalid of ['https://shop.example/', '*', '', 5 as never, undefined as never]) {
    assert.throws(() => registry.allowOrigins('acme', [local, invalid], unrecorded), EmbedOriginError);
    assert.throws(() => registry.removeOrigins('acme', [shop, invalid], unrecorded), EmbedOriginError);
  }
  assert.deepEqual(
    registry.listOrigins().map(({ origin }) => origin),
    [shop],
  );
});

test('limits the number of origins of an account', (t) => {
  const registry = openRegistry(t);
  const origins = Array.from({ length: bounds.embedOriginsPerAccountMax }, (_, n) => `https://${n}.example.com`);
  registry.allowOrigins('acme', origins.slice(1), unrecorded);
  assert.throws(() => registry.allowOrigins('acme', [shop, origins[0]!], unrecorded), /64 origins/);
  assert.equal(registry.listOrigins('acme').length, bounds.embedOriginsPerAccountMax - 1);
  assert.deepEqual(registry.allowOrigins('acme', [origins[0]!], unrecorded), ['allowed']);
  assert.deepEqual(registry.allowOrigins('acme', [origins[0]!], unrecorded), ['already_allowed']);
  assert.deepEqual(registry.allowOrigins('other', [shop], unrecorded), ['allowed']);
});

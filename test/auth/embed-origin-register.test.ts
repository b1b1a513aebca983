import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { EmbedOriginError, EmbedOriginRegistry } from '../../src/auth/embed-origin-registry.ts';
import { KeyFileError, keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { issueKey, temporaryFolder } from './support.ts';

const shop = 'https://shop.example';
const local = 'http://localhost:3000';

/** A register on a folder with the accounts `acme` and `other`. */
function registerFor(t: TestContext): EmbedOriginRegistry {
  const folder = temporaryFolder(t);
  issueKey(folder, { account: 'other' });
  issueKey(folder, { account: 'acme' });
  const register = EmbedOriginRegistry.open(keyFilePath(folder));
  t.after(() => register.close());
  return register;
}

test('what is allowed is listed for its account alone, in order', (t) => {
  const register = registerFor(t);
  assert.deepEqual(register.allow('acme', [shop, local]), ['allowed', 'allowed']);
  assert.deepEqual(register.allow('other', [shop]), ['allowed']);
  const ofOther = [{ account: 1, accountName: 'other', origin: shop }];
  const ofAcme = [local, shop].map((origin) => ({ account: 2, accountName: 'acme', origin }));
  assert.deepEqual(register.list(), [...ofOther, ...ofAcme]);
  assert.deepEqual(register.list('acme'), ofAcme);
});

test('allowing twice and removing twice say so and change nothing', (t) => {
  const register = registerFor(t);
  assert.deepEqual(register.allow('acme', [shop, shop]), ['allowed', 'already_allowed']);
  assert.deepEqual(register.allow('acme', [local, shop]), ['allowed', 'already_allowed']);
  assert.equal(register.list().length, 2);
  assert.deepEqual(register.remove('acme', [shop, shop]), ['removed', 'not_allowed']);
  assert.deepEqual(register.remove('other', [local]), ['not_allowed']);
  assert.deepEqual(
    register.list().map(({ origin }) => origin),
    [local],
  );
});

test('an account that never had a key is told from one without origins', (t) => {
  const register = registerFor(t);
  assert.deepEqual(register.list('acme'), []);
  for (const ask of [
    () => register.allow('acmee', [shop]),
    () => register.remove('acmee', [shop]),
    () => register.list('acmee'),
    () => register.list(2 as never),
  ]) {
    assert.throws(ask, (error: unknown) => error instanceof EmbedOriginError && /no account/.test(error.message));
  }
  assert.deepEqual(register.list(), []);
});

test('one that is no origin, or no text, keeps all of a call from taking effect', (t) => {
  const register = registerFor(t);
  register.allow('acme', [shop]);
  for (const wrong of ['https://shop.example/', '*', '', 5 as never, undefined as never]) {
    assert.throws(() => register.allow('acme', [local, wrong]), EmbedOriginError);
    assert.throws(() => register.remove('acme', [shop, wrong]), EmbedOriginError);
  }
  assert.deepEqual(
    register.list().map(({ origin }) => origin),
    [shop],
  );
});

test('an account may allow as many as the bound says, and a call beyond it takes no effect', (t) => {
  const register = registerFor(t);
  const most = Array.from({ length: bounds.embedOriginsPerAccountMax }, (_, n) => `https://${n}.example.com`);
  register.allow('acme', most.slice(1));
  assert.throws(() => register.allow('acme', [shop, most[0]!]), /64 origins/);
  assert.equal(register.list('acme').length, bounds.embedOriginsPerAccountMax - 1);
  assert.deepEqual(register.allow('acme', [most[0]!]), ['allowed']);
  assert.deepEqual(register.allow('acme', [most[0]!]), ['already_allowed']);
  assert.deepEqual(register.allow('other', [shop]), ['allowed']);
});

test('a key file that must exist is not created', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  assert.throws(() => EmbedOriginRegistry.openExisting(path), KeyFileError);
  assert(!existsSync(path));
});

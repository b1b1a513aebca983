import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { afterwards } from '../support/afterwards.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';

const shop = 'https://shop.example';

/** A marketplace in which the account `acme` has a key. */
async function started(t: TestContext): Promise<{ marketplace: Marketplace; dataDir: string }> {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const marketplace = await createMarketplace({ dataDir, durability: 'write' });
  afterwards(t, () => marketplace.close());
  marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
  return { marketplace, dataDir };
}

test('origins are allowed, listed and removed, and twice is no error', async (t) => {
  const { origins } = (await started(t)).marketplace;
  assert.deepEqual(origins.list(), []);
  assert.equal(origins.allow('acme', shop), 'allowed');
  assert.equal(origins.allow('acme', shop), 'already_allowed');
  const listed = [{ account: 1, accountName: 'acme', origin: shop }];
  assert.deepEqual([origins.list(), origins.list('acme')], [listed, listed]);
  assert.equal(origins.remove('acme', shop), 'removed');
  assert.equal(origins.remove('acme', shop), 'not_allowed');
  assert.deepEqual(origins.list('acme'), []);
});

test('what is no origin, and who is no account, is refused with a RangeError', async (t) => {
  const { origins } = (await started(t)).marketplace;
  for (const wrong of ['https://shop.example/', '*', 'null', 5 as never, undefined as never]) {
    assert.throws(() => origins.allow('acme', wrong), RangeError);
    assert.throws(() => origins.remove('acme', wrong), RangeError);
  }
  assert.throws(() => origins.allow('acme', 'https://shop.example/'), /Write https:\/\/shop\.example,/);
  assert.throws(() => origins.allow('nobody', shop), RangeError);
  assert.throws(() => origins.remove('nobody', shop), RangeError);
  assert.throws(() => origins.list('nobody'), RangeError);
  assert.deepEqual(origins.list(), []);
});

test('the command line and a running marketplace share their lists', async (t) => {
  const { marketplace, dataDir } = await started(t);
  marketplace.origins.allow('acme', shop);
  const removed = await runMarketplace(['origins', 'remove', '--account', 'acme', shop], { SVC_DATA_DIR: dataDir });
  assert.deepEqual([removed.code, removed.stdout], [0, `removed ${shop}\n`]);
  assert.deepEqual(marketplace.origins.list(), []);
});

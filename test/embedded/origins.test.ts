import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createMarketplace, type Marketplace, type MarketplaceOptions } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

const shop = 'https://shop.example';

/** Creates a marketplace with a live key of the account `acme`. */
async function started(
  t: TestContext,
  listen: MarketplaceOptions['listen'] = false,
): Promise<{ marketplace: Marketplace; dataDir: string; key: string }> {
  const dataDir = temporaryFolder();
  runAfterTest(t, () => rmSync(dataDir, { recursive: true }));
  const marketplace = await createMarketplace({ dataDir, durability: 'write', listen });
  runAfterTest(t, () => marketplace.close());
  const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
  return { marketplace, dataDir, key };
}

/** Returns the URL of the widget page of a new session. */
async function widgetPageOf(marketplace: Marketplace, key: string): Promise<string> {
  const partner = marketplace.partner(key);
  const session = await partner.createSession({ referrer_tag: 'embedded' });
  assert.ok(session.ok);
  const { sub_id } = session.value;
  await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete });
  const widget = await partner.getWidget({ sub_id, format: 'iframe' });
  assert.ok(widget.ok);
  return widget.value.src;
}

/** Returns the origins that may embed the page at a URL. */
async function frameAncestors(page: string): Promise<string | undefined> {
  const { port, pathname, search } = new URL(page);
  const http = new HttpClient(Number(port));
  const answer = await http.send({ path: pathname + search });
  http.close();
  return /frame-ancestors ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
}

test('adds, lists and removes allowed origins, and throws a RangeError for an invalid origin or account', async (t) => {
  const { marketplace, dataDir } = await started(t);
  const { origins } = marketplace;
  assert.deepEqual(origins.list(), []);
  assert.equal(origins.allow('acme', shop), 'allowed');
  assert.equal(origins.allow('acme', shop), 'already_allowed');
  const listed = [{ account: 1, accountName: 'acme', origin: shop }];
  assert.deepEqual([origins.list(), origins.list('acme')], [listed, listed]);
  for (const origin of ['https://shop.example/', '*', 'null', 5 as never, undefined as never]) {
    assert.throws(() => origins.allow('acme', origin), RangeError);
    assert.throws(() => origins.remove('acme', origin), RangeError);
  }
  assert.throws(() => origins.allow('acme', 'https://shop.example/'), /Use https:\/\/shop\.example,/);
  assert.throws(() => origins.allow('nobody', shop), RangeError);
  assert.throws(() => origins.remove('nobody', shop), RangeError);
  assert.throws(() => origins.list('nobody'), RangeError);
  assert.deepEqual(origins.list(), listed);
  const removed = await runMarketplace(['origins', 'remove', '--account', 'acme', shop], { SVC_DATA_DIR: dataDir });
  assert.deepEqual([removed.code, removed.stdout], [0, `removed ${shop}\n`]);
  assert.equal(origins.remove('acme', shop), 'not_allowed');
  assert.deepEqual(origins.list('acme'), []);
});

test('applies changed origins to the widgets of a live key', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { marketplace, dataDir, key } = await started(t, { engine: 'node' });
  const page = await widgetPageOf(marketplace, key);
  assert.equal(await frameAncestors(page), "'none'");
  marketplace.origins.allow('acme', shop);
  assert.equal(await frameAncestors(page), shop);
  marketplace.origins.allow('acme', 'http://localhost:3000');
  assert.equal(await frameAncestors(page), `http://localhost:3000 ${shop}`);
  const removed = await runMarketplace(['origins', 'remove', '--account', 'acme', shop], { SVC_DATA_DIR: dataDir });
  assert.equal(removed.code, 0, removed.stderr);
  assert.equal(await frameAncestors(page), `http://localhost:3000 ${shop}`);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(await frameAncestors(page), 'http://localhost:3000');
});

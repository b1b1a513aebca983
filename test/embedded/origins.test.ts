import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { HttpClient } from '../support/http-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { newKey, ok, startEmbedded } from './embedded-marketplace.ts';

const shop = 'https://shop.example';
const { account } = newKey;

/** Returns the origins that may embed the page at a URL. */
async function frameAncestors(page: string): Promise<string | undefined> {
  const { port, pathname, search } = new URL(page);
  const http = new HttpClient(Number(port));
  const answer = await http.send({ path: pathname + search });
  http.close();
  return /frame-ancestors ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
}

test('adds, lists and removes allowed origins of the widgets of a live key', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const dataDir = temporaryFolder(t);
  const { keys, origins, partnerApi: partnerOf } = await startEmbedded(t, { dataDir, listen: { engine: 'node' } });
  const partner = partnerOf(keys.create(newKey).key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'embedded' }));
  ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
  const { src } = ok(await partner.getWidget({ sub_id, format: 'iframe' }));
  assert.deepEqual([origins.list(), await frameAncestors(src)], [[], "'none'"]);
  assert.deepEqual([origins.allow(account, shop), origins.allow(account, shop)], ['allowed', 'already_allowed']);
  const listed = [{ account: 1, accountName: account, origin: shop }];
  assert.deepEqual([origins.list(), origins.list(account), await frameAncestors(src)], [listed, listed, shop]);
  const removed = await runMarketplace(['origins', 'remove', '--account', account, shop], { SVC_DATA_DIR: dataDir });
  assert.deepEqual([removed.code, removed.stdout], [0, `removed ${shop}\n`]);
  // The widget host reads the changes of other processes at its next poll.
  assert.equal(await frameAncestors(src), shop);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(await frameAncestors(src), "'none'");
  assert.deepEqual([origins.remove(account, shop), origins.list(account)], ['not_allowed', []]);
});

test('the origins API throws a RangeError for an invalid origin or an unknown account, and changes nothing', async (t) => {
  const { keys, origins } = await startEmbedded(t);
  keys.create(newKey);
  for (const origin of ['https://shop.example/', '*', 'null', 5 as never, undefined as never]) {
    assert.throws(() => origins.allow(account, origin), RangeError);
    assert.throws(() => origins.remove(account, origin), RangeError);
  }
  assert.throws(() => origins.allow(account, 'https://shop.example/'), /Use https:\/\/shop\.example,/);
  assert.throws(() => origins.allow('nobody', shop), RangeError);
  assert.throws(() => origins.remove('nobody', shop), RangeError);
  assert.throws(() => origins.list('nobody'), RangeError);
  assert.deepEqual(origins.list(), []);
});

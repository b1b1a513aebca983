import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { ServedProcess } from '../cli/served-process.ts';
import { ApiCaller, assertError } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = new URL('../support/pet-insurance/', import.meta.url);
const NODE_OPTIONS = `--import=${new URL('register.ts', folder).href}`;
const SVC_CATALOG = fileURLToPath(new URL('example-catalog.json', folder));

test('serves a vertical of a new kind from one folder and one line of registration, also in matching threads', async (t) => {
  const dataDir = temporaryFolder(t);
  const settings = { SVC_DATA_DIR: dataDir, NODE_OPTIONS };
  const created = await runMarketplace(
    ['keys', 'create', '--account', 'pets', '--vertical', 'pet-insurance', '--mode', 'live', '--raw'],
    settings,
    { ownProcess: true },
  );
  const key = created.stdout.trim();
  assert.match(key, /^svc_pi_live_/, created.stderr);
  const served = new ServedProcess(t, { ...settings, SVC_CATALOG, SVC_MATCHER_THREADS: '1' });
  const http = new HttpClient((await served.ports()).public);
  runAfterTest(t, () => http.close());
  const caller = new ApiCaller(http, 'pet-insurance', key);
  const subId = await caller.createSessionWithFields('paws', { pet: 'cat', age_years: 4, state: 'TX' });
  const { offers, total_offers } = await caller.offers(subId);
  assert.equal(total_offers, 6);
  assert.deepEqual(
    offers.map((offer) => [offer.svc_offer_id, (offer as unknown as { policy: object }).policy]).slice(0, 2),
    [
      ['policy-0-0', { monthly_premium: 19, cover: 5_000 }],
      ['policy-1-0', { monthly_premium: 22, cover: 6_000 }],
    ],
  );
  const refused = await caller.get('marketplace', { sub_id: subId, format: 'json', sort: 'svc_revenue' });
  assertError(refused, 'INVALID_REQUEST', 'sort');
  const document = await http.send({ method: 'GET', path: '/v1/pet-insurance/openapi.json' });
  const { components } = JSON.parse(document.text) as { components: { schemas: { Offer: { properties: object } } } };
  assert.ok('policy' in components.schemas.Offer.properties);
});

test('validates the catalog of a new vertical and prints its statistics', async () => {
  const { stdout, stderr } = await runMarketplace(
    ['catalog', 'stats', SVC_CATALOG, '--json'],
    { NODE_OPTIONS },
    { ownProcess: true },
  );
  assert.equal(stderr, '');
  const { offers, groups } = JSON.parse(stdout);
  assert.deepEqual([offers, groups[0].figures.monthly_premium.min], [12, 15]);
});

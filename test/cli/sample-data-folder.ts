import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createMarketplace } from '../../src/index.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { runMarketplace } from './run-marketplace.ts';

/** Creates an API key with the command line, also while a server runs. Returns the key and its properties. */
export async function createKey(dataDir: string, vertical = 'personal-loans', mode = 'live', ...options: string[]) {
  const args = ['keys', 'create', '--account', 'acme', '--vertical', vertical, '--mode', mode, ...options, '--json'];
  const { code, stdout, stderr } = await runMarketplace(args, { SVC_DATA_DIR: dataDir });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as { readonly key: string; readonly id: string };
}

/** Command line with a data folder that is deleted after the test. */
export function marketplaceOnFreshFolder(t: TestContext) {
  const folder = join(temporaryFolder(t), 'data');
  const settings = { SVC_DATA_DIR: folder };
  const run = (...args: string[]) => runMarketplace(args, settings);
  const runInOwnProcess = (...args: string[]) => runMarketplace(args, settings, { ownProcess: true });
  return { folder, run, runInOwnProcess };
}

/** Definition of an experiment with the tags of `createSampleData`. */
export const sampleExperiment = {
  arms: ['hero-long', 'hero-short'].map((tag) => ({ referrer_tag: tag, weight: 0.5 })),
  control: 'hero-long',
  unit: 'session' as const,
  starts_on: new Date().toISOString().slice(0, 10),
};

/** Starts a service with two sessions of one referrer tag, each with a click, and one session of another referrer tag. */
export async function createSampleData(t: TestContext) {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const marketplace = await createMarketplace({ dataDir: folder, urls: { click: 'https://go.example' } });
  runAfterTest(t, () => marketplace.close());
  const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
  const partner = marketplace.partnerApi(key);
  for (const tag of ['hero-short', 'hero-short', 'hero-long']) {
    const { sub_id } = ok(await partner.createSession({ referrer_tag: tag, metadata: { tag } }));
    if (tag === 'hero-long') continue;
    ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
    const { offers } = ok(await partner.getMarketplace({ sub_id }));
    await marketplace.followClick(offers[0]!.click_url);
  }
  return { folder, run, marketplace, partner };
}

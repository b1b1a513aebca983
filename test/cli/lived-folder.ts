import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createMarketplace, type Marketplace, type PartnerApi, type Result } from '../../src/index.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { marketplaceOnFreshFolder } from './support.ts';

export function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

/** Data folder with two sessions of one experiment, each with a click, and one of another; and the service that runs on it. */
export async function livedFolder(t: TestContext) {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const marketplace: Marketplace = await createMarketplace({ dataDir: folder });
  t.after(() => marketplace.close());
  const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
  const partner: PartnerApi = marketplace.partner(key);
  for (const tag of ['hero-short', 'hero-short', 'hero-long']) {
    const { sub_id } = ok(await partner.createSession({ referrer_tag: tag, metadata: { tag } }));
    if (tag === 'hero-long') continue;
    ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
    const { offers } = ok(await partner.getMarketplace({ sub_id }));
    await marketplace.followClick(offers[0]!.click_url);
  }
  return { folder, run, marketplace, partner };
}

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createMarketplace, type MarketplaceOptions, type Mode, personalLoans } from '../../src/index.ts';
import { afterwards } from '../support/afterwards.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

/** Returns a partner API with a key of this mode, and a session with all fields. */
async function withSession(t: TestContext, mode: Mode, options: Partial<MarketplaceOptions> = {}) {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const marketplace = await createMarketplace({ dataDir, durability: 'write', ...options });
  afterwards(t, () => marketplace.close());
  const { key } = marketplace.keys.create({ account: 'explained', vertical: 'personal-loans', mode });
  const partner = marketplace.partner(key);
  const session = await partner.createSession({ referrer_tag: 'explained' });
  assert.ok(session.ok);
  const { sub_id } = session.value;
  assert.ok((await partner.submitInputs({ sub_id, fields: fixture.complete })).ok);
  return { partner, sub_id };
}

test('explains mismatches to a test key', async (t) => {
  const { partner, sub_id } = await withSession(t, 'test');
  const answer = await partner.getMarketplace({ sub_id, explain: true });
  assert.ok(answer.ok);
  const { explain, total_offers: total } = answer.value;
  assert.equal(explain?.matched, total);
  assert.ok(explain.not_matched > 0 && explain.reasons.length > 0);
  const plain = await partner.getMarketplace({ sub_id, explain: false });
  assert.ok(plain.ok && plain.value.explain === undefined);
});

test('does not explain mismatches to a live key', async (t) => {
  const { partner, sub_id } = await withSession(t, 'live');
  const answer = await partner.getMarketplace({ sub_id, explain: true });
  assert.ok(!answer.ok);
  assert.deepEqual([answer.error.error, answer.error.param], ['INVALID_REQUEST', 'explain']);
  assert.ok((await partner.getMarketplace({ sub_id, explain: false })).ok);
});

test('rejects explain requests above the queue limit, and counts no view for these requests', async (t) => {
  const text = (seed: number) => JSON.stringify(generateCatalog(seed, 2 * bounds.explainedOffersPerTurn));
  const { partner, sub_id } = await withSession(t, 'test', {
    catalogs: [
      { vertical: personalLoans, mode: 'live', text: text(1) },
      { vertical: personalLoans, mode: 'test', text: text(2) },
    ],
  });
  const taken = bounds.explanationQueueMax + 1;
  const answers = await Promise.all(
    Array.from({ length: taken + 10 }, () => partner.getMarketplace({ sub_id, explain: true })),
  );
  const refused = answers.flatMap((answer) => (answer.ok ? [] : [answer.error]));
  assert.equal(refused.length, 10);
  for (const { error, retry_after: wait } of refused) {
    assert.deepEqual([error, wait], ['SERVICE_UNAVAILABLE', bounds.retryAfterSeconds]);
  }
  assert.ok((await partner.getMarketplace({ sub_id, explain: true })).ok);
  const summary = await partner.queryAnalytics({ referrer_tag: 'explained' });
  assert.ok(summary.ok);
  assert.equal(summary.value.marketplace_views, taken + 1);
});

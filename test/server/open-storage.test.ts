import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalyticsUnavailableError } from '../../src/analytics/analytics.ts';
import type { NumberedTag } from '../../src/analytics/tags-reader.ts';
import { CleanupStack } from '../../src/server/lifecycle.ts';
import { restoreReferrerTags } from '../../src/server/open-storage.ts';
import { ReferrerTags } from '../../src/sessions/referrer-tags.ts';
import { liveTenant } from '../support/identities.ts';

const { account, vertical } = liveTenant;

/** Aggregator with two pages of one referrer tag each. Queries fail until the aggregator has applied ten records. */
class SlowAggregator {
  appliedPosition = 0;
  readonly answered = Promise.withResolvers<void>();

  async listNumberedTags(after: number): Promise<readonly NumberedTag[]> {
    if (this.appliedPosition < 10) throw new AnalyticsUnavailableError('not yet');
    if (after < 2) return [[after + 1, account, vertical.number, 0, `tag-${after + 1}`]];
    this.answered.resolve();
    return [];
  }
}

test('applies the limit of referrer tags immediately if the aggregator has processed all ledger records', async () => {
  const tags = new ReferrerTags(2);
  const analytics = new SlowAggregator();
  analytics.appliedPosition = 10;
  await restoreReferrerTags(analytics, 10, tags, new CleanupStack());
  assert.equal(tags.reserveReferrerTag(liveTenant, 'tag-3'), null);
  for (const tag of ['tag-1', 'tag-2']) assert.notEqual(tags.reserveReferrerTag(liveTenant, tag), null);
});

test('restores referrer tags in the background while the aggregator is behind the ledger', async () => {
  const tags = new ReferrerTags(3);
  const analytics = new SlowAggregator();
  const cleanup = new CleanupStack();
  await restoreReferrerTags(analytics, 10, tags, cleanup);
  for (const tag of ['tag-3', 'tag-4']) tags.reserveReferrerTag(liveTenant, tag)!.settleReservation(true);
  analytics.appliedPosition = 10;
  await analytics.answered.promise;
  await new Promise(setImmediate);
  assert.equal(tags.reserveReferrerTag(liveTenant, 'tag-5'), null);
  for (const tag of ['tag-1', 'tag-2', 'tag-3', 'tag-4'])
    assert.notEqual(tags.reserveReferrerTag(liveTenant, tag), null);
  await cleanup.close();
});

test('stops restoring referrer tags in the background when the service closes', async () => {
  const tags = new ReferrerTags(1);
  const analytics = new SlowAggregator();
  const cleanup = new CleanupStack();
  await restoreReferrerTags(analytics, 10, tags, cleanup);
  await cleanup.close();
  analytics.appliedPosition = 10;
  await new Promise((resolve) => setTimeout(resolve, 150));
  for (const tag of ['tag-3', 'tag-4']) assert.notEqual(tags.reserveReferrerTag(liveTenant, tag), null);
});

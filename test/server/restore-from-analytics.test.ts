import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalyticsUnavailableError } from '../../src/analytics/analytics.ts';
import type { HashExperimentsQuery, NumberedHashExperiment } from '../../src/analytics/experiments/experiment-table.ts';
import type { NumberedTag } from '../../src/analytics/tags-reader.ts';
import { daysSinceEpoch } from '../../src/domain/calendar.ts';
import { CleanupStack } from '../../src/server/lifecycle.ts';
import { restoreFromAnalytics } from '../../src/server/restore-from-analytics.ts';
import { HashAssignments } from '../../src/sessions/hash-assignments.ts';
import { ReferrerTags } from '../../src/sessions/referrer-tags.ts';
import { liveTenant } from '../support/identities.ts';
import { experimentDefinedRecord, subIdBytes } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

const { account, vertical, mode } = liveTenant;
const clock = new ManualClock();
const today = daysSinceEpoch(clock.wallMs());
const ledger = { lastAppendedPosition: 10 };

/**
 * Aggregator with two pages of one referrer tag each, and two pages of one experiment each. Queries fail until the aggregator has applied
 * ten records.
 */
class SlowAggregator {
  appliedPosition = 0;
  readonly answered = Promise.withResolvers<void>();

  async listNumberedTags(after: number): Promise<readonly NumberedTag[]> {
    if (this.appliedPosition < 10) throw new AnalyticsUnavailableError('not yet');
    return after < 2 ? [[after + 1, account, vertical.number, 0, `tag-${after + 1}`]] : [];
  }

  async listHashExperiments(query: HashExperimentsQuery): Promise<readonly NumberedHashExperiment[]> {
    if (this.appliedPosition < 10) throw new AnalyticsUnavailableError('not yet');
    assert.equal(query.today, today);
    const { afterNumber } = query;
    if (afterNumber < 2) return [experimentOf(afterNumber + 1)];
    this.answered.resolve();
    return [];
  }
}

function experimentOf(number: number): NumberedHashExperiment {
  const sub = subIdBytes({ createdMs: clock.wallMs(), serial: 1 });
  const arms = ['a', 'b'].map((arm) => ({ referrerTag: `arm-${number}${arm}`, weight: 0.5, label: null }));
  const [, , , name, , text] = experimentDefinedRecord(sub, `test-${number}`, { arms, unit: 'visitor' });
  return { number, account, vertical: vertical.number, mode, name, definition: JSON.parse(text) };
}

class Bench {
  readonly analytics = new SlowAggregator();
  readonly cleanup = new CleanupStack();
  readonly hashAssignments = new HashAssignments();
  readonly referrerTags: ReferrerTags;

  constructor(tagsMax: number) {
    this.referrerTags = new ReferrerTags(tagsMax);
  }

  restore(): Promise<void> {
    return restoreFromAnalytics({ ...this, clock, ledger });
  }

  reserve(tag: string) {
    return this.referrerTags.reserveReferrerTag(liveTenant, tag);
  }

  /** Whether sessions of each experiment are checked: a visitor is in one of the two arms. */
  areChecked(): boolean[] {
    return [1, 2].map((number) =>
      ['a', 'b'].some((arm) =>
        this.hashAssignments.isMisassigned(liveTenant, `arm-${number}${arm}`, 'visitor-1', clock.wallMs()),
      ),
    );
  }
}

test('restores referrer tags, their limit and experiments immediately if the aggregator has applied all records', async () => {
  const bench = new Bench(2);
  bench.analytics.appliedPosition = 10;
  await bench.restore();
  assert.equal(bench.reserve('tag-3'), null);
  for (const tag of ['tag-1', 'tag-2']) assert.notEqual(bench.reserve(tag), null);
  assert.deepEqual(bench.areChecked(), [true, true]);
});

test('restores referrer tags and experiments in the background while the aggregator is behind the ledger', async () => {
  const bench = new Bench(3);
  await bench.restore();
  assert.deepEqual(bench.areChecked(), [false, false]);
  for (const tag of ['tag-3', 'tag-4']) bench.reserve(tag)!.settleReservation(true);
  bench.analytics.appliedPosition = 10;
  await bench.analytics.answered.promise;
  await new Promise(setImmediate);
  assert.equal(bench.reserve('tag-5'), null);
  for (const tag of ['tag-1', 'tag-2', 'tag-3', 'tag-4']) assert.notEqual(bench.reserve(tag), null);
  assert.deepEqual(bench.areChecked(), [true, true]);
  await bench.cleanup.close();
});

test('stops restoring in the background when the service closes', async () => {
  const bench = new Bench(1);
  await bench.restore();
  await bench.cleanup.close();
  bench.analytics.appliedPosition = 10;
  await new Promise((resolve) => setTimeout(resolve, 150));
  for (const tag of ['tag-3', 'tag-4']) assert.notEqual(bench.reserve(tag), null);
  assert.deepEqual(bench.areChecked(), [false, false]);
});

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { RetentionOutcome } from '../../src/analytics/ledger-follower.ts';
import { RetentionTask } from '../../src/analytics/retention-task.ts';
import type { RetentionRequest } from '../../src/analytics/store-retention.ts';
import { bounds } from '../../src/bounds.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('retention', () => {
  const clock = new ManualClock();
  const asked: RetentionRequest[] = [];
  const dropped: number[] = [];
  const given: unknown[] = [];
  const faults: unknown[] = [];
  let recoveries = 0;
  let outcome: () => Promise<RetentionOutcome>;
  let drop: (before: number) => Promise<number>;
  const nothing: RetentionOutcome = { archived: true, retainedFromDay: 100, isNew: false, ledgerFromPosition: 7 };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    for (const list of [asked, dropped, given, faults]) list.length = 0;
    outcome = async () => nothing;
    drop = async () => 0;
    recoveries = 0;
  });
  afterEach(() => mock.timers.reset());

  const start = () =>
    new RetentionTask({
      retentionDays: 140,
      clock,
      analytics: {
        applyRetention(age) {
          asked.push(age);
          return outcome();
        },
      },
      deleteLedgerBefore(before) {
        dropped.push(before);
        return drop(before);
      },
      onDeleted: (what) => given.push(what),
      onError: (fault) => faults.push(fault),
      onRecovered: () => recoveries++,
    });
  const passes = async (ms: number) => {
    mock.timers.tick(ms);
    await turn();
  };

  it('looks at its start and every hour', async () => {
    const retention = start();
    await turn();
    assert.deepEqual(asked, [{ today: dayOf(clock.wallMs()), retentionDays: 140, wallMs: clock.wallMs() }]);
    assert.deepEqual([dropped, given, faults], [[7], [], []]);
    await passes(bounds.retentionCheckIntervalMs - 1);
    assert.equal(asked.length, 1);
    await passes(1);
    await passes(bounds.retentionCheckIntervalMs);
    assert.equal(asked.length, 3);
    await retention.close();
    await passes(10 * bounds.retentionCheckIntervalMs);
    assert.equal(asked.length, 3);
  });

  it('tells what was given up: days, segments, or both', async () => {
    const news: RetentionOutcome = { archived: true, retainedFromDay: 101, isNew: true, ledgerFromPosition: 9 };
    outcome = async () => news;
    const retention = start();
    await turn();
    drop = async () => 2;
    await passes(bounds.retentionCheckIntervalMs);
    outcome = async () => nothing;
    await passes(bounds.retentionCheckIntervalMs);
    await retention.close();
    assert.deepEqual(given, [
      { retainedFromDay: 101, segments: 0 },
      { retainedFromDay: 101, segments: 2 },
      { retainedFromDay: 100, segments: 2 },
    ]);
  });

  it('tries again soon after a fault, tells when it works again, and drops nothing when nothing was sealed', async () => {
    outcome = () => Promise.reject(new Error('the aggregator is not running'));
    const retention = start();
    await turn();
    outcome = async () => ({ archived: false, reason: 'no space left' });
    await passes(bounds.retentionRetryDelayMs);
    outcome = async () => nothing;
    drop = () => Promise.reject(new Error('a file that cannot be removed'));
    await passes(bounds.retentionRetryDelayMs);
    assert.equal(recoveries, 0);
    drop = async () => 0;
    await passes(bounds.retentionRetryDelayMs);
    await passes(bounds.retentionCheckIntervalMs);
    assert.equal(recoveries, 1);
    await retention.close();
    assert.deepEqual(
      faults.map((fault) => (fault as Error).message),
      ['the aggregator is not running', 'no space left', 'a file that cannot be removed'],
    );
    assert.deepEqual(dropped, [7, 7, 7]);
  });

  it('closes without waiting for a sealing, and not before segments are removed', async () => {
    outcome = () => new Promise(() => {});
    const sealing = start();
    await turn();
    await sealing.close();
    assert.deepEqual([dropped, faults], [[], []]);

    outcome = async () => nothing;
    const removed = Promise.withResolvers<number>();
    drop = () => removed.promise;
    const dropping = start();
    await turn();
    let closed = false;
    const closing = dropping.close().then(() => {
      closed = true;
    });
    await turn();
    assert.equal(closed, false);
    removed.resolve(1);
    await closing;
    await passes(10 * bounds.retentionCheckIntervalMs);
    assert.equal(asked.length, 2);
  });
});

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { RetentionTask } from '../../src/analytics/retention-task.ts';
import type { RetentionRequest, RetentionResult } from '../../src/analytics/store-retention.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch } from '../../src/domain/calendar.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('RetentionTask', () => {
  const clock = new ManualClock();
  const requests: RetentionRequest[] = [];
  const deletedBefore: number[] = [];
  const reported: unknown[] = [];
  const errors: unknown[] = [];
  let recoveries = 0;
  let outcome: () => Promise<RetentionResult>;
  let deleteLedger: (before: number) => Promise<number>;
  const retained = { archived: true, ledgerStartPosition: 7, archiveEnd: { position: 4, crc: 1 } } as const;
  const unchanged: RetentionResult = { ...retained, retainedFromDay: 100, isNew: false };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    for (const list of [requests, deletedBefore, reported, errors]) list.length = 0;
    outcome = async () => unchanged;
    deleteLedger = async () => 0;
    recoveries = 0;
  });
  afterEach(() => mock.timers.reset());

  const start = () =>
    new RetentionTask({
      retentionDays: 140,
      clock,
      analytics: {
        applyRetention(request) {
          requests.push(request);
          return outcome();
        },
      },
      deleteLedgerBefore(before) {
        deletedBefore.push(before);
        return deleteLedger(before);
      },
      onDeleted: (deleted) => reported.push(deleted),
      onError: (error) => errors.push(error),
      onRecovered: () => recoveries++,
    });
  const advance = async (ms: number) => {
    mock.timers.tick(ms);
    await turn();
  };

  it('the retention task runs at the start and every hour', async () => {
    const retention = start();
    await turn();
    assert.deepEqual(requests, [{ today: daysSinceEpoch(clock.wallMs()), retentionDays: 140, wallMs: clock.wallMs() }]);
    assert.deepEqual([deletedBefore, reported, errors], [[7], [], []]);
    await advance(bounds.retentionCheckIntervalMs - 1);
    assert.equal(requests.length, 1);
    await advance(1);
    await advance(bounds.retentionCheckIntervalMs);
    assert.equal(requests.length, 3);
    await retention.close();
    await advance(10 * bounds.retentionCheckIntervalMs);
    assert.equal(requests.length, 3);
  });

  it('the retention task reports deleted days and deleted segments', async () => {
    outcome = async () => ({ ...retained, retainedFromDay: 101, isNew: true });
    const retention = start();
    await turn();
    deleteLedger = async () => 2;
    await advance(bounds.retentionCheckIntervalMs);
    outcome = async () => unchanged;
    await advance(bounds.retentionCheckIntervalMs);
    await retention.close();
    assert.deepEqual(reported, [
      { retainedFromDay: 101, segments: 0 },
      { retainedFromDay: 101, segments: 2 },
      { retainedFromDay: 100, segments: 2 },
    ]);
  });

  it('after an error, retention soon retries and deletes no ledger segments before the archive is written', async () => {
    outcome = () => Promise.reject(new Error('aggregator thread is not running'));
    const retention = start();
    await turn();
    outcome = async () => ({ archived: false, reason: 'no space left' });
    await advance(bounds.retentionRetryDelayMs);
    outcome = async () => unchanged;
    deleteLedger = () => Promise.reject(new Error('deletion failed'));
    await advance(bounds.retentionRetryDelayMs);
    assert.equal(recoveries, 0);
    deleteLedger = async () => 0;
    await advance(bounds.retentionRetryDelayMs);
    await advance(bounds.retentionCheckIntervalMs);
    assert.equal(recoveries, 1);
    await retention.close();
    assert.deepEqual(
      errors.map((error) => (error as Error).message),
      ['aggregator thread is not running', 'no space left', 'deletion failed'],
    );
    assert.deepEqual(deletedBefore, [7, 7, 7]);
  });

  it('repeats the call until the visitors of experiments are searched', async () => {
    let calls = 0;
    outcome = async () => (++calls < 4 ? { archived: false, reason: null } : unchanged);
    const retention = start();
    await turn();
    for (let call = 1; call < 4; call++) await advance(bounds.retentionPauseMs);
    await retention.close();
    assert.deepEqual([calls, deletedBefore, errors], [4, [7], []]);
  });

  it('closing the retention task waits for a running deletion of ledger segments, but not for the aggregator', async () => {
    outcome = () => new Promise(() => {});
    const archiving = start();
    await turn();
    await archiving.close();
    assert.deepEqual([deletedBefore, errors], [[], []]);

    outcome = async () => unchanged;
    const removed = Promise.withResolvers<number>();
    deleteLedger = () => removed.promise;
    const deleting = start();
    await turn();
    let closed = false;
    const closing = deleting.close().then(() => {
      closed = true;
    });
    await turn();
    assert.equal(closed, false);
    removed.resolve(1);
    await closing;
    await advance(10 * bounds.retentionCheckIntervalMs);
    assert.equal(requests.length, 2);
  });
});

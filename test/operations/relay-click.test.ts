import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defaultClickDecision } from '../../src/clicks/click-decision.ts';
import { ClickRecordLimiter } from '../../src/clicks/click-record-limiter.ts';
import { SharedTimeout } from '../../src/domain/async.ts';
import { type AppendedRecord, LogUnavailableError } from '../../src/event-log/event-log.ts';
import { recordRelayedClick } from '../../src/operations/relay-click.ts';
import type { RelayedClick } from '../../src/shards/relayed-clicks.ts';
import { runAfterTest } from '../support/run-after-test.ts';

const click: RelayedClick = [5, new Uint8Array(32).fill(7), 'version', 'offer', 'lender', 9, null];
const clickLimits = {
  clicksRecordedPerLinkMax: 2,
  clickCountersMax: 2,
  clicksRecordedPerSessionMax: 8,
  sessionClickCells: 4_096,
};

/** Records relayed clicks in a ledger that returns these results, one for each call of `append`. */
function openBench(t: TestContext, appends: readonly (AppendedRecord | null)[]) {
  const clickTimeout = new SharedTimeout(1, 1);
  runAfterTest(t, () => clickTimeout.close());
  const bench = {
    appendCount: 0,
    isConnected: true,
    record: () =>
      recordRelayedClick(
        {
          clickDecider: {
            decideClick: () => defaultClickDecision,
            needsGrant: () => false,
            waitForGrant: async () => {},
          },
          clickLimiter,
          clickTimeout,
          ledger: {
            healthy: true,
            append: () => appends[bench.appendCount++] ?? null,
            appendWithoutWaiting: () => assert.fail('the record is not known to be durable'),
          },
          onUnbooked: () => {},
        },
        click,
        () => bench.isConnected,
      ),
  };
  const clickLimiter = new ClickRecordLimiter(clickLimits);
  return bench;
}

const durable = { position: 1, durable: Promise.resolve() };

test('a relayed click that the ledger refuses is recorded later, and counts once toward the limit of its link', async (t) => {
  const bench = openBench(t, [null, null, null, durable, durable]);
  assert.equal(await bench.record(), true);
  assert.equal(bench.appendCount, 4);
  assert.equal(await bench.record(), true);
  assert.equal(bench.appendCount, 5);
  // A click above the limit needs no record.
  assert.equal(await bench.record(), true);
  assert.equal(bench.appendCount, 5);
});

test('a relayed click is not recorded until its record is durable, however long that takes', async (t) => {
  const durableLater = Promise.withResolvers<void>();
  const failed = Promise.reject(new LogUnavailableError('write failed', durableLater.promise));
  const bench = openBench(t, [{ position: 1, durable: failed }]);
  const states: string[] = [];
  const recorded = bench.record().then((isRecorded) => states.push(`recorded ${isRecorded}`));
  await new Promise((resolve) => setTimeout(resolve, 20));
  states.push('durable');
  durableLater.resolve();
  await recorded;
  assert.deepEqual(states, ['durable', 'recorded true']);
});

test('a refused relayed click is left to the shard that sent it after the connection is lost', async (t) => {
  const bench = openBench(t, []);
  const recorded = bench.record();
  bench.isConnected = false;
  assert.equal(await recorded, false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import type { EventLogProblem } from '../../src/event-log/file-event-log.ts';
import { LogReader } from '../../src/event-log/log-reader.ts';
import {
  appendOneByOne,
  appendTogether,
  openTestLog,
  plain,
  positionOf,
  recordAt,
  recordsUpTo,
  recoveredRecords,
  upTo,
} from './log-fixture.ts';

/** Collects incidents of an event log. `next` resolves at the next incident of the given kind. */
function watchIncidents() {
  const seen: EventLogProblem['kind'][] = [];
  const waiting = new Map<EventLogProblem['kind'], () => void>();
  return {
    seen,
    onIncident: ({ kind }: EventLogProblem) => {
      seen.push(kind);
      waiting.get(kind)?.();
    },
    next: (kind: EventLogProblem['kind']) => new Promise<void>((resolve) => waiting.set(kind, resolve)),
  };
}

for (const step of ['create', 'write', 'datasync', 'rename', 'syncFolder'] as const) {
  test(`while ${step} fails, append returns null and appendWithoutWaiting queues the record`, async (t) => {
    const incidents = watchIncidents();
    const { folder, files, log } = await openTestLog(t, { onIncident: incidents.onIncident, retryMs: 1 });
    await appendOneByOne(log, 2);
    const unavailable = incidents.next('unavailable');
    // After a failed write, the log creates a new segment, which includes all other steps.
    files.fail('write', 1);
    files.fail(step, Number.POSITIVE_INFINITY);
    const together = appendTogether(log, 2);
    for (const append of together) await assert.rejects(append, LogUnavailableError);
    await unavailable;
    assert.equal(log.healthy, false);
    assert.equal(log.durablePosition, 2);
    assert.equal(log.append(recordAt(5)), null);
    assert.equal(log.appendWithoutWaiting(recordAt(5)), 5);

    const recovered = incidents.next('recovered');
    files.failing.clear();
    await recovered;
    assert.equal(log.healthy, true);
    await appendOneByOne(log, 1);
    assert.equal(log.durablePosition, 6);
    await log.close();
    assert.equal(files.openFiles, 0);
    assert.deepEqual(incidents.seen, ['segment-abandoned', 'unavailable', 'recovered']);
    assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(6)));
  });
}

test('records that were queued during a failed write become durable in order after the log recovers', async (t) => {
  const incidents = watchIncidents();
  const { files, log } = await openTestLog(t, { onIncident: incidents.onIncident, retryMs: 1 });
  await appendOneByOne(log, 1);
  files.fail('datasync', Number.POSITIVE_INFINITY);
  const durable: number[] = [];
  const appendRefused = (position: number) =>
    log.append(recordAt(position))!.durable.catch((error) => {
      assert.ok(error instanceof LogUnavailableError);
      error.durableLater?.then(() => durable.push(position));
      return error.durableLater !== null;
    });
  const storing = [appendRefused(2), appendRefused(3)];
  await new Promise(setImmediate);
  storing.push(appendRefused(4));
  assert.deepEqual(await Promise.all(storing), [true, true, true]);
  assert.equal(log.append(recordAt(5)), null);
  assert.equal(durable.length, 0);
  const recovered = incidents.next('recovered');
  files.failing.clear();
  await recovered;
  // Waits for a later record, because the queued records become durable before that record.
  await log.append(recordAt(5))!.durable.then(() => durable.push(5));
  assert.deepEqual(durable, [2, 3, 4, 5]);
});

test('limits the number of queued records while the log is unavailable', async (t) => {
  const { files, log } = await openTestLog(t, { pendingBytesMax: 2_000 });
  files.fail('create', Number.POSITIVE_INFINITY);
  await assert.rejects(log.append(recordAt(1))!.durable, LogUnavailableError);
  let queued = 0;
  while (log.appendWithoutWaiting(recordAt(log.lastAppendedPosition + 1)) !== null) queued++;
  assert.ok(queued > 10 && queued < 40);
  files.failing.clear();
  await log.close();
  assert.equal(log.durablePosition, queued + 1);
});

test('close retries a failed write once, and then reports the lost records', async (t) => {
  const lost: number[] = [];
  const onIncident = (incident: EventLogProblem) => {
    if (incident.kind === 'records-lost') lost.push(incident.records);
  };
  const { files, log } = await openTestLog(t, { onIncident, retryMs: 60_000 });
  await appendOneByOne(log, 2);
  files.fail('datasync', Number.POSITIVE_INFINITY);
  await assert.rejects(log.append(recordAt(3))!.durable, LogUnavailableError);
  log.appendWithoutWaiting(recordAt(4));
  await log.close();
  assert.deepEqual(lost, [2]);
  assert.equal(files.openFiles, 0);
});

test('close waits for a pending write attempt and retries once if the attempt fails', async (t) => {
  const incidents = watchIncidents();
  const { folder, files, log } = await openTestLog(t, { onIncident: incidents.onIncident, retryMs: 60_000 });
  const secondAttempt = incidents.next('segment-abandoned');
  files.fail('datasync', 2);
  const refused = assert.rejects(log.append(recordAt(1))!.durable, LogUnavailableError);
  await secondAttempt;
  await Promise.all([refused, log.close()]);
  assert.deepEqual(incidents.seen, ['segment-abandoned', 'unavailable', 'recovered']);
  assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(1)));
});

test('a reader reads each record once, even if the log repeats records in a new segment after a failed write', async (t) => {
  const { folder, files, log } = await openTestLog(t);
  const reader = new LogReader(folder, null);
  const read: number[] = [];
  const follow = () => reader.readRecords(log.durablePosition, 100, (_, record) => read.push(positionOf(record)));
  await appendOneByOne(log, 2);
  follow();
  for (let i = 0; i < 3; i++) {
    files.fail('datasync', 1);
    await Promise.all(appendTogether(log, 2));
    follow();
    // The next segment contains no durable record, so the segment after it has the same name.
    files.fail('write', 1);
    await appendOneByOne(log, 1);
    follow();
  }
  assert.deepEqual(read, upTo(11));
  reader.close();
});

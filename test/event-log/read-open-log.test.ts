import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import { readOpenLog } from '../../src/event-log/log-reader.ts';
import { recordTimeMs } from '../../src/ledger/parse-ledger-record.ts';
import { afterwards } from '../support/afterwards.ts';
import { openTemporaryLedger } from '../support/temporary-logs.ts';
import { appendOneByOne, openLog, positionOf, recordAt, scratchFolder } from './log-fixture.ts';

const sinceRecord = (position: number) => ({ wallMs: recordAt(position)[1], timeMsOf: recordTimeMs });

test('reads the records that were appended to an open log before the call', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  afterwards(t, () => log.close());
  for (const count of [0, 1, 2_500]) {
    for (let at = 0; at < count; at++) log.appendWithoutWaiting(recordAt(log.appendedPosition + 1));
    const last = log.appendedPosition;
    const positions: number[] = [];
    const reading = readOpenLog(nodeLogFiles, folder, log, sinceRecord(0), (record) =>
      positions.push(positionOf(record)),
    );
    log.appendWithoutWaiting(recordAt(last + 1));
    await reading;
    assert.deepEqual(
      positions,
      Array.from({ length: last }, (_, at) => at + 1),
    );
  }
});

test('skips segments whose records are all older than the requested ones', async (t) => {
  const folder = scratchFolder(t);
  // A segment for each record.
  const log = await openLog(folder, { segmentBytesMax: 1 });
  afterwards(t, () => log.close());
  await appendOneByOne(log, 20);
  const positions: number[] = [];
  await readOpenLog(nodeLogFiles, folder, log, sinceRecord(15), (record) => positions.push(positionOf(record)));
  assert.deepEqual(positions, [14, 15, 16, 17, 18, 19, 20]);
});

test('yields to the event loop between batches', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  afterwards(t, () => log.close());
  for (let at = 1; at < 3_000; at++) log.appendWithoutWaiting(recordAt(at));
  await log.append(recordAt(3_000))!.durable;
  let [visited, most] = [0, 0];
  const reading = readOpenLog(nodeLogFiles, folder, log, sinceRecord(0), () => visited++);
  for (let before = visited; before < 3_000; before = visited) {
    most = Math.max(most, visited - before);
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, visited - before);
  }
  await reading;
  assert.ok(most > 0 && most <= bounds.logRecordsReadPerTurn, `${most}`);
});

test('fails while the log cannot be written', async (t) => {
  const { log, folder, breakFiles, repair } = await openTemporaryLedger(t);
  await log.append(recordAt(1))!.durable;
  breakFiles();
  await assert.rejects(log.append(recordAt(2))!.durable, LogUnavailableError);
  let visited = 0;
  const read = () => readOpenLog(nodeLogFiles, folder, log, sinceRecord(0), () => visited++);
  await assert.rejects(read(), LogUnavailableError);
  assert.equal(visited, 0);
  const healed = new Promise<void>((resolve) => log.onDurable(() => resolve()));
  repair();
  await healed;
  await read();
  assert.equal(visited, 2);
});

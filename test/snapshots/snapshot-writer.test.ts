import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SnapshotPart } from '../../src/domain/snapshot-part.ts';
import { readSnapshotContent } from '../../src/snapshots/snapshot-files.ts';
import { SnapshotWriter } from '../../src/snapshots/snapshot-writer.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a failed snapshot leaves no files, and the snapshot before remains', async (t) => {
  const folder = join(temporaryFolder(t), 'snapshot');
  let version = 1;
  let failure: Error | null = null;
  const part: SnapshotPart = {
    name: 'counts',
    *capture() {
      yield { id: `${version}`, chunks: () => [Buffer.from('text')] };
      if (failure !== null) throw failure;
    },
    restore: () => assert.fail(),
  };
  const errors: unknown[] = [];
  const writer = new SnapshotWriter({
    folder,
    clock: new ManualClock(),
    parts: [{ part, folder }],
    ledger: {
      durableCursor: { position: 0, segment: 0, offset: 0, crc: 0 },
      lastAppendedPosition: 0,
      lastAppendedCrc: 0,
      healthy: true,
    },
    onError: (error) => errors.push(error),
  });
  runAfterTest(t, () => writer.close());
  const listFiles = () => readdirSync(folder).sort();
  await writer.save();
  const files = listFiles();
  const [piece] = readSnapshotContent(folder).content!.pieces;
  assert.deepEqual(files, ['content.json', piece!.file]);
  failure = new Error('no space');
  for (version = 2; version <= 3; version++) await writer.save();
  assert.deepEqual([errors, listFiles()], [[failure, failure], files]);
  failure = null;
  await writer.save();
  const [changed] = readSnapshotContent(folder).content!.pieces;
  assert.deepEqual([changed!.id, listFiles()], ['4', ['content.json', changed!.file]]);
});

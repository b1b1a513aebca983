import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataFiles } from '../../src/files/data-files.ts';
import { createdRecord, subOf } from '../support/ledger-records.ts';

test('rebuilds a store that was projected from another ledger', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-follower-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = dataFiles(folder);
  const { ledgerFolder } = files;
  const reasons: string[] = [];
  /** Writes segments with the same names and positions but other sessions. */
  const write = async (serial: number, sessions: number): Promise<void> => {
    const log = await openEventLog({ folder: ledgerFolder, durability: 'write' });
    for (let i = 0; i < sessions; i++) {
      await log.append(createdRecord(subOf({ createdMs: Date.UTC(2026, 4, 20), serial: serial + i })))!.durable;
    }
    await log.close();
  };
  const projectedRecords = (upTo: number): number => {
    const follower = new LedgerFollower(files, (reason) => reasons.push(reason));
    follower.applyBatch(upTo);
    const { records } = follower.execute({ name: 'getTotals', parameter: undefined });
    follower.close();
    return records;
  };

  await write(1, 3);
  assert.equal(projectedRecords(3), 3);
  renameSync(ledgerFolder, `${ledgerFolder}-away`);
  await write(100, 5);
  assert.equal(projectedRecords(5), 5);
  assert.equal(reasons.length, 1);
  assert.match(reasons[0]!, /has no record 3/);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import type { LogFiles } from '../../src/event-log/log-files.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import type { LedgerSubscriber } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';

/** A real ledger in a temporary folder that is deleted after the test. */
export interface TemporaryLedger {
  readonly log: FileEventLog<LedgerRecord>;
  readonly folder: string;
  /** Makes all writes to files fail until `repair`. The log reports the failure with its next group. */
  breakFiles(): void;
  repair(): void;
  /** Closes the log. Returns the stored records. */
  records(): Promise<unknown[][]>;
}

export async function openTemporaryLedger(
  t: TestContext,
  ...subscribers: readonly LedgerSubscriber[]
): Promise<TemporaryLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  const options = { folder, durability: 'write' } as const;
  let broken = false;
  const files: LogFiles = {
    ...nodeLogFiles,
    create: (path) => (broken ? Promise.reject(new Error('no space left')) : nodeLogFiles.create(path)),
  };
  // Each group is written to a new segment file, so the log reports broken files at once.
  const log = await openLedger({ ...options, subscribers, recoveries: [], files, segmentBytesMax: 1, retryMs: 1 });
  t.after(async () => {
    await log.close();
    rmSync(folder, { recursive: true });
  });
  return {
    log,
    folder,
    breakFiles() {
      broken = true;
    },
    repair() {
      broken = false;
    },
    async records() {
      await log.close();
      const found: unknown[][] = [];
      const again = await openEventLog({
        ...options,
        onRecord: (_position, record) => found.push(record as unknown[]),
      });
      await again.close();
      return found;
    },
  };
}

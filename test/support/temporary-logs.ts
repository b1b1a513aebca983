import type { TestContext } from 'node:test';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { type LogFiles, nodeFileSystem } from '../../src/event-log/log-files.ts';
import { FileJournal, type FileJournalOptions } from '../../src/journal/file-journal.ts';
import { type LedgerSubscriber, openLedger } from '../../src/ledger/ledger.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { FailingLogFiles, type WritingStep } from '../event-log/failing-log-files.ts';
import { secretSetOf } from './identities.ts';
import { ManualClock } from './manual-clock.ts';
import { runAfterTest } from './run-after-test.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type TemporaryLedger = Awaited<ReturnType<typeof openTemporaryLedger>>;

/** Opens a real ledger in a temporary folder that is deleted after the test. */
export async function openTemporaryLedger(t: TestContext, ...subscribers: readonly LedgerSubscriber[]) {
  const folder = temporaryFolder(t);
  const options = { folder, durability: 'write' } as const;
  let broken = false;
  const files: LogFiles = {
    ...nodeFileSystem,
    createFile: (path) => (broken ? Promise.reject(new Error('no space left')) : nodeFileSystem.createFile(path)),
  };
  // Each group is written to a new segment file, so the log reports broken files at once.
  const log = await openLedger({ ...options, subscribers, recoveries: [], files, segmentBytesMax: 1, retryMs: 1 });
  runAfterTest(t, () => log.close());
  return {
    log,
    folder,
    /** Makes all writes to files fail until `repairFiles`. The log reports the failure with its next group. */
    breakFiles() {
      broken = true;
    },
    repairFiles() {
      broken = false;
    },
    /** Closes the log. Returns the stored records. */
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

interface StoredMerge {
  readonly sub: Buffer;
  readonly changes: readonly number[];
}

export type TemporaryJournal = Awaited<ReturnType<typeof openTemporaryJournal>>;

/** Opens a real journal in a temporary folder that is deleted after the test. */
export async function openTemporaryJournal(t: TestContext, overrides: Partial<FileJournalOptions> = {}) {
  const folder = temporaryFolder(t);
  const files = new FailingLogFiles();
  const options: FileJournalOptions = {
    folder,
    durability: 'write',
    clock: new ManualClock(),
    secrets: secretSetOf('ours'),
    verticals: [personalLoans],
    sessionTtlMs: 4 * 60 * 60 * 1000,
    files,
    retryMs: 1,
    onFieldChanges: () => {},
    ...overrides,
  };
  const temporary = {
    folder,
    options,
    journal: await FileJournal.open(options),
    /** Closes and reopens the journal. Returns the stored merges. */
    async merges(more: Partial<FileJournalOptions> = {}): Promise<StoredMerge[]> {
      await temporary.journal.close();
      const kept: StoredMerge[] = [];
      const onFieldChanges = (sub: Uint8Array, changes: readonly number[]) => {
        kept.push({ sub: Buffer.from(sub), changes: [...changes] });
      };
      temporary.journal = await FileJournal.open({ ...options, onFieldChanges, ...more });
      return kept;
    },
    breakFiles() {
      for (const step of ['create', 'write', 'datasync'] satisfies WritingStep[]) {
        files.fail(step, Number.POSITIVE_INFINITY);
      }
    },
    repairFiles: () => files.failing.clear(),
  };
  runAfterTest(t, () => {
    temporary.repairFiles();
    return temporary.journal.close();
  });
  return temporary;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { FileJournal, type FileJournalOptions } from '../../src/journal/file-journal.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { FailingLogFiles, type WritingStep } from '../event-log/failing-log-files.ts';
import { ManualClock } from './manual-clock.ts';
import { ringOf } from './secrets.ts';

interface KeptMerge {
  readonly sub: Buffer;
  readonly changes: readonly number[];
}

/** A real journal in its own folder. Tests can break and repair the journal, and read its records as after a restart. */
export class TemporaryJournal {
  readonly folder: string;
  readonly options: FileJournalOptions;
  readonly #files = new FailingLogFiles();
  journal!: FileJournal;

  constructor(folder: string, options: Partial<FileJournalOptions>) {
    this.folder = folder;
    this.options = {
      folder,
      durability: 'write',
      clock: new ManualClock(),
      secrets: ringOf('ours'),
      verticals: [personalLoans],
      sessionTtlMs: 4 * 60 * 60 * 1000,
      files: this.#files,
      retryMs: 1,
      onFieldChanges: () => {},
      ...options,
    };
  }

  /** Closes and reopens the journal. Returns the stored merges. */
  async merges(options: Partial<FileJournalOptions> = {}): Promise<KeptMerge[]> {
    await this.journal?.close();
    const kept: KeptMerge[] = [];
    const onFieldChanges = (sub: Uint8Array, changes: readonly number[]) => {
      kept.push({ sub: Buffer.from(sub), changes: [...changes] });
    };
    this.journal = await FileJournal.open({ ...this.options, onFieldChanges, ...options });
    return kept;
  }

  breakFiles(): void {
    for (const step of ['create', 'write', 'datasync'] satisfies WritingStep[]) {
      this.#files.fail(step, Number.POSITIVE_INFINITY);
    }
  }

  repair(): void {
    this.#files.failing.clear();
  }
}

export async function openTemporaryJournal(
  t: TestContext,
  options: Partial<FileJournalOptions> = {},
): Promise<TemporaryJournal> {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  const temporary = new TemporaryJournal(folder, options);
  await temporary.merges();
  t.after(async () => {
    temporary.repair();
    await temporary.journal.close();
    rmSync(folder, { recursive: true });
  });
  return temporary;
}

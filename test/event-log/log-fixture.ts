import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { FileEventLog, FileEventLogOptions } from '../../src/event-log/file-event-log.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { segmentHeaderBytes } from '../../src/event-log/log-format.ts';
import type { LedgerRecord, SessionCreated } from '../../src/ledger/ledger-record.ts';

/** A folder of its own for one test, gone after it. */
export function scratchFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'event-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The record every test appends at `position`, so that each can tell what it must find there. */
export function recordAt(position: number): SessionCreated {
  const sub = new Uint8Array(32).fill(position % 251);
  return [
    1,
    1_700_000_000_000 + position,
    sub,
    `tag_${position}`,
    position % 7,
    2,
    position % 3 === 0 ? null : '{"a":1}',
  ];
}

export function positionOf(record: unknown): number {
  return (record as SessionCreated)[1] - 1_700_000_000_000;
}

export function openLog(
  folder: string,
  options: Partial<FileEventLogOptions<LedgerRecord>> = {},
): Promise<FileEventLog<LedgerRecord>> {
  return openEventLog({ folder, durability: 'fsync', ...options });
}

/** Appends `count` records, each in a group of its own. */
export async function appendOneByOne(log: FileEventLog<LedgerRecord>, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await log.append(recordAt(log.appendedPosition + 1))!.durable;
}

/** Appends `count` records that travel in one group. */
export function appendTogether(log: FileEventLog<LedgerRecord>, count: number): Promise<void>[] {
  return Array.from({ length: count }, () => log.append(recordAt(log.appendedPosition + 1))!.durable);
}

/** What a log holds, by opening it: the records, decoded, at index position - 1. */
export async function recoveredRecords(
  folder: string,
  options: Partial<FileEventLogOptions<LedgerRecord>> = {},
): Promise<unknown[]> {
  const records: unknown[] = [];
  const onRecord = (position: number, record: unknown) => {
    if (position !== records.length + 1) throw new Error(`position ${position} after ${records.length}`);
    records.push(record);
  };
  const log = await openLog(folder, { ...options, onRecord });
  await log.close();
  return records;
}

/** The first `count` records of any test's log. */
export function recordsUpTo(count: number): SessionCreated[] {
  return Array.from({ length: count }, (_, i) => recordAt(i + 1));
}

/** Bytes compare as Buffers of their own: what a file holds is decoded into views. */
export function plain(records: readonly unknown[]): unknown[] {
  return records.map((record) =>
    (record as unknown[]).map((item) => (item instanceof Uint8Array ? Buffer.from(item).toString('hex') : item)),
  );
}

/** The segments that hold records, in order: without the end mark of a closed log. */
export function segmentFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log') && statSync(join(folder, name)).size > segmentHeaderBytes)
    .sort()
    .map((name) => join(folder, name));
}

/** Removes the end mark of a closed log: so a crash right after its last record leaves it. */
export function removeEndMark(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.log') && statSync(join(folder, name)).size === segmentHeaderBytes) rmSync(join(folder, name));
  }
}

/** The folder as a crash at this moment would leave it. */
export function copyOf(folder: string, t: TestContext): string {
  for (;;) {
    const copy = scratchFolder(t);
    try {
      // Not copyFile: it never returns when the file is cut shorter under its hands.
      for (const name of readdirSync(folder)) writeFileSync(join(copy, name), readFileSync(join(folder, name)));
      return copy;
    } catch (error) {
      // A segment was renamed by the log, which goes on in other threads, between the listing and the copy.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { FileEventLog, FileEventLogOptions } from '../../src/event-log/file-event-log.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { segmentHeaderLength } from '../../src/event-log/log-format.ts';
import type { LedgerRecord, SessionCreatedRecord } from '../../src/ledger/ledger-record.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { FailingLogFiles } from './failing-log-files.ts';

/** Returns the record that tests append at a position. */
export function recordAt(position: number): SessionCreatedRecord {
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
  return (record as SessionCreatedRecord)[1] - 1_700_000_000_000;
}

export function openLog(
  folder: string,
  options: Partial<FileEventLogOptions<LedgerRecord>> = {},
): Promise<FileEventLog<LedgerRecord>> {
  return openEventLog({ folder, durability: 'fsync', ...options });
}

/** Opens a log in a new folder with file operations that can fail. The log is closed after the test. */
export async function openTestLog(t: TestContext, options: Partial<FileEventLogOptions<LedgerRecord>> = {}) {
  const folder = temporaryFolder(t);
  const files = new FailingLogFiles();
  const log = await openLog(folder, { files, ...options });
  runAfterTest(t, () => log.close());
  return { folder, files, log };
}

/** Appends records, each in a separate group. */
export async function appendOneByOne(log: FileEventLog<LedgerRecord>, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await log.append(recordAt(log.lastAppendedPosition + 1))!.durable;
}

/** Appends records in one group. */
export function appendTogether(log: FileEventLog<LedgerRecord>, count: number): Promise<void>[] {
  return Array.from({ length: count }, () => log.append(recordAt(log.lastAppendedPosition + 1))!.durable);
}

/**
 * Writes a log with one segment per list of groups, and closes it. A group is given by its number of records, which are `recordAt` their
 * position. Returns the paths of the segments.
 */
export async function writeLog(folder: string, ...segments: readonly (readonly number[])[]): Promise<string[]> {
  for (const groups of segments) {
    const log = await openLog(folder);
    for (const count of groups) await Promise.all(appendTogether(log, count));
    await log.close();
  }
  return segmentFiles(folder);
}

/** Changes one byte of a file. */
export function damageByte(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 0x55;
  writeFileSync(file, bytes);
}

/** Returns the offset after each record of a segment without preallocated zeros. */
export function recordEnds(file: string): number[] {
  const bytes = readFileSync(file);
  const ends: number[] = [];
  for (let at = segmentHeaderLength; at < bytes.length; ends.push(at)) {
    const word = bytes.readUInt32BE(at);
    at += 8 + (word & 0x7fff_ffff) + (word >= 0x8000_0000 ? 12 : 0);
  }
  return ends;
}

/** Returns the integers from 1, or `from`, to `last`. */
export function upTo(last: number, from = 1): number[] {
  return Array.from({ length: last - from + 1 }, (_, i) => from + i);
}

/** Opens a log and returns its records. */
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

export function recordsUpTo(count: number): SessionCreatedRecord[] {
  return upTo(count).map(recordAt);
}

/** Replaces bytes by hexadecimal text, and undefined by null as the log does, so that records can be compared. */
export function plain(records: readonly unknown[]): unknown[] {
  return records.map((record) =>
    (record as unknown[]).map((item) =>
      item instanceof Uint8Array ? Buffer.from(item).toString('hex') : (item ?? null),
    ),
  );
}

/** Returns the paths of the segments with records, without the end mark. */
export function segmentFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log') && statSync(join(folder, name)).size > segmentHeaderLength)
    .sort()
    .map((name) => join(folder, name));
}

/** Removes the end mark of a closed log. The log is then as after a crash. */
export function removeEndMark(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.log') && statSync(join(folder, name)).size === segmentHeaderLength) rmSync(join(folder, name));
  }
}

/** Copies the folder of an open log, as a crash would leave it. */
export function copyOf(folder: string, t: TestContext): string {
  for (;;) {
    const copy = temporaryFolder(t);
    try {
      // `copyFile` does not return if the file is truncated during the copy.
      for (const name of readdirSync(folder)) writeFileSync(join(copy, name), readFileSync(join(folder, name)));
      return copy;
    } catch (error) {
      // The log renamed a segment after the folder was listed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

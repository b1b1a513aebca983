import { existsSync } from 'node:fs';
import { type LogFiles, nodeFileSystem } from '../event-log/log-files.ts';
import { parseSegmentFileNames } from '../event-log/log-format.ts';
import { LogScanner } from '../event-log/log-scanner.ts';
import { SegmentFileWriter, writeEmptySegment } from '../event-log/segment-files.ts';
import { LogDamagedError } from '../event-log/segment-reader.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import {
  type ArchivedCounters,
  type ArchiveHeader,
  type ArchiveRecord,
  ArchiveRecordOrder,
  archiveRecordKind,
  isArchiveRecord,
} from './archive-record.ts';

/**
 * Archive of the daily counters of days whose sessions and ledger records have been deleted. All figures can be computed from the archive
 * and the retained ledger segments.
 *
 * Each segment contains the days after the last archived day. It is written to a temporary file in small parts, then read back in small
 * parts, and then becomes a part of the archive at once. A segment of the archive is never changed. The store deletes its copy of the
 * archived data only after the archive segment is durable. The archive is a log in the format of the ledger: checksums reveal changes and
 * losses, and `marketplace log verify` can verify it. Only one thread may use the archive.
 */
export class CounterArchive {
  readonly #folder: string;
  #end: LogEnd = { position: 0, crc: 0 };
  #retainedFromDay = 0;
  #ledgerStartPosition = 1;
  #unfinished: UnfinishedSegment | null = null;

  /** Opens the archive. Reads only the newest segment of the archive. Throws `LogDamagedError`. */
  constructor(folder: string) {
    this.#folder = folder;
    if (!existsSync(folder)) return;
    const firsts = parseSegmentFileNames(nodeFileSystem.listFiles(folder));
    // The last file of the archive is normally an empty segment that marks the archive as closed. After a crash, and in archives of older
    // releases, this empty segment is missing.
    const last = firsts.at(-2) ?? firsts.at(-1);
    if (last === undefined) return;
    this.#end = this.#readEnd(last);
  }

  /** Reads the last segments of the archive. */
  #readEnd(segment: number): LogEnd {
    const records = readArchive(nodeFileSystem, this.#folder, segment);
    for (let next = records.next(); ; next = records.next()) {
      if (next.done) return next.value;
      if (next.value[0] !== archiveRecordKind.header) continue;
      [, , , this.#retainedFromDay, this.#ledgerStartPosition] = next.value;
    }
  }

  /** Position and CRC of the last record; both are 0 if the archive is empty. */
  get end(): LogEnd {
    return this.#end;
  }

  /** First day (day number) that is not archived; 0 if the archive is empty. */
  get firstRetainedDay(): number {
    return this.#retainedFromDay;
  }

  /** First ledger position from which a rebuild must read to restore all days that are not archived. */
  get ledgerStartPosition(): number {
    return this.#ledgerStartPosition;
  }

  /**
   * Yields all records of the archive in order. Throws `LogDamagedError` if the archive is damaged, possibly after yielding some valid
   * records.
   */
  *readAll(): Generator<ArchiveRecord, void> {
    if (this.#end.position === 0) return;
    let nextDay = 0;
    for (const record of readArchive(nodeFileSystem, this.#folder, 1)) {
      if (record[0] === archiveRecordKind.header) {
        const [, , fromDay, untilDay] = record;
        if (fromDay !== nextDay) {
          const reason = `archive segment starts at day ${fromDay}; expected day ${nextDay}`;
          throw new LogDamagedError(this.#folder, 0, reason);
        }
        nextDay = untilDay;
      }
      yield record;
    }
  }

  /** Yields the account number of each referrer tag in the archive. Throws `LogDamagedError`. */
  *readAccounts(): Generator<number, void> {
    for (const record of this.readAll()) {
      if (record[0] === archiveRecordKind.tag) yield record[1][0];
    }
  }

  /**
   * Starts a segment with the counters of the days from `firstRetainedDay` (inclusive) to `untilDay` (exclusive, at least one day later), and
   * discards the unfinished segment, if any. Throws `ArchiveWriteError`.
   */
  startSegment({ wallMs, untilDay, ledgerStartPosition, hasOffers }: ArchiveRange, counters: ArchivedCounters): void {
    this.discardSegment();
    const fromDay = this.#retainedFromDay;
    const header = [archiveRecordKind.header, wallMs, fromDay, untilDay, ledgerStartPosition, hasOffers] as const;
    const { position, crc } = this.#end;
    this.#changeFiles(() => {
      nodeFileSystem.createFolder(this.#folder);
      const writer = new SegmentFileWriter(this.#folder, { firstSequence: position + 1, previousCrc: crc });
      this.#unfinished = { writer, header, unwritten: archiveSegmentRecords(header, counters), unverified: null };
    });
  }

  /**
   * Writes or verifies some records of the segment that `startSegment` started. Returns true when all records are written and verified and
   * the segment is a durable part of the archive.
   *
   * Throws `ArchiveWriteError` if the segment cannot be written, `LogDamagedError` if it cannot be read, and passes on the errors of
   * `counters`. The segment is then discarded, but if only the last step failed, the next start may still find a complete segment.
   *
   * @param recordsMax maximum number of records that are written or verified
   */
  continueSegment(recordsMax: number): boolean {
    const unfinished = this.#unfinished!;
    const { writer, unwritten } = unfinished;
    try {
      let remaining = recordsMax;
      if (unfinished.unverified === null) {
        remaining -= this.#changeFiles(() => writeRecords(writer, unwritten, recordsMax));
        if (remaining === 0) return false;
        unfinished.unverified = readArchive(writer.files, this.#folder, this.#end.position + 1);
      }
      for (; remaining > 0; remaining--) if (unfinished.unverified.next().done) return this.#publish(unfinished);
      return false;
    } catch (error) {
      this.discardSegment();
      throw error;
    }
  }

  /** Makes a segment a part of the archive. Always returns true. */
  #publish({ writer, header }: UnfinishedSegment): true {
    this.#changeFiles(() => writer.publish());
    this.#unfinished = null;
    this.#end = writer.end;
    this.#markArchiveClosed();
    [, , , this.#retainedFromDay, this.#ledgerStartPosition] = header;
    return true;
  }

  /** Discards the unfinished segment, if any. */
  discardSegment(): void {
    if (this.#unfinished === null) return;
    const { writer, unverified } = this.#unfinished;
    this.#unfinished = null;
    unverified?.return({ position: 0, crc: 0 });
    writer.discard();
  }

  #changeFiles<Result>(change: () => Result): Result {
    try {
      return change();
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      throw new ArchiveWriteError(`${this.#folder}: ${error.message}`, { cause: error });
    }
  }

  /** Writes an empty segment, which marks the archive as closed. Commands that verify or copy a log require this mark. */
  #markArchiveClosed(): void {
    try {
      writeEmptySegment(this.#folder, { firstSequence: this.#end.position + 1, previousCrc: this.#end.crc });
    } catch (error) {
      // If the closing mark cannot be written, the error is ignored, because the archived counters are already on disk.
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
    }
  }
}

/** A segment that is not a part of the archive yet. */
interface UnfinishedSegment {
  readonly writer: SegmentFileWriter;
  readonly header: ArchiveHeader;
  readonly unwritten: Iterator<ArchiveRecord, void>;
  /** Records of the temporary file that are not read back yet; null until all records are written. */
  unverified: Generator<ArchiveRecord, LogEnd> | null;
}

/** Writes up to `recordsMax` records, and returns their number. If it is less than `recordsMax`, all records are written and synced. */
function writeRecords(writer: SegmentFileWriter, records: Iterator<ArchiveRecord, void>, recordsMax: number): number {
  for (let count = 0; count < recordsMax; count++) {
    const next = records.next();
    if (next.done) {
      writer.sync();
      return count;
    }
    writer.add(next.value);
  }
  return recordsMax;
}

/** Yields the records of a segment and all later segments. Returns the position and the CRC of the last record. Throws `LogDamagedError`. */
function* readArchive(files: LogFiles, folder: string, segment: number): Generator<ArchiveRecord, LogEnd> {
  const scanner = new LogScanner(files, folder, { segment, decode: true });
  const damaged = (reason: string): LogDamagedError => {
    const { file, offset } = scanner.end ?? { file: folder, offset: 0 };
    return new LogDamagedError(file, offset, reason);
  };
  const order = new ArchiveRecordOrder();
  let isEmpty = true;
  try {
    for (; scanner.nextRecord(); isEmpty = false) {
      if (isEmpty && scanner.position !== segment) throw damaged(`record ${segment} is missing`);
      const { record } = scanner;
      if (!isArchiveRecord(record) || !order.isValidNextRecord(record)) {
        throw damaged(`unexpected archive record at position ${scanner.position}`);
      }
      yield record;
    }
    if (order.isOpen || isEmpty || scanner.tornBytes > 0) throw damaged('archive segment is incomplete');
    return { position: scanner.position, crc: scanner.crc };
  } finally {
    scanner.close();
  }
}

/** Error for a failed write to the archive, for example on a full disk. */
export class ArchiveWriteError extends Error {
  override readonly name = 'ArchiveWriteError';
}

export interface ArchiveRange {
  readonly wallMs: number;
  readonly untilDay: number;
  readonly ledgerStartPosition: number;
  /** Whether `counters` contains the counters of all offers. */
  readonly hasOffers: boolean;
}

function* archiveSegmentRecords(header: ArchiveHeader, counters: ArchivedCounters): Generator<ArchiveRecord, void> {
  yield header;
  yield* counters;
  yield [archiveRecordKind.footer];
}

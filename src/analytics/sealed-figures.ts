import { existsSync } from 'node:fs';
import { segmentFirstSequences } from '../events/log-format.ts';
import { LogScanner } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { LogDamagedError } from '../events/segment-reader.ts';
import { writeSegment } from '../events/write-segment.ts';
import {
  parseArchiveRecord,
  type ArchivedDay,
  type ArchivedExperiment,
  type ArchivedLender,
  type ArchiveRecord,
  type ArchiveHeader,
  archiveRecordKind,
} from './sealed-record.ts';

/** The counters of some days, those of an experiment behind its name. */
export type ArchivedCounters = Iterable<ArchivedExperiment | ArchivedDay | ArchivedLender>;

/**
 * The daily counters of days so old that their sessions, and the part of the ledger that tells of them, are given up: what
 * is left to derive those days from. Together with the retained ledger it makes every figure.
 *
 * A sealing takes the days that follow those of the one before, is durable before anything it stands for goes, and never
 * changes. It is one segment of a log like the ledger, so its chain of checksums shows what was changed or lost, and
 * `marketplace log verify` reads it. Used by one thread.
 */
export class CounterArchive {
  readonly #folder: string;
  #position = 0;
  #crc = 0;
  #retainedFromDay = 0;
  #ledgerFromPosition = 1;

  /** Reads the last sealing; whatever came before it is read when it is asked for. Throws `LogDamagedError`. */
  constructor(folder: string) {
    this.#folder = folder;
    if (!existsSync(folder)) return;
    const firsts = segmentFirstSequences(nodeLogFiles.listNames(folder));
    // The last segment is the end mark of the log, unless a crash came before it was written, or an older version sealed.
    const last = firsts.at(-2) ?? firsts.at(-1);
    if (last === undefined) return;
    for (const record of this.#readFrom(last)) {
      if (record[0] !== archiveRecordKind.header) continue;
      [, , , this.#retainedFromDay, this.#ledgerFromPosition] = record;
    }
  }

  /** The first day (day number) that is not sealed; 0 before the first sealing. */
  get retainedFromDay(): number {
    return this.#retainedFromDay;
  }

  /** The position from which the ledger is needed to derive the days that are not sealed. */
  get ledgerFromPosition(): number {
    return this.#ledgerFromPosition;
  }

  /** All that was ever sealed, in order. Throws `LogDamagedError`, at the latest behind the last record it can read. */
  *readAll(): Generator<ArchiveRecord, void> {
    if (this.#position === 0) return;
    let nextDay = 0;
    for (const record of this.#readFrom(1)) {
      if (record[0] === archiveRecordKind.header) {
        const [, , fromDay, untilDay] = record;
        if (fromDay !== nextDay) {
          throw new LogDamagedError(this.#folder, 0, `a sealing begins with day ${fromDay} instead of ${nextDay}`);
        }
        nextDay = untilDay;
      }
      yield record;
    }
  }

  /**
   * Seals the days from the last sealing up to, and without, `untilDay`, which must be later. Durable when it returns.
   * Throws `ArchiveWriteFailed`, or what `counters` throws; then nothing counts as sealed, though a next start may find it so.
   */
  append({ wallMs, untilDay, ledgerFromPosition }: ArchiveRange, counters: ArchivedCounters): void {
    const opened: ArchiveHeader = [archiveRecordKind.header, wallMs, this.#retainedFromDay, untilDay, ledgerFromPosition];
    const header = { shard: archiveShard, firstSequence: this.#position + 1, previousCrc: this.#crc };
    try {
      nodeLogFiles.createFolder(this.#folder);
      writeSegment(this.#folder, header, archiveSegmentRecords(opened, counters));
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      throw new ArchiveWriteFailed(`${this.#folder}: ${error.message}`, { cause: error });
    }
    // Read back: where it ends, and that what will replace the ledger can be read.
    for (const _ of this.#readFrom(header.firstSequence));
    this.#writeEndSegment();
    this.#retainedFromDay = untilDay;
    this.#ledgerFromPosition = ledgerFromPosition;
  }

  /** Ends the log as one that was closed (see log-format.ts), for the commands that check or copy any log. */
  #writeEndSegment(): void {
    try {
      writeSegment(this.#folder, { shard: archiveShard, firstSequence: this.#position + 1, previousCrc: this.#crc }, []);
    } catch (error) {
      // The sealing is whole by itself, and checked by its own last record.
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
    }
  }

  /** The sealings from a segment on, each whole; after the last, the log goes on from there. */
  *#readFrom(segment: number): Generator<ArchiveRecord, void> {
    const walk = new LogScanner(nodeLogFiles, this.#folder, { segment, decode: true });
    const damaged = (what: string): LogDamagedError => {
      const { file, offset } = walk.end ?? { file: this.#folder, offset: 0 };
      return new LogDamagedError(file, offset, what);
    };
    const order = new ArchiveRecordOrder();
    let empty = true;
    try {
      for (; walk.nextRecord(); empty = false) {
        if (empty && walk.position !== segment) throw damaged(`record ${segment} is missing`);
        const record = parseArchiveRecord(walk.record);
        if (record === null || !order.accepts(record)) {
          throw damaged(`record ${walk.position} is not what a sealing holds there`);
        }
        yield record;
      }
      if (order.isOpen || empty || walk.tornBytes > 0) throw damaged('the sealing is not whole');
      this.#position = walk.position;
      this.#crc = walk.crc;
    } finally {
      walk.close();
    }
  }
}

/** What may follow what in a sealing, and which days its counters may be of. */
class ArchiveRecordOrder {
  #fromDay = 0;
  #untilDay = 0;
  #hasExperiment = false;
  /** A sealing was opened and not yet closed. */
  isOpen = false;

  accepts(record: ArchiveRecord): boolean {
    if (this.isOpen === (record[0] === archiveRecordKind.header)) return false;
    switch (record[0]) {
      case archiveRecordKind.header:
        [, , this.#fromDay, this.#untilDay] = record;
        this.isOpen = true;
        this.#hasExperiment = false;
        return this.#untilDay > this.#fromDay;
      case archiveRecordKind.experiment:
        this.#hasExperiment = true;
        return true;
      case archiveRecordKind.day:
      case archiveRecordKind.lender:
        return this.#hasExperiment && record[1][0] >= this.#fromDay && record[1][0] < this.#untilDay;
      case archiveRecordKind.footer:
        this.isOpen = false;
        return true;
    }
  }
}

/** The system would not take it: no space, most likely. It may be tried again, which replaces whatever the failed attempt has left. */
export class ArchiveWriteFailed extends Error {
  override readonly name = 'SealingFailed';
}

export interface ArchiveRange {
  /** When. */
  readonly wallMs: number;
  readonly untilDay: number;
  readonly ledgerFromPosition: number;
}

/** Figures are of no one shard: all that wrote a ledger here add to them. */
const archiveShard = 0;

function* archiveSegmentRecords(opened: ArchiveHeader, counters: ArchivedCounters): Generator<ArchiveRecord, void> {
  yield opened;
  yield* counters;
  yield [archiveRecordKind.footer];
}

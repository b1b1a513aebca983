import { existsSync } from 'node:fs';
import { nodeFileSystem } from '../event-log/log-files.ts';
import { parseSegmentFileNames } from '../event-log/log-format.ts';
import { LogScanner } from '../event-log/log-scanner.ts';
import { writeSegment } from '../event-log/segment-files.ts';
import { LogDamagedError } from '../event-log/segment-reader.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import { isCount } from '../ledger/ledger-record.ts';
import {
  type ExperimentArchiveRecord,
  experimentArchiveKind,
  isDecimal,
  isExperimentArchiveRecord,
  isSum,
} from './experiments/experiment-archive-record.ts';

/**
 * A record of the archive. Each segment of the archive, except an end segment, contains these records:
 *
 *     header; per referrer tag: its name, its day counters, its lender counters, its views of offers;
 *     experiments (`ExperimentArchiveRecord`); footer
 *
 * A record is a msgpack array whose first element is the kind of the record. Archive records and ledger records have different kind
 * numbers. A later release may add elements only at the end of a record.
 */
export type ArchiveRecord =
  | ArchiveHeader
  | ArchivedTagKey
  | ArchivedDay
  | ArchivedLenderCounters
  | ArchivedOfferViews
  | ExperimentArchiveRecord
  | ArchiveFooter;

export const archiveRecordKind = { header: 11, tag: 12, day: 13, lender: 14, footer: 15, offerViews: 21 } as const;

type ArchiveHeader = readonly [
  kind: 11,
  wallMs: number,
  /** Archived cohort days: from `fromDay` (inclusive) to `untilDay` (exclusive), as day numbers. */
  fromDay: number,
  untilDay: number,
  /** All ledger records before `ledgerStartPosition` belong to sessions created before `untilDay`. */
  ledgerStartPosition: number,
  /** Whether the segment contains the counters of all offers. Absent in segments of earlier releases. */
  hasOffers?: boolean,
];

/** Names the referrer tag to which the following records belong, until the next `ArchivedTagKey`. */
export type ArchivedTagKey = readonly [
  kind: 12,
  key: readonly [account: number, vertical: number, test: 0 | 1, tag: string],
];

export type ArchivedDay = readonly [
  kind: 13,
  counter: readonly [
    day: number,
    device: number,
    sessions: number,
    views: number,
    clicks: number,
    attributedMicros: number,
    confirmedMicros: number,
    /** Sum of the squared revenue of each session, as a decimal string, because it may exceed `Number.MAX_SAFE_INTEGER`. */
    confirmedCentsSquared: string,
    /** Number of sessions with confirmed revenue. This and the next two counters are null or absent if an earlier release lacked them. */
    revenueSessions?: number | null,
    /** Creation times of the first and the last session, in Unix milliseconds. */
    firstSessionMs?: number | null,
    lastSessionMs?: number | null,
  ],
  /** Number of widget events by type; absent or empty without widget events. Another release may have written fewer or more event types. */
  widgetEvents?: readonly number[],
  /** Number of clicks without revenue by reason; absent if all numbers are 0. Another release may have written fewer or more reasons. */
  unbookedClicks?: readonly number[],
];

export type ArchivedLenderCounters = readonly [
  kind: 14,
  counter: readonly [
    day: number,
    lenderName: string,
    clicks: number,
    confirmedMicros: number,
    /** The last two items are absent if an earlier release wrote the record. The clicks are then those on all offers of the lender. */
    offerId?: string,
    attributedMicros?: number,
  ],
];

/** How often an offer was shown at each position, from position `first` on, which is 0 for the first position. */
export type ArchivedOfferViews = readonly [
  kind: 21,
  counter: readonly [day: number, offerId: string, first: number, ...counts: number[]],
];

/** The last record of an archive segment. A segment without a footer is incomplete. */
type ArchiveFooter = readonly [kind: 15];

function isArchiveRecord(value: readonly unknown[]): value is ArchiveRecord {
  const members: readonly unknown[] = Array.isArray(value[1]) ? value[1] : [];
  switch (value[0]) {
    case archiveRecordKind.header:
      return (
        value.length >= 5 &&
        value.slice(1, 5).every(isCount) &&
        (value[5] === undefined || typeof value[5] === 'boolean')
      );
    case archiveRecordKind.tag: {
      const [account, vertical, test, tag] = members;
      return isCount(account) && isCount(vertical) && (test === 0 || test === 1) && typeof tag === 'string';
    }
    case archiveRecordKind.day: {
      const squared = members[7];
      const hasValidCounts = isCountListOrAbsent(value[2]) && isCountListOrAbsent(value[3]);
      if (!members.slice(8, 11).every((value) => value === null || isCount(value))) return false;
      const hasValidSums = members.slice(0, 5).every(isCount) && members.slice(5, 7).every(isSum);
      return hasValidSums && isDecimal(squared) && hasValidCounts;
    }
    case archiveRecordKind.lender: {
      const [day, name, clicks, confirmedMicros, offerId, attributedMicros] = members;
      const hasValidOffer = offerId === undefined || (typeof offerId === 'string' && isSum(attributedMicros));
      return isCount(day) && typeof name === 'string' && isCount(clicks) && isSum(confirmedMicros) && hasValidOffer;
    }
    case archiveRecordKind.offerViews: {
      const [day, offerId, first, ...counts] = members;
      return isCount(day) && typeof offerId === 'string' && isCount(first) && counts.every(isCount);
    }
    default:
      return value[0] === archiveRecordKind.footer || isExperimentArchiveRecord(value);
  }
}

function isCountListOrAbsent(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isCount));
}

/**
 * Counters of a range of days, grouped by referrer tag, and then by experiment. The counters of each tag or experiment follow a record that
 * names it.
 */
export type ArchivedCounters = Iterable<Exclude<ArchiveRecord, ArchiveHeader | ArchiveFooter>>;

/**
 * Archive of the daily counters of days whose sessions and ledger records have been deleted. All figures can be computed from the archive
 * and the retained ledger segments.
 *
 * Each call of `append` writes one segment, which contains the days after the last archived day. A segment is never changed. The store
 * deletes its copy of the archived data only after the archive segment is durable. The archive is a log in the format of the ledger:
 * checksums reveal changes and losses, and `marketplace log verify` can verify it. Only one thread may use the archive.
 */
export class CounterArchive {
  readonly #folder: string;
  #position = 0;
  #crc = 0;
  #retainedFromDay = 0;
  #ledgerStartPosition = 1;

  /** Opens the archive. Reads only the newest segment of the archive. Throws `LogDamagedError`. */
  constructor(folder: string) {
    this.#folder = folder;
    if (!existsSync(folder)) return;
    const firsts = parseSegmentFileNames(nodeFileSystem.listFiles(folder));
    // The last file of the archive is normally an empty segment that marks the archive as closed. After a crash, and in archives of older
    // releases, this empty segment is missing.
    const last = firsts.at(-2) ?? firsts.at(-1);
    if (last === undefined) return;
    for (const record of this.#readFrom(last)) {
      if (record[0] !== archiveRecordKind.header) continue;
      [, , , this.#retainedFromDay, this.#ledgerStartPosition] = record;
    }
  }

  /** Position and CRC of the last record; both are 0 if the archive is empty. */
  get end(): LogEnd {
    return { position: this.#position, crc: this.#crc };
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
    if (this.#position === 0) return;
    let nextDay = 0;
    for (const record of this.#readFrom(1)) {
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

  /** Returns the highest account number in the archive; 0 if the archive is empty. Throws `LogDamagedError`. */
  findHighestAccount(): number {
    let highest = 0;
    for (const record of this.readAll()) {
      if (record[0] === archiveRecordKind.tag) highest = Math.max(highest, record[1][0]);
    }
    return highest;
  }

  /**
   * Archives the counters of the days from `firstRetainedDay` (inclusive) to `untilDay` (exclusive, at least one day later) in a durable
   * segment. Throws `ArchiveWriteError` if the segment cannot be written, and passes on the errors of `counters`. If `append` throws, treat
   * the days as not archived; the next start may still find a complete segment.
   */
  append({ wallMs, untilDay, ledgerStartPosition, hasOffers }: ArchiveRange, counters: ArchivedCounters): void {
    const fromDay = this.#retainedFromDay;
    const firstRecord: ArchiveHeader = [
      archiveRecordKind.header,
      wallMs,
      fromDay,
      untilDay,
      ledgerStartPosition,
      hasOffers,
    ];
    const header = { firstSequence: this.#position + 1, previousCrc: this.#crc };
    try {
      nodeFileSystem.createFolder(this.#folder);
      writeSegment(this.#folder, header, archiveSegmentRecords(firstRecord, counters));
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      throw new ArchiveWriteError(`${this.#folder}: ${error.message}`, { cause: error });
    }
    // Verifies that the segment can be read, and sets `#position` and `#crc`.
    for (const _ of this.#readFrom(header.firstSequence));
    this.#markArchiveClosed();
    this.#retainedFromDay = untilDay;
    this.#ledgerStartPosition = ledgerStartPosition;
  }

  /** Writes an empty segment, which marks the archive as closed. Commands that verify or copy a log require this mark. */
  #markArchiveClosed(): void {
    try {
      writeSegment(this.#folder, { firstSequence: this.#position + 1, previousCrc: this.#crc }, []);
    } catch (error) {
      // If the closing mark cannot be written, the error is ignored, because the archived counters are already on disk.
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
    }
  }

  /** Yields the records of a segment and all later segments, then stores position and CRC of the last record for the next segment. */
  *#readFrom(segment: number): Generator<ArchiveRecord, void> {
    const scanner = new LogScanner(nodeFileSystem, this.#folder, { segment, decode: true });
    const damaged = (reason: string): LogDamagedError => {
      const { file, offset } = scanner.end ?? { file: this.#folder, offset: 0 };
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
      this.#position = scanner.position;
      this.#crc = scanner.crc;
    } finally {
      scanner.close();
    }
  }
}

/** Checks the order of the records in an archive segment, and that the day of each counter is in the range of the header. */
class ArchiveRecordOrder {
  #fromDay = 0;
  #untilDay = 0;
  #hasTag = false;
  #hasExperiment = false;
  /** True between the header and the footer of an archive segment. */
  isOpen = false;

  isValidNextRecord(record: ArchiveRecord): boolean {
    if (this.isOpen === (record[0] === archiveRecordKind.header)) return false;
    switch (record[0]) {
      case archiveRecordKind.header:
        [, , this.#fromDay, this.#untilDay] = record;
        this.isOpen = true;
        this.#hasTag = false;
        this.#hasExperiment = false;
        return this.#untilDay > this.#fromDay;
      case archiveRecordKind.tag:
        this.#hasTag = true;
        return true;
      case archiveRecordKind.day:
      case archiveRecordKind.lender:
      case archiveRecordKind.offerViews:
        return this.#hasTag && this.#isArchivedDay(record[1][0]);
      case experimentArchiveKind.experiment:
        this.#hasExperiment = true;
        return true;
      case experimentArchiveKind.dimensionValue:
        return this.#hasExperiment;
      case experimentArchiveKind.day:
      case experimentArchiveKind.age:
      case experimentArchiveKind.visitor:
      case experimentArchiveKind.sessionRevenue:
      case experimentArchiveKind.groupDay:
        return this.#hasExperiment && this.#isArchivedDay(record[1][0]);
      case archiveRecordKind.footer:
        this.isOpen = false;
        return true;
    }
  }

  #isArchivedDay(day: number): boolean {
    return day >= this.#fromDay && day < this.#untilDay;
  }
}

/** Error for a failed write to the archive, for example on a full disk. The next call of `append` replaces the incomplete segment. */
export class ArchiveWriteError extends Error {
  override readonly name = 'ArchiveWriteError';
}

interface ArchiveRange {
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

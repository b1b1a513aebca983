import { existsSync } from 'node:fs';
import { nodeLogFiles } from '../event-log/log-files.ts';
import { segmentFirstSequences } from '../event-log/log-format.ts';
import { LogScanner } from '../event-log/log-scanner.ts';
import { writeSegment } from '../event-log/segment-files.ts';
import { LogDamagedError } from '../event-log/segment-reader.ts';

/**
 * What a log of sealed figures holds (`CounterArchive`). One sealing is one segment:
 *
 *     opening, then for each experiment: its name, its day counters, its lender counters; at the end the closing
 *
 * Each travels as a msgpack array whose first element is its kind; kinds are other ones than the ledger's. New members are
 * only ever added at the end.
 */
export type ArchiveRecord = ArchiveHeader | ArchivedExperiment | ArchivedDay | ArchivedLender | ArchiveFooter;

export const archiveRecordKind = { header: 11, experiment: 12, day: 13, lender: 14, footer: 15 } as const;

/** `[11, wallMs, fromDay, untilDay, ledgerFromPosition]` */
type ArchiveHeader = readonly [
  kind: 11,
  /** When it was sealed. */
  wallMs: number,
  /** The cohort days of this sealing: from the first up to, and without, the other (day numbers). */
  fromDay: number,
  untilDay: number,
  /** No record ahead of this position of the ledger tells of a session created on `untilDay` or later. */
  ledgerFrom: number,
];

/** `[12, [account, vertical, test, tag]]`: whose counters follow. */
export type ArchivedExperiment = readonly [
  kind: 12,
  experiment: readonly [account: number, vertical: number, test: 0 | 1, tag: string],
];

/**
 * `[13, [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, confirmedCentsSquared]]`, and `widgetEvents`
 * where widgets told something.
 */
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
    /** In decimal digits: a sum of squares may be beyond what a double holds exactly. */
    confirmedCentsSquared: string,
  ],
  /** As `WidgetCounts`, by the types of the version that sealed them. */
  widgetEvents?: readonly number[],
];

/** `[14, [day, lenderName, clicks, confirmedMicros]]` */
export type ArchivedLender = readonly [
  kind: 14,
  counter: readonly [day: number, lenderName: string, clicks: number, confirmedMicros: number],
];

/** `[15]`: nothing of this sealing is missing. */
type ArchiveFooter = readonly [kind: 15];

/** Reads what a file holds as a record, or null for anything else. */
function parseArchiveRecord(value: readonly unknown[]): ArchiveRecord | null {
  const [kind] = value;
  const members: readonly unknown[] = Array.isArray(value[1]) ? value[1] : [];
  switch (kind) {
    case archiveRecordKind.header:
      return value.length >= 5 && value.slice(1, 5).every(isCount) ? (value as unknown as ArchiveRecord) : null;
    case archiveRecordKind.experiment: {
      const [account, vertical, test, tag] = members;
      return isCount(account) && isCount(vertical) && (test === 0 || test === 1) && typeof tag === 'string'
        ? (value as unknown as ArchiveRecord)
        : null;
    }
    case archiveRecordKind.day: {
      const squared = members[7];
      const widgetEvents = value[2];
      return members.length >= 8 &&
        members.slice(0, 7).every(isCount) &&
        typeof squared === 'string' &&
        isInt64(squared) &&
        (widgetEvents === undefined || (Array.isArray(widgetEvents) && widgetEvents.every(isCount)))
        ? (value as unknown as ArchiveRecord)
        : null;
    }
    case archiveRecordKind.lender: {
      const [day, name, clicks, confirmedMicros] = members;
      return isCount(day) && typeof name === 'string' && isCount(clicks) && isCount(confirmedMicros)
        ? (value as unknown as ArchiveRecord)
        : null;
    }
    case archiveRecordKind.footer:
      return value as unknown as ArchiveRecord;
    default:
      return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isInt64(digits: string): boolean {
  return /^\d{1,19}$/.test(digits) && BigInt(digits) < 2n ** 63n;
}

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
    const opened: ArchiveHeader = [
      archiveRecordKind.header,
      wallMs,
      this.#retainedFromDay,
      untilDay,
      ledgerFromPosition,
    ];
    const header = { firstSequence: this.#position + 1, previousCrc: this.#crc };
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
      writeSegment(this.#folder, { firstSequence: this.#position + 1, previousCrc: this.#crc }, []);
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

interface ArchiveRange {
  /** When. */
  readonly wallMs: number;
  readonly untilDay: number;
  readonly ledgerFromPosition: number;
}

function* archiveSegmentRecords(opened: ArchiveHeader, counters: ArchivedCounters): Generator<ArchiveRecord, void> {
  yield opened;
  yield* counters;
  yield [archiveRecordKind.footer];
}

import { setTimeout as pause } from 'node:timers/promises';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { AppendedRecord, EventLog } from './event-log.ts';
import { type LogFiles, nodeFileSystem } from './log-files.ts';
import { frameHeaderLength, sequenceFieldsLength } from './log-format.ts';
import {
  type ReadProgressListener,
  type RecordCallback,
  type RecoveredLog,
  type RemovedTail,
  type ReplayStartPosition,
  recoverLog,
} from './log-recovery.ts';
import type { LogCursor } from './log-scanner.ts';
import { FrameGroup, SegmentWriter } from './segment-writer.ts';

export interface FileEventLogOptions<Item> {
  /** Folder that only this log uses, created if missing. The caller must have locked the data folder. */
  readonly folder: string;
  /**
   * Determines when a record is reported as durable. With `fsync`, a record is durable once it is synced to the disk. With `write`, a
   * record is durable once it is passed to the operating system, so it survives a crash of the process, but not a crash of the machine.
   */
  readonly durability: 'fsync' | 'write';
  /** Called for each record that is read while the log is opened. */
  readonly onRecord?: RecordCallback;
  /**
   * Time or position of the oldest records to read; segments with only older records are skipped. If `readSince` is undefined, reads all
   * segments.
   */
  readonly readSince?: ReplayStartPosition | LogCursor;
  /** Whether to decode the record at a position and to call `onRecord` for it; by default, true for all records. */
  readonly isNeeded?: (position: number) => boolean;
  /** Called while the log is opened, with the number of bytes that are already read. */
  readonly onProgress?: ReadProgressListener | undefined;
  /** Callback that the log calls synchronously for each accepted record. The callback must not throw. */
  readonly onAppended?: (record: Item, position: number) => void;
  /** Called for incidents that the caller should report to the operator, such as write errors. */
  readonly onIncident?: ((incident: EventLogProblem) => void) | undefined;
  /** Called after each group of records is stored. `elapsedUs` is the time for writing and syncing the group. */
  readonly onGroupStored?: ((records: number, bytes: number, elapsedUs: number) => void) | undefined;
  readonly segmentBytesMax?: number;
  readonly pendingBytesMax?: number;
  /** Interval between attempts to write again after an error, in milliseconds. */
  readonly retryMs?: number | undefined;
  readonly files?: LogFiles | undefined;
}

export type EventLogProblem =
  /** The log was not closed and ended with an incomplete record, whose bytes recovery moved to another file. */
  | ({ readonly kind: 'torn-tail-removed' } & RemovedTail)
  /** A write or sync of a segment file failed, so the log writes to a new segment file. */
  | { readonly kind: 'segment-abandoned'; readonly error: unknown }
  /** A write and its retry in a new segment both failed. Until a later retry succeeds, `append` refuses records. */
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'recovered' }
  /** When the log was closed, appended records that were not yet reported as durable could not be written and were lost. */
  | { readonly kind: 'records-lost'; readonly records: number };

/**
 * Opens the log of a folder. If the log was not closed, recovers the log before opening it.
 *
 * @throws LogDamagedError if a durable record cannot be read; the error contains the file and the byte offset
 */
export async function openEventLog<Item extends readonly unknown[]>(
  options: FileEventLogOptions<Item>,
): Promise<FileEventLog<Item>> {
  const { folder, files = nodeFileSystem, onRecord, readSince, isNeeded, onProgress } = options;
  files.createFolder(folder);
  const recovered = await recoverLog(files, folder, onRecord, { since: readSince, isNeeded, onRead: onProgress });
  if (recovered.removedTail !== null) options.onIncident?.({ kind: 'torn-tail-removed', ...recovered.removedTail });
  return new FileEventLog<Item>(options, files, recovered);
}

/** Creates a log in an empty folder, without I/O. The caller must already have synced the parent folder of the log folder. */
export function createEventLog<Item extends readonly unknown[]>(
  options: FileEventLogOptions<Item>,
): FileEventLog<Item> {
  return new FileEventLog<Item>(options, options.files ?? nodeFileSystem, {
    cursor: { position: 0, segment: 0, offset: 0, crc: 0 },
    hasEndMark: true,
  });
}

/**
 * A log in a folder of segment files. The file log-format.ts documents the format of segment files.
 *
 * The log has two groups of records: new records are added to the pending group while the writing group is written and synced. Once the
 * writing group is durable, the pending group of records becomes the writing group. The size of a group therefore depends on the speed of
 * the disk: one record when idle, hundreds of records under load, with one sync for all of them.
 *
 *     idle --append--> collecting --end of turn--> storing --durable--> idle, or storing the next group
 *     idle --appendWithoutWaiting--> collecting --a few milliseconds, or an append--> storing
 *     storing --failed--> storing the same group in a new segment --failed--> unavailable
 *     unavailable --every retryMs: a new segment works--> storing
 *
 * An accepted record is never dropped, and its position is never reused. If the promise of a record is rejected, the log keeps the record
 * in memory and writes the record later. While the log is unavailable, `append` refuses records, but `appendWithoutWaiting` accepts records
 * until `pendingBytesMax` is reached.
 */
export class FileEventLog<Item extends readonly unknown[]> implements EventLog<Item> {
  readonly #options: FileEventLogOptions<Item>;
  readonly #writer: SegmentWriter;
  readonly #syncsGroups: boolean;
  readonly #pendingBytesMax: number;
  readonly #encoder = new Encoder();
  /** Whether the log was empty or ended with an end mark (see log-format.ts) when it was opened. */
  readonly hadEndMark: boolean;
  #pendingGroup = new FrameGroup();
  #writingGroup = new FrameGroup();
  #lastAppendedPosition: number;
  #appendedCrc: number;
  #durableCursor: LogCursor;
  /** Whether the log is empty or ends with an end mark (see log-format.ts). */
  #hasEndMark: boolean;
  #healthy = true;
  #closing = false;
  /** Whether to write the pending group without delay, because a caller waits for a record or the group is large. */
  #writeRequested = false;
  /** Timer that delays the write of records for which no caller waits. */
  #writeDelayTimer: NodeJS.Timeout | null = null;
  /** Promise of the running loop that writes groups of records; null while the loop is not running. */
  #writeLoop: Promise<void> | null = null;
  readonly #retryPause = new AbortController();
  #closePromise: Promise<void> | null = null;
  #durableListener: (position: number) => void = () => {};

  /** Creates the log object without recovering the log. Call `openEventLog` or `createEventLog` instead of this constructor. */
  constructor(
    options: FileEventLogOptions<Item>,
    files: LogFiles,
    { cursor, hasEndMark }: Pick<RecoveredLog, 'cursor' | 'hasEndMark'>,
  ) {
    const { folder, segmentBytesMax = bounds.logSegmentBytesMax } = options;
    this.#options = options;
    this.#syncsGroups = options.durability === 'fsync';
    this.#writer = new SegmentWriter({ files, folder, syncsGroups: this.#syncsGroups, segmentBytesMax });
    this.#pendingBytesMax = options.pendingBytesMax ?? bounds.logPendingBytesMax;
    this.hadEndMark = hasEndMark;
    this.#hasEndMark = hasEndMark;
    this.#lastAppendedPosition = cursor.position;
    this.#durableCursor = cursor;
    this.#appendedCrc = cursor.crc;
  }

  get lastAppendedPosition(): number {
    return this.#lastAppendedPosition;
  }

  /** CRC of the last appended record; 0 for an empty log. */
  get lastAppendedCrc(): number {
    return this.#appendedCrc;
  }

  get durablePosition(): number {
    return this.#durableCursor.position;
  }

  /** Cursor after the last durable record. */
  get durableCursor(): LogCursor {
    return this.#durableCursor;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  setDurabilityListener(durableListener: (position: number) => void): void {
    this.#durableListener = durableListener;
  }

  append(record: Item): AppendedRecord | null {
    if (!this.#healthy || !this.#addPendingRecord(record)) return null;
    this.#scheduleWrite();
    return { position: this.#lastAppendedPosition, durable: this.#pendingGroup.whenDurable() };
  }

  appendWithoutWaiting(record: Item): number | null {
    if (!this.#addPendingRecord(record)) return null;
    if (this.#pendingGroup.length >= bounds.logGroupInitialBytes) this.#scheduleWrite();
    else if (this.#writeLoop === null) this.#scheduleDelayedWrite();
    return this.#lastAppendedPosition;
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  #addPendingRecord(record: Item): boolean {
    if (this.#closing) return false;
    const payload = this.#encoder.encodeSharedRef(record);
    if (payload.length > bounds.logRecordBytesMax) throw new RangeError('record is larger than logRecordBytesMax');
    const group = this.#pendingGroup;
    const frameBytesMax = payload.length + frameHeaderLength + sequenceFieldsLength;
    if (this.#writingGroup.length + group.length + frameBytesMax > this.#pendingBytesMax) return false;
    // A sync mark in a frame proves that all earlier frames are synced (see log-format.ts). Each group of records is written only after all
    // earlier groups were synced, so the first frame of a group gets a sync mark.
    group.add(payload, this.#lastAppendedPosition + 1, this.#appendedCrc, this.#syncsGroups && group.records === 0);
    this.#lastAppendedPosition++;
    this.#appendedCrc = group.lastCrc;
    this.#options.onAppended?.(record, this.#lastAppendedPosition);
    return true;
  }

  /** Writes the pending group of records at the end of this turn of the event loop, so that one write serves all requests of the turn. */
  #scheduleWrite(): void {
    this.#writeRequested = true;
    this.#writeLoop ??= new Promise((resolve) => {
      setImmediate(() => resolve(this.#runWriteLoop()));
    });
  }

  /** Writes records such as views after a delay, so that one write contains many records. */
  #scheduleDelayedWrite(): void {
    this.#writeDelayTimer ??= setTimeout(() => {
      this.#writeDelayTimer = null;
      this.#scheduleWrite();
    }, bounds.logLingerMs);
  }

  async #runWriteLoop(): Promise<void> {
    while (this.#writeRequested && this.#pendingGroup.records > 0 && (this.#healthy || !this.#closing)) {
      this.#writeRequested = false;
      const group = this.#pendingGroup;
      this.#pendingGroup = this.#writingGroup;
      this.#writingGroup = group;
      if (!(await this.#writeFramesWithRetries(group))) break;
      group.clearFrames();
      this.#durableListener(this.durablePosition);
      // The next write starts before code that awaits these promises continues.
      group.resolveAppendPromises();
    }
    this.#writeLoop = null;
    if (this.#pendingGroup.records > 0 && !this.#closing) this.#scheduleDelayedWrite();
  }

  /** Writes a group and retries until its records are durable. Returns false if a retry fails while the log is closing. */
  async #writeFramesWithRetries(group: FrameGroup): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const isLastAttempt = this.#closing;
      try {
        const startedMs = performance.now();
        const end = await this.#writer.writeFrames(group);
        this.#durableCursor = end;
        this.#hasEndMark = false;
        this.#options.onGroupStored?.(group.records, group.length, Math.round((performance.now() - startedMs) * 1000));
        if (!this.#healthy) {
          this.#healthy = true;
          this.#options.onIncident?.({ kind: 'recovered' });
        }
        return true;
      } catch (error) {
        await this.#writer.abandonSegment();
        if (attempt === 1) {
          this.#options.onIncident?.({ kind: 'segment-abandoned', error });
          continue;
        }
        if (this.#healthy) {
          this.#healthy = false;
          this.#options.onIncident?.({ kind: 'unavailable', error });
        }
        group.rejectAppendPromises(error);
        this.#pendingGroup.rejectAppendPromises(error);
        if (isLastAttempt) return false;
        const { retryMs = bounds.logRetryIntervalMs } = this.#options;
        if (!this.#closing) await pause(retryMs, null, { signal: this.#retryPause.signal }).catch(() => {});
      }
    }
  }

  async #close(): Promise<void> {
    this.#closing = true;
    if (this.#writeDelayTimer !== null) clearTimeout(this.#writeDelayTimer);
    this.#retryPause.abort();
    if (this.#pendingGroup.records > 0) this.#scheduleWrite();
    await this.#writeLoop;
    const lost = this.#lastAppendedPosition - this.durablePosition;
    if (lost > 0) this.#options.onIncident?.({ kind: 'records-lost', records: lost });
    try {
      if (lost === 0 && !this.#hasEndMark) {
        await this.#writer.writeEndMark(this.#lastAppendedPosition + 1, this.#appendedCrc);
      }
      await this.#writer.close();
    } catch (error) {
      await this.#writer.abandonSegment();
      this.#options.onIncident?.({ kind: 'segment-abandoned', error });
    }
  }
}

import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { AppendedRecord, EventLog } from './event-log.ts';
import { type LogFiles, nodeLogFiles } from './log-files.ts';
import { frameHeaderBytes, sequenceFieldsBytes } from './log-format.ts';
import {
  type ReadProgressListener,
  type ReadSince,
  type RecordVisitor,
  type RecoveredLog,
  type RemovedTail,
  recoverLog,
} from './log-recovery.ts';
import { FrameGroup, SegmentWriter } from './segment-writer.ts';

export interface FileEventLogOptions<Item> {
  /** Folder that only this log uses. Created if it does not exist. The data folder must be locked first. */
  readonly folder: string;
  /** Meaning of durable. `fsync`: synced to the disk. `write`: written to the kernel, which survives only a crash of the process. */
  readonly durability: 'fsync' | 'write';
  /** Called for each record that is read while the log is opened. */
  readonly onRecord?: RecordVisitor;
  /** Skips segments that contain only older records. Default: all segments are read. */
  readonly readSince?: ReadSince;
  /** Called with the number of bytes that were read so far while the log is opened. */
  readonly onProgress?: ReadProgressListener | undefined;
  /** Called synchronously for each record that the log accepts. Must not throw. */
  readonly onAppended?: (record: Item) => void;
  /** Reports write errors, recovered writes and torn tails to the operator. */
  readonly onIncident?: ((incident: LogIncident) => void) | undefined;
  /** Called after each stored group with its number of records, its bytes, and the time of writing and syncing in microseconds. */
  readonly onGroupStored?: ((records: number, bytes: number, elapsedUs: number) => void) | undefined;
  readonly segmentBytesMax?: number;
  readonly pendingBytesMax?: number;
  /** Time between attempts to write again after an error, in milliseconds. */
  readonly retryMs?: number | undefined;
  readonly files?: LogFiles | undefined;
}

export type LogIncident =
  /** The log was not closed and ended with an incomplete record, whose bytes were moved to another file. */
  | ({ readonly kind: 'torn-tail-removed' } & RemovedTail)
  /** A write or a sync failed. The log continues in a new segment. */
  | { readonly kind: 'segment-abandoned'; readonly error: unknown }
  /** Writing the new segment failed too. The log refuses records until a write succeeds. */
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'recovered' }
  /** The log was closed while it could not be written. Records that were never reported as durable are lost. */
  | { readonly kind: 'records-lost'; readonly records: number };

/**
 * Opens the log of a folder. Recovers it first if it was not closed.
 *
 * @throws LogDamagedError if a record that was durable cannot be read; the error contains the file and the byte offset
 */
export async function openEventLog<Item extends readonly unknown[]>(
  options: FileEventLogOptions<Item>,
): Promise<FileEventLog<Item>> {
  const { folder, files = nodeLogFiles, onRecord, readSince, onProgress } = options;
  files.createFolder(folder);
  const recovered = await recoverLog(files, folder, onRecord, readSince, onProgress);
  if (recovered.removedTail !== null) options.onIncident?.({ kind: 'torn-tail-removed', ...recovered.removedTail });
  return new FileEventLog<Item>(options, files, recovered);
}

/** Creates a log in an empty folder. The name of the folder must already be durable. Performs no I/O. */
export function createEventLog<Item extends readonly unknown[]>(
  options: FileEventLogOptions<Item>,
): FileEventLog<Item> {
  return new FileEventLog<Item>(options, options.files ?? nodeLogFiles, { position: 0, crc: 0, hasEndMark: true });
}

/**
 * A log in a folder of segment files (log-format.ts documents the format).
 *
 * New frames are collected in one group while another group is written and synced. Then the two groups are exchanged. The speed of the
 * disk therefore determines the size of a group: one record when idle, hundreds of records under load, with one sync for all of them.
 *
 *     idle --append--> collecting --end of turn--> storing --durable--> idle, or storing the next group
 *     idle --appendWithoutWaiting--> collecting --a few milliseconds, or an append--> storing
 *     storing --failed--> storing the same group in a new segment --failed--> unavailable
 *     unavailable --every retryMs: a new segment works--> storing
 *
 * An accepted record is never dropped, and its position is never reused, even after its promise was rejected: the frame remains in
 * memory until the log can be written. While the log is unavailable, it refuses `append`, and accepts `appendWithoutWaiting` up to
 * `pendingBytesMax`.
 */
export class FileEventLog<Item extends readonly unknown[]> implements EventLog<Item> {
  readonly #writer: SegmentWriter;
  readonly #syncsGroups: boolean;
  readonly #pendingBytesMax: number;
  readonly #retryMs: number;
  readonly #onAppended: (record: Item) => void;
  readonly #onIncident: (incident: LogIncident) => void;
  readonly #onGroupStored: (records: number, bytes: number, elapsedUs: number) => void;
  readonly #encoder = new Encoder();
  #pendingGroup = new FrameGroup();
  #writingGroup = new FrameGroup();
  #appendedPosition: number;
  #appendedCrc: number;
  #durablePosition: number;
  /** Whether the newest segment contains no record, or there is no segment. */
  #hasEndMark: boolean;
  #healthy = true;
  #closing = false;
  /** Whether the pending group must be stored now, because a caller waits for it or because it is large. */
  #storeRequested = false;
  /** Timer that delays storing records for which no caller waits. */
  #lingerTimer: NodeJS.Timeout | null = null;
  /** Promise of the loop that stores groups; null while the loop is not running. */
  #storeLoop: Promise<void> | null = null;
  #cancelRetryPause: () => void = () => {};
  #closePromise: Promise<void> | null = null;
  #durableListener: (position: number) => void = () => {};

  /** Creates the log object. Call `openEventLog` or `createEventLog` instead, because the log must first be recovered. */
  constructor(
    options: FileEventLogOptions<Item>,
    files: LogFiles,
    { position, crc, hasEndMark }: Pick<RecoveredLog, 'position' | 'crc' | 'hasEndMark'>,
  ) {
    const { folder, segmentBytesMax = bounds.logSegmentBytesMax } = options;
    this.#syncsGroups = options.durability === 'fsync';
    this.#writer = new SegmentWriter({ files, folder, syncsGroups: this.#syncsGroups, segmentBytesMax });
    this.#pendingBytesMax = options.pendingBytesMax ?? bounds.logPendingBytesMax;
    this.#retryMs = options.retryMs ?? bounds.logRetryIntervalMs;
    this.#onAppended = options.onAppended ?? (() => {});
    this.#onIncident = options.onIncident ?? (() => {});
    this.#onGroupStored = options.onGroupStored ?? (() => {});
    this.#hasEndMark = hasEndMark;
    this.#appendedPosition = position;
    this.#durablePosition = position;
    this.#appendedCrc = crc;
  }

  get appendedPosition(): number {
    return this.#appendedPosition;
  }

  get durablePosition(): number {
    return this.#durablePosition;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  onDurable(durableListener: (position: number) => void): void {
    this.#durableListener = durableListener;
  }

  append(record: Item): AppendedRecord | null {
    if (!this.#healthy || !this.#addToPendingGroup(record)) return null;
    this.#scheduleStore();
    return { position: this.#appendedPosition, durable: this.#pendingGroup.durablePromise() };
  }

  appendWithoutWaiting(record: Item): number | null {
    if (!this.#addToPendingGroup(record)) return null;
    if (this.#pendingGroup.length >= bounds.logGroupInitialBytes) this.#scheduleStore();
    else if (this.#storeLoop === null) this.#scheduleStoreAfterLinger();
    return this.#appendedPosition;
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  #addToPendingGroup(record: Item): boolean {
    if (this.#closing) return false;
    const payload = this.#encoder.encodeSharedRef(record);
    if (payload.length > bounds.logRecordBytesMax) throw new RangeError('record is larger than logRecordBytesMax');
    const group = this.#pendingGroup;
    const frameBytesMax = payload.length + frameHeaderBytes + sequenceFieldsBytes;
    if (this.#writingGroup.length + group.length + frameBytesMax > this.#pendingBytesMax) return false;
    // A group is written only after all earlier groups are durable, so its first frame may have the mark bit.
    group.add(payload, this.#appendedPosition + 1, this.#appendedCrc, this.#syncsGroups && group.records === 0);
    this.#appendedPosition++;
    this.#appendedCrc = group.lastCrc;
    this.#onAppended(record);
    return true;
  }

  /** Stores the pending group at the end of this turn of the event loop, so that one write serves all requests of the turn. */
  #scheduleStore(): void {
    this.#storeRequested = true;
    this.#storeLoop ??= new Promise((resolve) => {
      setImmediate(() => resolve(this.#runStoreLoop()));
    });
  }

  /** Schedules a write after a delay. Writing and syncing few records costs as much as many, so views are collected first. */
  #scheduleStoreAfterLinger(): void {
    this.#lingerTimer ??= setTimeout(() => {
      this.#lingerTimer = null;
      this.#scheduleStore();
    }, bounds.logLingerMs);
  }

  async #runStoreLoop(): Promise<void> {
    while (this.#storeRequested && this.#pendingGroup.records > 0 && (this.#healthy || !this.#closing)) {
      this.#storeRequested = false;
      const group = this.#pendingGroup;
      this.#pendingGroup = this.#writingGroup;
      this.#writingGroup = group;
      if (!(await this.#storeWithRetries(group))) break;
      this.#durablePosition = group.firstSequence + group.records - 1;
      group.clear();
      this.#durableListener(this.#durablePosition);
      // The callers that wait for the group continue after the next write has started.
      group.resolveWaiters();
    }
    this.#storeLoop = null;
    if (this.#pendingGroup.records > 0 && !this.#closing) this.#scheduleStoreAfterLinger();
  }

  /** Writes a group and retries until it is durable. Returns false if an attempt fails that started after `close` was called. */
  async #storeWithRetries(group: FrameGroup): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const isLastAttempt = this.#closing;
      try {
        const startedMs = performance.now();
        await this.#writer.writeGroup(group);
        this.#hasEndMark = false;
        this.#onGroupStored(group.records, group.length, Math.round((performance.now() - startedMs) * 1000));
        if (!this.#healthy) {
          this.#healthy = true;
          this.#onIncident({ kind: 'recovered' });
        }
        return true;
      } catch (error) {
        await this.#writer.abandon();
        if (attempt === 1) {
          this.#onIncident({ kind: 'segment-abandoned', error });
          continue;
        }
        if (this.#healthy) {
          this.#healthy = false;
          this.#onIncident({ kind: 'unavailable', error });
        }
        group.rejectWaiters(error);
        this.#pendingGroup.rejectWaiters(error);
        if (isLastAttempt) return false;
        if (!this.#closing) await this.#waitBeforeRetry();
      }
    }
  }

  #waitBeforeRetry(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#retryMs);
      this.#cancelRetryPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #close(): Promise<void> {
    this.#closing = true;
    if (this.#lingerTimer !== null) clearTimeout(this.#lingerTimer);
    this.#cancelRetryPause();
    if (this.#pendingGroup.records > 0) this.#scheduleStore();
    await this.#storeLoop;
    const lost = this.#appendedPosition - this.#durablePosition;
    if (lost > 0) this.#onIncident({ kind: 'records-lost', records: lost });
    try {
      // At this point, the segment before the end mark is complete and synced.
      if (lost === 0 && !this.#hasEndMark) {
        await this.#writer.writeEndMark(this.#appendedPosition + 1, this.#appendedCrc);
      }
      await this.#writer.close();
    } catch (error) {
      await this.#writer.abandon();
      this.#onIncident({ kind: 'segment-abandoned', error });
    }
  }
}

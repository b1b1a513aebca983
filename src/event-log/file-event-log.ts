import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { AppendedRecord, EventLog } from './event-log.ts';
import { FrameGroup } from './frame-group.ts';
import { type LogFiles, nodeLogFiles } from './log-files.ts';
import { chainFieldsBytes, frameHeaderBytes } from './log-format.ts';
import {
  type ReadProgressListener,
  type ReadSince,
  type RecordVisitor,
  type RecoveredLog,
  type RemovedTail,
  recoverLog,
} from './log-recovery.ts';
import { SegmentWriter } from './segment-writer.ts';

export interface FileEventLogOptions<Item> {
  /** Folder that only this log uses; created when missing. Lock the data folder first. */
  readonly folder: string;
  /** What durable means. `fsync`: synced to the disk. `write`: written to the kernel, which survives only a process crash. */
  readonly durability: 'fsync' | 'write';
  /** Called for each record that is read before `openEventLog` resolves. */
  readonly onRecord?: RecordVisitor;
  /** Skips segments that hold only older records; default: all segments are read. */
  readonly readSince?: ReadSince;
  /** Reports how far opening has read. */
  readonly onProgress?: ReadProgressListener | undefined;
  /** Called synchronously for each record that the log takes. Must not throw. */
  readonly onAppended?: (record: Item) => void;
  /** Reports write errors, recoveries and torn tails to the operator. */
  readonly onIncident?: (incident: LogIncident) => void;
  /** Called after each stored group with its size and the time that writing and syncing took. */
  readonly onGroupStored?: (records: number, bytes: number, elapsedUs: number) => void;
  readonly segmentBytesMax?: number;
  readonly pendingBytesMax?: number;
  /** Interval of the attempts to write again after errors, in milliseconds. */
  readonly retryMs?: number;
  readonly files?: LogFiles;
}

export type LogIncident =
  /** The log was not closed and ended in an incomplete record, whose bytes were moved to another file. */
  | ({ readonly kind: 'torn-tail-removed' } & RemovedTail)
  /** A write or sync failed. The log continues in a new segment. */
  | { readonly kind: 'segment-abandoned'; readonly error: unknown }
  /** The new segment failed too. The log refuses records until it can write again. */
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'recovered' }
  /** The log was closed while unavailable; records that were never reported as durable are lost. */
  | { readonly kind: 'records-lost'; readonly records: number };

/**
 * Opens the log of a folder, after recovering it from a crash.
 *
 * @throws LogDamagedError when a record that was durable cannot be read. The error names file and byte offset.
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

/** Creates a log in an empty folder whose name is durable already. Does no I/O. */
export function createEventLog<Item extends readonly unknown[]>(
  options: FileEventLogOptions<Item>,
): FileEventLog<Item> {
  return new FileEventLog<Item>(options, options.files ?? nodeLogFiles, { position: 0, crc: 0, hasEndMark: true });
}

/**
 * A log in a folder of segment files (log-format.ts documents the format).
 *
 * New frames are collected in one group while the other is written and synced; then the groups change places. So the speed of
 * the disk decides the size of a group: one record when idle, hundreds under load, with one sync for all of them.
 *
 *     idle --append--> collecting --end of turn--> storing --durable--> idle, or storing the next group
 *     idle --appendWithoutWaiting--> collecting --a few milliseconds, or an append--> storing
 *     storing --failed--> storing the same group in a new segment --failed--> unavailable
 *     unavailable --every retryMs: a new segment works--> storing
 *
 * A taken record is never dropped, and its position is never reused, even after its promise was rejected: its frame stays in
 * memory until the log can be written. While unavailable the log refuses `append`, and accepts `appendWithoutWaiting` up to
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
  /** Whether the newest segment holds no record, or there is no segment. */
  #hasEndMark: boolean;
  #healthy = true;
  #closing = false;
  /** The pending group is to be stored now: a caller waits for it, or it is large. */
  #storeRequested = false;
  /** Delays the storing of records that no caller waits for. */
  #lingerTimer: NodeJS.Timeout | null = null;
  /** The loop that stores groups, while it runs. */
  #storeLoop: Promise<void> | null = null;
  #cancelRetryPause: () => void = () => {};
  #closePromise: Promise<void> | null = null;
  #durableListener: (position: number) => void = () => {};

  /** Use `openEventLog` or `createEventLog`: the log must have been recovered. */
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
    const frameBytesMax = payload.length + frameHeaderBytes + chainFieldsBytes;
    if (this.#writingGroup.length + group.length + frameBytesMax > this.#pendingBytesMax) return false;
    // A group is written only when all groups before it are durable, so its first frame may carry the sync mark.
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

  /** A write and a sync cost the same for few records as for many, so records that no caller waits for are collected. */
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
      // The waiting callers run after the next write has begun.
      group.settleDurable();
    }
    this.#storeLoop = null;
    if (this.#pendingGroup.records > 0 && !this.#closing) this.#scheduleStoreAfterLinger();
  }

  /** Retries until the group is durable. Returns false when an attempt fails that began after `close`. */
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
      // The segment before the end mark is complete and synced by then.
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

import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import { LogUnavailableError } from './event-log.ts';
import type { LogFiles, WritableLogFile } from './log-files.ts';
import { nodeLogFiles } from './log-files.ts';
import {
  chainFieldsBytes,
  encodeSegmentHeader,
  frameCrc,
  frameHeaderBytes,
  segmentFileName,
  segmentHeaderBytes,
  syncMarkBit,
  temporaryFileName,
  writeChainFields,
} from './log-format.ts';
import type { ReadProgressListener, ReadSince, RecordVisitor, RecoveredLog, RemovedTail } from './log-recovery.ts';
import { recoverLog } from './log-recovery.ts';

export interface FileEventLogOptions {
  /** Of this log alone; created when missing. Hold its data folder's lock first. */
  readonly folder: string;
  readonly shard: number;
  /** `fsync`: durable means synced to the disk. `write`: handed to the kernel, which survives a crash of the process only. */
  readonly durability: 'fsync' | 'write';
  /** Called for every record read at opening, before `openEventLog` resolves. */
  readonly onRecord?: RecordVisitor;
  /** Leaves segments unread that hold only records from before this; default: all are read. */
  readonly readSince?: ReadSince;
  /** Told how far the reading at opening has got. */
  readonly onProgress?: ReadProgressListener | undefined;
  /** Called when the log runs into trouble or out of it; for the operator's eyes. */
  readonly onTrouble?: (trouble: LogIncident) => void;
  /** Told of each group that was stored: its records and bytes, and the microseconds that writing and syncing took. */
  readonly onStored?: (records: number, bytes: number, elapsedUs: number) => void;
  readonly segmentBytesMax?: number;
  readonly pendingBytesMax?: number;
  /** How often a log that cannot be written tries again. */
  readonly healMs?: number;
  readonly files?: LogFiles;
}

export type LogIncident =
  /** The log had not been closed and ended in bytes that are no whole record; they were moved to a file of their own. */
  | ({ readonly kind: 'tail-cut' } & RemovedTail)
  /** A write or sync failed; the log goes on in a new segment. */
  | { readonly kind: 'segment-abandoned'; readonly error: unknown }
  /** That failed too: the log refuses appends until it works again. */
  | { readonly kind: 'unavailable'; readonly error: unknown }
  | { readonly kind: 'healed' }
  /** The log was closed while unavailable, with records nobody was told are durable. */
  | { readonly kind: 'records-lost'; readonly records: number };

/**
 * Opens the log of a folder, recovering it first. The order of events is that of the calls to `append` and `note`.
 *
 * @throws LogDamagedError when a record that was safe once cannot be read, naming file and byte offset.
 */
export async function openEventLog<Item extends readonly unknown[] = LedgerRecord>(
  options: FileEventLogOptions,
): Promise<FileEventLog<Item>> {
  const files = options.files ?? nodeLogFiles;
  files.createFolder(options.folder);
  const { folder, shard, onRecord, readSince, onProgress } = options;
  const recovered = await recoverLog(files, folder, shard, onRecord, readSince, onProgress);
  if (recovered.removedTail !== null) options.onTrouble?.({ kind: 'tail-cut', ...recovered.removedTail });
  return new FileEventLog<Item>(options, files, recovered);
}

/** Creates a log in an empty folder whose name is durable already. There is nothing to recover, so it does no I/O. */
export function createEventLog<Item extends readonly unknown[] = LedgerRecord>(
  options: FileEventLogOptions,
): FileEventLog<Item> {
  return new FileEventLog<Item>(options, options.files ?? nodeLogFiles, { position: 0, crc: 0, hasEndMark: true });
}

/** Frames that are written and synced together, end to end in one buffer that is used again. */
class FrameGroup {
  #buffer = Buffer.allocUnsafeSlow(bounds.logGroupInitialBytes);
  length = 0;
  records = 0;
  firstSequence = 0;
  /** CRC of the record ahead of the group, or, once frames are in it, of the last of them. */
  previousCrc = 0;
  lastCrc = 0;
  #promise: Promise<void> | null = null;
  #resolve: () => void = () => {};
  #reject: (error: LogUnavailableError) => void = () => {};
  /** The promise of callers that were already rejected: their records are still to be written. */
  #durableLater: PromiseWithResolvers<void> | null = null;

  get bytes(): Buffer {
    return this.#buffer;
  }

  add(payload: Uint8Array, sequence: number, previousCrc: number, marked: boolean): void {
    const start = this.length + frameHeaderBytes + (marked ? chainFieldsBytes : 0);
    const end = start + payload.length;
    if (end > this.#buffer.length) this.#grow(end);
    const buffer = this.#buffer;
    const crc = frameCrc(sequence, previousCrc, payload);
    buffer.writeUInt32BE(marked ? syncMarkBit + payload.length : payload.length, this.length);
    buffer.writeUInt32BE(crc, this.length + 4);
    if (marked) writeChainFields(buffer, this.length + frameHeaderBytes, sequence, previousCrc);
    buffer.set(payload, start);
    if (this.records === 0) {
      this.firstSequence = sequence;
      this.previousCrc = previousCrc;
    }
    this.records++;
    this.length = end;
    this.lastCrc = crc;
  }

  /** The one promise of everybody who waits for this group. */
  durablePromise(): Promise<void> {
    this.#promise ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#promise;
  }

  settleDurable(): void {
    // First, since these records are ahead of those appended after the log worked again.
    this.#durableLater?.resolve();
    this.#durableLater = null;
    if (this.#promise !== null) this.#resolve();
    this.#promise = null;
  }

  /** Tells those who wait; the frames stay. */
  rejectWaiters(cause: unknown): void {
    if (this.#promise === null) return;
    this.#durableLater ??= Promise.withResolvers();
    this.#reject(new LogUnavailableError('the log cannot be written', this.#durableLater.promise, { cause }));
    this.#promise = null;
  }

  clear(): void {
    this.length = 0;
    this.records = 0;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }
}

interface OpenSegment {
  readonly file: WritableLogFile;
  /** Where the next group goes. */
  offset: number;
  /** Up to here the file has been written, with zeros behind `offset`. */
  preallocatedBytes: number;
}

/**
 * The log in a folder of segment files (log-format.ts says how they lie there).
 *
 * Frames are gathered in one group while the other is written and synced; then they change places. So the disk decides how
 * large groups become: one record when nothing else happens, hundreds under load, and one sync for all of them.
 *
 *     idle --append--> gathering --end of turn--> storing --durable--> idle, or storing what came meanwhile
 *     idle --note--> gathering --a few milliseconds, or an append--> storing
 *     storing --failed--> storing the same group in a new segment --failed--> unavailable
 *     unavailable --every retryMs: a new segment works--> storing
 *
 * A record once taken is never dropped and its sequence number never given to another, even if those who waited for it
 * were told that its outcome is unknown: its frames stay in memory until the log works again. While unavailable the log
 * refuses appends and still takes notes, as far as its bound goes.
 */
export class FileEventLog<Item extends readonly unknown[] = LedgerRecord> {
  readonly #files: LogFiles;
  readonly #folder: string;
  readonly #shard: number;
  readonly #syncsGroups: boolean;
  readonly #segmentBytesMax: number;
  readonly #pendingBytesMax: number;
  readonly #retryMs: number;
  readonly #onIncident: (trouble: LogIncident) => void;
  readonly #onGroupStored: (records: number, bytes: number, elapsedUs: number) => void;
  readonly #encoder = new Encoder();
  #pendingGroup = new FrameGroup();
  #writingGroup = new FrameGroup();
  /** Null before the first group and after a failure: the next group begins a new one. */
  #openSegment: OpenSegment | null = null;
  #appendedPosition: number;
  #appendedCrc: number;
  #durablePosition: number;
  /** Whether the newest segment holds no record, or there is none. */
  #hasEndMark: boolean;
  #healthy = true;
  #closing = false;
  /** The gathered records are to be stored without further ado: somebody waits, or they are many. */
  #storeRequested = false;
  /** Until notes that nobody waits for are stored. */
  #lingerTimer: NodeJS.Timeout | null = null;
  /** The loop that stores groups, while it runs. */
  #storeLoop: Promise<void> | null = null;
  #cancelRetryPause: () => void = () => {};
  #closePromise: Promise<void> | null = null;
  #durableListener: (position: number) => void = () => {};

  /** Use `openEventLog` or `createEventLog`: the log must have been recovered. */
  constructor(
    options: FileEventLogOptions,
    files: LogFiles,
    { position, crc, hasEndMark }: Pick<RecoveredLog, 'position' | 'crc' | 'hasEndMark'>,
  ) {
    this.#hasEndMark = hasEndMark;
    this.#files = files;
    this.#folder = options.folder;
    this.#shard = options.shard;
    this.#syncsGroups = options.durability === 'fsync';
    this.#segmentBytesMax = options.segmentBytesMax ?? bounds.logSegmentBytesMax;
    this.#pendingBytesMax = options.pendingBytesMax ?? bounds.logPendingBytesMax;
    this.#retryMs = options.healMs ?? bounds.logRetryIntervalMs;
    this.#onIncident = options.onTrouble ?? (() => {});
    this.#onGroupStored = options.onStored ?? (() => {});
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

  append(record: Item): Promise<void> {
    if (!this.#healthy) return Promise.reject(new LogUnavailableError('the log cannot be written', null));
    if (this.#closing) return Promise.reject(new LogUnavailableError('the log is closed', null));
    if (!this.#addToPendingGroup(record))
      return Promise.reject(new LogUnavailableError('too much waits for the log', null));
    this.#scheduleStore();
    return this.#pendingGroup.durablePromise();
  }

  appendWithoutWaiting(record: Item): boolean {
    if (this.#closing || !this.#addToPendingGroup(record)) return false;
    if (this.#pendingGroup.length >= bounds.logGroupInitialBytes) this.#scheduleStore();
    else if (this.#storeLoop === null) this.#scheduleStoreAfterLinger();
    return true;
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  #addToPendingGroup(record: Item): boolean {
    const payload = this.#encoder.encodeSharedRef(record);
    if (payload.length > bounds.logRecordBytesMax) throw new RangeError('a record is larger than a log may hold');
    const group = this.#pendingGroup;
    const largest = payload.length + frameHeaderBytes + chainFieldsBytes;
    if (this.#writingGroup.length + group.length + largest > this.#pendingBytesMax) return false;
    // A group is written only after all ahead of it are durable, which its first frame may therefore say.
    group.add(payload, this.#appendedPosition + 1, this.#appendedCrc, this.#syncsGroups && group.records === 0);
    this.#appendedPosition++;
    this.#appendedCrc = group.lastCrc;
    return true;
  }

  /** At the end of this turn of the event loop, so that all requests that arrived together travel together. */
  #scheduleStore(): void {
    this.#storeRequested = true;
    this.#storeLoop ??= new Promise((resolve) => {
      setImmediate(() => resolve(this.#runStoreLoop()));
    });
  }

  /** Nobody waits for a group of notes alone, and a write and a sync cost the same for few as for many. */
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
      // Those who waited run after the next write has begun.
      group.settleDurable();
    }
    this.#storeLoop = null;
    if (this.#pendingGroup.records > 0 && !this.#closing) this.#scheduleStoreAfterLinger();
  }

  /** Tries until the group is durable; false when an attempt fails that began after the log was closed. */
  async #storeWithRetries(group: FrameGroup): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const last = this.#closing;
      try {
        const startedMs = performance.now();
        await this.#storeGroup(group);
        this.#onGroupStored(group.records, group.length, Math.round((performance.now() - startedMs) * 1000));
        if (!this.#healthy) {
          this.#healthy = true;
          this.#onIncident({ kind: 'healed' });
        }
        return true;
      } catch (error) {
        await this.#abandonSegment();
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
        if (last) return false;
        if (!this.#closing) await this.#waitBeforeRetry();
      }
    }
  }

  async #storeGroup(group: FrameGroup): Promise<void> {
    const open = this.#openSegment;
    const fits = open !== null && open.offset + group.length <= this.#segmentBytesMax;
    const segment = fits ? open : await this.#createSegment(group);
    const { file, offset } = segment;
    const end = offset + group.length;
    const reserves = end > segment.preallocatedBytes;
    if (reserves) await this.#preallocate(segment, end);
    if (this.#syncsGroups && !reserves) {
      await file.writeAndSync(group.bytes, group.length, offset);
    } else {
      await file.write(group.bytes, group.length, offset);
      // The zeros, too: else every group after this one would find the file's size changed.
      if (this.#syncsGroups) await file.datasync();
    }
    segment.offset = end;
    this.#hasEndMark = false;
  }

  /**
   * Zeros behind the data: a sync that need not also record a new size of the file takes about two thirds of the time, and
   * only one in many has to.
   */
  async #preallocate(segment: OpenSegment, end: number): Promise<void> {
    const reserved = Math.max(end, Math.min(this.#segmentBytesMax, end + zeroFill.length));
    if (reserved > end) await segment.file.write(zeroFill, reserved - end, end);
    segment.preallocatedBytes = reserved;
  }

  async #createSegment({
    firstSequence,
    previousCrc,
  }: Pick<FrameGroup, 'firstSequence' | 'previousCrc'>): Promise<OpenSegment> {
    await this.#closeSegment();
    const name = segmentFileName(firstSequence);
    const unfinished = join(this.#folder, temporaryFileName(name));
    const file = await this.#files.create(unfinished);
    try {
      await file.write(encodeSegmentHeader({ shard: this.#shard, firstSequence, previousCrc }), segmentHeaderBytes, 0);
      await file.datasync();
      await this.#files.rename(unfinished, join(this.#folder, name));
      await this.#files.syncFolder(this.#folder);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    this.#openSegment = { file, offset: segmentHeaderBytes, preallocatedBytes: segmentHeaderBytes };
    return this.#openSegment;
  }

  /** Closes a segment that is whole: without the zeros, and synced even where groups are not. */
  async #closeSegment(): Promise<void> {
    const segment = this.#openSegment;
    if (segment === null) return;
    if (segment.preallocatedBytes > segment.offset) await segment.file.truncate(segment.offset);
    await segment.file.datasync();
    this.#openSegment = null;
    await segment.file.close();
  }

  /** Never to be written again: what the kernel kept of it is not known. */
  async #abandonSegment(): Promise<void> {
    const segment = this.#openSegment;
    this.#openSegment = null;
    await segment?.file.close().catch(() => {});
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
      // The end mark (see log-format.ts). The segment before it is whole and synced by then.
      if (lost === 0 && !this.#hasEndMark) {
        await this.#createSegment({ firstSequence: this.#appendedPosition + 1, previousCrc: this.#appendedCrc });
      }
      await this.#closeSegment();
    } catch (error) {
      await this.#abandonSegment();
      this.#onIncident({ kind: 'segment-abandoned', error });
    }
  }
}

const zeroFill = Buffer.alloc(bounds.logPreallocationBytes);

import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { LogUnavailable } from './event-log.ts';
import type { LedgerRecord } from './ledger-record.ts';
import type { LogFiles, WritableLogFile } from './log-files.ts';
import {
  encodeHeader,
  frameCrc,
  frameHeadBytes,
  headerBytes,
  markBit,
  markBytes,
  segmentName,
  unfinishedName,
  writeChain,
} from './log-format.ts';
import type { CutTail, RecordVisitor, RecoveredLog, RecoveryObserver, VisitSince } from './log-recovery.ts';
import { recoverLog } from './log-recovery.ts';
import { nodeLogFiles } from './node-log-files.ts';

export interface EventLogOptions {
  /** Of this log alone; created when missing. Hold its data folder's lock first. */
  readonly folder: string;
  readonly shard: number;
  /** `fsync`: durable means synced to the disk. `write`: handed to the kernel, which survives a crash of the process only. */
  readonly durability: 'fsync' | 'write';
  /** Called for every record read at opening, before `openEventLog` resolves. */
  readonly onRecord?: RecordVisitor;
  /** Leaves segments unread that hold only records from before this; default: all are read. */
  readonly visitSince?: VisitSince;
  /** Told how far the reading at opening has got. */
  readonly onRead?: RecoveryObserver | undefined;
  /** Called when the log runs into trouble or out of it; for the operator's eyes. */
  readonly onTrouble?: (trouble: LogTrouble) => void;
  /** Told of each group that was stored: its records and bytes, and the microseconds that writing and syncing took. */
  readonly onStored?: (records: number, bytes: number, elapsedUs: number) => void;
  readonly segmentBytesMax?: number;
  readonly pendingBytesMax?: number;
  /** How often a log that cannot be written tries again. */
  readonly healMs?: number;
  readonly files?: LogFiles;
}

export type LogTrouble =
  /** The log had not been closed and ended in bytes that are no whole record; they were moved to a file of their own. */
  | ({ readonly kind: 'tail-cut' } & CutTail)
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
 * @throws LogDamaged when a record that was safe once cannot be read, naming file and byte offset.
 */
export async function openEventLog<Item extends readonly unknown[] = LedgerRecord>(
  options: EventLogOptions,
): Promise<FileEventLog<Item>> {
  const files = options.files ?? nodeLogFiles;
  files.makeFolder(options.folder);
  const { folder, shard, onRecord, visitSince, onRead } = options;
  const recovered = await recoverLog(files, folder, shard, onRecord, visitSince, onRead);
  if (recovered.cut !== null) options.onTrouble?.({ kind: 'tail-cut', ...recovered.cut });
  return new FileEventLog<Item>(options, files, recovered);
}

/** Creates a log in an empty folder whose name is durable already. There is nothing to recover, so it does no I/O. */
export function createEventLog<Item extends readonly unknown[] = LedgerRecord>(
  options: EventLogOptions,
): FileEventLog<Item> {
  return new FileEventLog<Item>(options, options.files ?? nodeLogFiles, { position: 0, crc: 0, endMarked: true });
}

/** Frames that are written and synced together, end to end in one buffer that is used again. */
class Group {
  #buffer = Buffer.allocUnsafeSlow(bounds.logGroupBytes);
  length = 0;
  records = 0;
  firstSequence = 0;
  /** CRC of the record ahead of the group, or, once frames are in it, of the last of them. */
  previousCrc = 0;
  lastCrc = 0;
  #promise: Promise<void> | null = null;
  #resolve: () => void = () => {};
  #reject: (error: LogUnavailable) => void = () => {};
  /** The promise of callers that were already rejected: their records are still to be written. */
  #written: PromiseWithResolvers<void> | null = null;

  get bytes(): Buffer {
    return this.#buffer;
  }

  add(payload: Uint8Array, sequence: number, previousCrc: number, marked: boolean): void {
    const start = this.length + frameHeadBytes + (marked ? markBytes : 0);
    const end = start + payload.length;
    if (end > this.#buffer.length) this.#grow(end);
    const buffer = this.#buffer;
    const crc = frameCrc(sequence, previousCrc, payload);
    buffer.writeUInt32BE(marked ? markBit + payload.length : payload.length, this.length);
    buffer.writeUInt32BE(crc, this.length + 4);
    if (marked) writeChain(buffer, this.length + frameHeadBytes, sequence, previousCrc);
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
  promise(): Promise<void> {
    this.#promise ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#promise;
  }

  resolve(): void {
    // First, since these records are ahead of those appended after the log worked again.
    this.#written?.resolve();
    this.#written = null;
    if (this.#promise !== null) this.#resolve();
    this.#promise = null;
  }

  /** Tells those who wait; the frames stay. */
  reject(cause: unknown): void {
    if (this.#promise === null) return;
    this.#written ??= Promise.withResolvers();
    this.#reject(new LogUnavailable('the log cannot be written', this.#written.promise, { cause }));
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

interface Segment {
  readonly file: WritableLogFile;
  /** Where the next group goes. */
  offset: number;
  /** Up to here the file has been written, with zeros behind `offset`. */
  reserved: number;
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
 *     unavailable --every healMs: a new segment works--> storing
 *
 * A record once taken is never dropped and its sequence number never given to another, even if those who waited for it
 * were told that its outcome is unknown: its frames stay in memory until the log works again. While unavailable the log
 * refuses appends and still takes notes, as far as its bound goes.
 */
export class FileEventLog<Item extends readonly unknown[] = LedgerRecord> {
  readonly #files: LogFiles;
  readonly #folder: string;
  readonly #shard: number;
  readonly #synced: boolean;
  readonly #segmentBytesMax: number;
  readonly #pendingBytesMax: number;
  readonly #healMs: number;
  readonly #onTrouble: (trouble: LogTrouble) => void;
  readonly #onStored: (records: number, bytes: number, elapsedUs: number) => void;
  readonly #encoder = new Encoder();
  #gathering = new Group();
  #storing = new Group();
  /** Null before the first group and after a failure: the next group begins a new one. */
  #segment: Segment | null = null;
  #appendedPosition: number;
  #appendedCrc: number;
  #durablePosition: number;
  /** Whether the newest segment holds no record, or there is none. */
  #endMarked: boolean;
  #healthy = true;
  #closing = false;
  /** The gathered records are to be stored without further ado: somebody waits, or they are many. */
  #due = false;
  /** Until notes that nobody waits for are stored. */
  #linger: NodeJS.Timeout | null = null;
  /** The loop that stores groups, while it runs. */
  #running: Promise<void> | null = null;
  #endPause: () => void = () => {};
  #closed: Promise<void> | null = null;
  #listener: (position: number) => void = () => {};

  /** Use `openEventLog` or `createEventLog`: the log must have been recovered. */
  constructor(
    options: EventLogOptions,
    files: LogFiles,
    { position, crc, endMarked }: Pick<RecoveredLog, 'position' | 'crc' | 'endMarked'>,
  ) {
    this.#endMarked = endMarked;
    this.#files = files;
    this.#folder = options.folder;
    this.#shard = options.shard;
    this.#synced = options.durability === 'fsync';
    this.#segmentBytesMax = options.segmentBytesMax ?? bounds.segmentBytesMax;
    this.#pendingBytesMax = options.pendingBytesMax ?? bounds.logPendingBytesMax;
    this.#healMs = options.healMs ?? bounds.logHealMs;
    this.#onTrouble = options.onTrouble ?? (() => {});
    this.#onStored = options.onStored ?? (() => {});
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

  onDurable(listener: (position: number) => void): void {
    this.#listener = listener;
  }

  append(record: Item): Promise<void> {
    if (!this.#healthy) return Promise.reject(new LogUnavailable('the log cannot be written', null));
    if (this.#closing) return Promise.reject(new LogUnavailable('the log is closed', null));
    if (!this.#add(record)) return Promise.reject(new LogUnavailable('too much waits for the log', null));
    this.#storeNow();
    return this.#gathering.promise();
  }

  note(record: Item): boolean {
    if (this.#closing || !this.#add(record)) return false;
    if (this.#gathering.length >= bounds.logGroupBytes) this.#storeNow();
    else if (this.#running === null) this.#storeSoon();
    return true;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #add(record: Item): boolean {
    const payload = this.#encoder.encodeSharedRef(record);
    if (payload.length > bounds.recordBytesMax) throw new RangeError('a record is larger than a log may hold');
    const group = this.#gathering;
    const largest = payload.length + frameHeadBytes + markBytes;
    if (this.#storing.length + group.length + largest > this.#pendingBytesMax) return false;
    // A group is written only after all ahead of it are durable, which its first frame may therefore say.
    group.add(payload, this.#appendedPosition + 1, this.#appendedCrc, this.#synced && group.records === 0);
    this.#appendedPosition++;
    this.#appendedCrc = group.lastCrc;
    return true;
  }

  /** At the end of this turn of the event loop, so that all requests that arrived together travel together. */
  #storeNow(): void {
    this.#due = true;
    this.#running ??= new Promise((resolve) => {
      setImmediate(() => resolve(this.#storeGroups()));
    });
  }

  /** Nobody waits for a group of notes alone, and a write and a sync cost the same for few as for many. */
  #storeSoon(): void {
    this.#linger ??= setTimeout(() => {
      this.#linger = null;
      this.#storeNow();
    }, bounds.logNoteLingerMs);
  }

  async #storeGroups(): Promise<void> {
    while (this.#due && this.#gathering.records > 0 && (this.#healthy || !this.#closing)) {
      this.#due = false;
      const group = this.#gathering;
      this.#gathering = this.#storing;
      this.#storing = group;
      if (!(await this.#storedAtLast(group))) break;
      this.#durablePosition = group.firstSequence + group.records - 1;
      group.clear();
      this.#listener(this.#durablePosition);
      // Those who waited run after the next write has begun.
      group.resolve();
    }
    this.#running = null;
    if (this.#gathering.records > 0 && !this.#closing) this.#storeSoon();
  }

  /** Tries until the group is durable; false when an attempt fails that began after the log was closed. */
  async #storedAtLast(group: Group): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const last = this.#closing;
      try {
        const startedMs = performance.now();
        await this.#store(group);
        this.#onStored(group.records, group.length, Math.round((performance.now() - startedMs) * 1000));
        if (!this.#healthy) {
          this.#healthy = true;
          this.#onTrouble({ kind: 'healed' });
        }
        return true;
      } catch (error) {
        await this.#abandonSegment();
        if (attempt === 1) {
          this.#onTrouble({ kind: 'segment-abandoned', error });
          continue;
        }
        if (this.#healthy) {
          this.#healthy = false;
          this.#onTrouble({ kind: 'unavailable', error });
        }
        group.reject(error);
        this.#gathering.reject(error);
        if (last) return false;
        if (!this.#closing) await this.#pause();
      }
    }
  }

  async #store(group: Group): Promise<void> {
    const open = this.#segment;
    const fits = open !== null && open.offset + group.length <= this.#segmentBytesMax;
    const segment = fits ? open : await this.#beginSegment(group);
    const { file, offset } = segment;
    const end = offset + group.length;
    const reserves = end > segment.reserved;
    if (reserves) await this.#reserve(segment, end);
    if (this.#synced && !reserves) {
      await file.store(group.bytes, group.length, offset);
    } else {
      await file.write(group.bytes, group.length, offset);
      // The zeros, too: else every group after this one would find the file's size changed.
      if (this.#synced) await file.datasync();
    }
    segment.offset = end;
    this.#endMarked = false;
  }

  /**
   * Zeros behind the data: a sync that need not also record a new size of the file takes about two thirds of the time, and
   * only one in many has to.
   */
  async #reserve(segment: Segment, end: number): Promise<void> {
    const reserved = Math.max(end, Math.min(this.#segmentBytesMax, end + zeros.length));
    if (reserved > end) await segment.file.write(zeros, reserved - end, end);
    segment.reserved = reserved;
  }

  async #beginSegment({ firstSequence, previousCrc }: Pick<Group, 'firstSequence' | 'previousCrc'>): Promise<Segment> {
    await this.#finishSegment();
    const name = segmentName(firstSequence);
    const unfinished = join(this.#folder, unfinishedName(name));
    const file = await this.#files.create(unfinished);
    try {
      await file.write(encodeHeader({ shard: this.#shard, firstSequence, previousCrc }), headerBytes, 0);
      await file.datasync();
      await this.#files.rename(unfinished, join(this.#folder, name));
      await this.#files.syncFolder(this.#folder);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    this.#segment = { file, offset: headerBytes, reserved: headerBytes };
    return this.#segment;
  }

  /** Closes a segment that is whole: without the zeros, and synced even where groups are not. */
  async #finishSegment(): Promise<void> {
    const segment = this.#segment;
    if (segment === null) return;
    if (segment.reserved > segment.offset) await segment.file.truncate(segment.offset);
    await segment.file.datasync();
    this.#segment = null;
    await segment.file.close();
  }

  /** Never to be written again: what the kernel kept of it is not known. */
  async #abandonSegment(): Promise<void> {
    const segment = this.#segment;
    this.#segment = null;
    await segment?.file.close().catch(() => {});
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#healMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #close(): Promise<void> {
    this.#closing = true;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#endPause();
    if (this.#gathering.records > 0) this.#storeNow();
    await this.#running;
    const lost = this.#appendedPosition - this.#durablePosition;
    if (lost > 0) this.#onTrouble({ kind: 'records-lost', records: lost });
    try {
      // The end mark (see log-format.ts). The segment before it is whole and synced by then.
      if (lost === 0 && !this.#endMarked) {
        await this.#beginSegment({ firstSequence: this.#appendedPosition + 1, previousCrc: this.#appendedCrc });
      }
      await this.#finishSegment();
    } catch (error) {
      await this.#abandonSegment();
      this.#onTrouble({ kind: 'segment-abandoned', error });
    }
  }
}

const zeros = Buffer.alloc(bounds.logReserveBytes);

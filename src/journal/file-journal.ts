import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { LogUnavailableError } from '../event-log/event-log.ts';
import {
  createEventLog,
  type FileEventLog,
  type FileEventLogOptions,
  type LogIncident,
  openEventLog,
} from '../event-log/file-event-log.ts';
import type { LogFiles } from '../event-log/log-files.ts';
import { nodeLogFiles } from '../event-log/log-files.ts';
import type { ReadProgressListener } from '../event-log/log-recovery.ts';
import { logSizeBytes } from '../event-log/verify-log.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { EpochReader, serializeFieldEncodings } from './epoch-reader.ts';
import type { Journal } from './journal.ts';
import { JournalCipher, type JournalRecord, journalRecordKind, saltBytes } from './journal-format.ts';

export interface FileJournalOptions {
  /** Of the journal alone; created when missing. Hold its data folder's lock first. */
  readonly folder: string;
  readonly durability: 'fsync' | 'write';
  readonly clock: Clock;
  readonly secrets: SecretRing;
  readonly verticals: readonly Vertical[];
  /** How long a session can be live after a merge: the lifetime of a session. */
  readonly sessionTtlMs: number;
  /** Called at opening for every merge that was durable, in order; maybe for sessions long expired. Bytes are views: copy them. */
  readonly onFieldChanges: (sub: Uint8Array, changes: readonly number[]) => void;
  /** As of the log. */
  readonly onGroupStored?: FileEventLogOptions<JournalRecord>['onGroupStored'];
  /** Told how far the reading at opening has got. */
  readonly onProgress?: ReadProgressListener | undefined;
  readonly files?: LogFiles;
  /** How often a journal that cannot be written tries again. */
  readonly retryMs?: number;
  readonly onIncident?: (trouble: JournalIncident) => void;
}

export type JournalIncident =
  | LogIncident
  /** A new epoch could not be begun, or an old one not be removed; it is tried again. */
  | { readonly kind: 'not-tended'; readonly error: unknown }
  | { readonly kind: 'tended-again' };

/** One epoch: a log of its own in a folder of its own, under a key of its own. */
interface Epoch {
  readonly name: string;
  readonly openedMs: number;
  readonly log: FileEventLog<JournalRecord>;
  readonly cipher: JournalCipher;
  batchCount: number;
  lastWallMs: number;
}

/** An epoch that is written no more. */
interface ClosedEpoch {
  readonly name: string;
  /** Of its last batch. */
  readonly lastWallMs: number;
}

/** Merges that are sealed and written together. */
interface FieldChangesBatch {
  /** Sub, changes, sub, changes. */
  readonly items: (Uint8Array | readonly number[])[];
  readonly durable: PromiseWithResolvers<void>;
}

/**
 * The journal in a folder of epochs, each a log of the class that keeps the ledger. A new epoch begins with every start and
 * every quarter of an hour, and an epoch goes, folder and all, when no session changed in it can still be live: so what
 * borrowers told us does not outlast their sessions.
 *
 *     <folder>/0001790000000000/   one epoch, named after the wall time it was opened, in ms, made unique and ascending
 *     <folder>/....gone            an epoch being removed
 *
 * Once it is open, it does no synchronous I/O: the thread that answers requests is the one that begins and removes epochs.
 *
 * The merges of one turn of the event loop are sealed as one message, since sealing each would cost twenty times as much.
 */
export class FileJournal implements Journal {
  readonly #options: FileJournalOptions;
  readonly #encoder = new Encoder();
  #closedEpochs: ClosedEpoch[];
  #currentEpoch: Epoch;
  #pendingBatch: FieldChangesBatch | null = null;
  /** Settles with the last batch written. */
  #lastBatchDurable: Promise<void> = Promise.resolve();
  /** Batches to be written once a new epoch has begun; null unless one is about to. */
  #deferredBatches: FieldChangesBatch[] | null = null;
  #closing = false;
  #maintenance: Promise<void> | null = null;
  /** The last attempt to begin or remove epochs failed. */
  #maintenanceFailed = false;
  readonly #timer: NodeJS.Timeout;

  /**
   * Reads back what is there, and opens a new epoch.
   *
   * @throws LogDamagedError when what was durable once cannot be read, naming file and byte offset
   */
  static async open(options: FileJournalOptions): Promise<FileJournal> {
    const past: ClosedEpoch[] = [];
    const { onProgress, files = nodeLogFiles } = options;
    files.createFolder(options.folder);
    const names = await listEpochNames(options.folder);
    const sizes = onProgress === undefined ? [] : names.map((name) => logSizeBytes(files, join(options.folder, name)));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let before = 0;
    for (const [index, name] of names.entries()) {
      const reader = new EpochReader(join(options.folder, name), options);
      const log = await openEventLog<JournalRecord>({
        ...epochLogOptions(options, name),
        onRecord: (position, record) => reader.readRecord(position, record),
        onProgress: onProgress && ((bytes) => onProgress(before + bytes, total)),
      });
      await log.close();
      before += sizes[index] ?? 0;
      past.push({ name, lastWallMs: reader.lastWallMs });
    }
    const journal = new FileJournal(options, past, await openEpoch(options, past));
    await journal.#deleteExpiredEpochs();
    return journal;
  }

  private constructor(options: FileJournalOptions, closedEpochs: ClosedEpoch[], first: Epoch) {
    this.#options = options;
    this.#closedEpochs = closedEpochs;
    this.#currentEpoch = first;
    this.#timer = setInterval(() => void this.maintain(), bounds.journalMaintenanceIntervalMs);
  }

  get healthy(): boolean {
    return this.#currentEpoch.log.healthy;
  }

  append(sub: Uint8Array, changes: readonly number[]): Promise<void> {
    if (this.#closing) return Promise.reject(new LogUnavailableError('the journal is closed', null));
    this.#pendingBatch ??= this.#startBatch();
    const { items, durable } = this.#pendingBatch;
    items.push(Uint8Array.from(sub), changes);
    if (items.length >= bounds.logRecordItemsMax) this.#flushPendingBatch();
    return durable.promise;
  }

  /** Begins a new epoch and removes old ones, as far as it is time for either. */
  maintain(): Promise<void> {
    this.#maintenance ??= this.#runMaintenance().finally(() => {
      this.#maintenance = null;
    });
    return this.#maintenance;
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    await this.#maintenance;
    this.#flushPendingBatch();
    await this.#currentEpoch.log.close();
  }

  /** Written at the end of this turn of the event loop, with whatever else comes in until then. */
  #startBatch(): FieldChangesBatch {
    const batch: FieldChangesBatch = { items: [], durable: Promise.withResolvers() };
    setImmediate(() => {
      if (this.#pendingBatch === batch) this.#flushPendingBatch();
    });
    return batch;
  }

  #flushPendingBatch(): void {
    const batch = this.#pendingBatch;
    if (batch === null) return;
    this.#pendingBatch = null;
    if (this.#deferredBatches === null) this.#writeBatch(batch);
    else this.#deferredBatches.push(batch);
  }

  #writeBatch(batch: FieldChangesBatch): void {
    const epoch = this.#currentEpoch;
    const wallMs = this.#options.clock.wallMs();
    const sealed = epoch.cipher.encrypt(epoch.batchCount, this.#encoder.encodeSharedRef(batch.items));
    const appended = epoch.log.append([journalRecordKind.encryptedBatch, wallMs, sealed]);
    if (appended === null) {
      // The next batch may use the number, since nothing was written under it.
      batch.durable.reject(new LogUnavailableError('the journal cannot take the changes', null));
      return;
    }
    epoch.batchCount++;
    epoch.lastWallMs = Math.max(epoch.lastWallMs, wallMs);
    this.#lastBatchDurable = appended.durable.then(batch.durable.resolve, batch.durable.reject);
  }

  async #runMaintenance(): Promise<void> {
    const { clock, onIncident } = this.#options;
    try {
      const { openedMs, batchCount } = this.#currentEpoch;
      if (batchCount > 0 && clock.wallMs() - openedMs >= bounds.journalEpochDurationMs) await this.#startEpoch();
      await this.#deleteExpiredEpochs();
      if (this.#maintenanceFailed) onIncident?.({ kind: 'tended-again' });
      this.#maintenanceFailed = false;
    } catch (error) {
      this.#maintenanceFailed = true;
      onIncident?.({ kind: 'not-tended', error });
    }
  }

  /**
   * Begins a new epoch once all of the current one is durable, so that merges take effect in the order in which a restart reads
   * them. An epoch that cannot be written stays the current one until it can: closed, it would lose what it still has to write.
   */
  async #startEpoch(): Promise<void> {
    const { name, log } = this.#currentEpoch;
    this.#flushPendingBatch();
    this.#deferredBatches = [];
    try {
      await this.#lastBatchDurable;
      if (log.durablePosition < log.appendedPosition) return;
      const next = await openEpoch(this.#options, [...this.#closedEpochs, this.#currentEpoch]);
      this.#closedEpochs.push({ name, lastWallMs: this.#currentEpoch.lastWallMs });
      this.#currentEpoch = next;
    } finally {
      const held = this.#deferredBatches;
      this.#deferredBatches = null;
      for (const batch of held) this.#writeBatch(batch);
    }
    await log.close();
  }

  async #deleteExpiredEpochs(): Promise<void> {
    const { folder, clock, sessionTtlMs } = this.#options;
    const nowMs = clock.wallMs();
    for (const over of this.#closedEpochs.filter(({ lastWallMs }) => lastWallMs + sessionTtlMs <= nowMs)) {
      await deleteEpoch(folder, over.name);
      this.#closedEpochs = this.#closedEpochs.filter((epoch) => epoch !== over);
    }
  }
}

/** Names of the epochs in a folder, in order, after removing what was being removed when the last process ended. */
async function listEpochNames(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  for (const name of names) if (name.endsWith('.gone')) await rm(join(folder, name), { recursive: true });
  return names.filter((name) => /^\d{16}$/.test(name)).sort();
}

/**
 * First renamed: a folder that is removed half way must not be taken for an epoch with damage. Where an earlier attempt came that
 * far, it goes on.
 */
async function deleteEpoch(folder: string, name: string): Promise<void> {
  const gone = join(folder, `${name}.gone`);
  try {
    await rename(join(folder, name), gone);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await rm(gone, { recursive: true, force: true });
}

function epochLogOptions(options: FileJournalOptions, name: string): FileEventLogOptions<JournalRecord> {
  const { folder, durability, files, retryMs, onIncident, onGroupStored } = options;
  return {
    folder: join(folder, name),
    durability,
    ...(files !== undefined && { files }),
    ...(retryMs !== undefined && { retryMs }),
    ...(onIncident !== undefined && { onIncident }),
    ...(onGroupStored !== undefined && { onGroupStored }),
  };
}

async function openEpoch(options: FileJournalOptions, before: readonly { readonly name: string }[]): Promise<Epoch> {
  const { folder, clock, secrets, verticals, files = nodeLogFiles } = options;
  const openedMs = clock.wallMs();
  // The clock may have been set back, and the order of names is the order of merges.
  const name = String(Math.max(openedMs, Number(before.at(-1)?.name ?? 0) + 1)).padStart(16, '0');
  await mkdir(join(folder, name), { mode: 0o700 });
  await files.syncFolder(folder);
  const log = createEventLog(epochLogOptions(options, name));
  const { number } = secrets.newest;
  const salt = randomBytes(saltBytes);
  // Nobody waits for it: it is ahead of every batch, in the same group or in an earlier one.
  log.appendWithoutWaiting([journalRecordKind.epochOpened, openedMs, number, salt, serializeFieldEncodings(verticals)]);
  const cipher = new JournalCipher(secrets.deriveKey(number, 'journal')!, salt);
  return { name, openedMs, log, cipher, batchCount: 0, lastWallMs: Number.NEGATIVE_INFINITY };
}

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { Vertical } from '../domain/vertical.ts';
import { LogUnavailableError } from '../event-log/event-log.ts';
import {
  createEventLog,
  type EventLogProblem,
  type FileEventLog,
  type FileEventLogOptions,
  openEventLog,
} from '../event-log/file-event-log.ts';
import { nodeFileSystem } from '../event-log/log-files.ts';
import { logSizeBytes } from '../event-log/verify-log.ts';
import type { JournalLogEnd } from '../files/data-inventory.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import type { SessionJournal } from './journal.ts';
import { JournalCipher, type JournalRecord, journalRecordKinds, keySaltLength } from './journal-format.ts';
import { formatPocketFieldEncodings, JournalLogReader } from './journal-log-reader.ts';
import { deleteExpiredPieces, sessionPieceFolder } from './session-pieces.ts';

export interface FileJournalOptions
  extends Pick<
    FileEventLogOptions<JournalRecord>,
    'folder' | 'durability' | 'onGroupStored' | 'onProgress' | 'files' | 'retryMs'
  > {
  readonly clock: Clock;
  readonly secrets: SecretSet;
  readonly verticals: readonly Vertical[];
  /** Lifetime of a session in milliseconds. Field changes are deleted some time after their session has expired. */
  readonly sessionTtlMs: number;
  /** Called for each field change in the journal, even if the session has expired. The callback must copy `sub` to keep the bytes. */
  readonly onFieldChanges: (sub: Uint8Array, changes: readonly number[]) => void;
  /** Logs whose field changes up to a position are already restored, by name; by default, none. */
  readonly restoredLogs?: ReadonlyMap<string, JournalLogEnd>;
  /** Called while the journal is opened, with all stored logs. If the callback throws, the journal is not opened and not changed. */
  readonly onLogsRead?: (logs: readonly { readonly name: string; readonly position: number }[]) => void;
  readonly onIncident?: (incident: JournalProblem) => void;
}

export type JournalProblem =
  | EventLogProblem
  /** The journal failed to create a new log or to delete an old log, and will try again. */
  | { readonly kind: 'maintenance-failed'; readonly error: unknown }
  | { readonly kind: 'maintenance-recovered' };

interface JournalLog {
  readonly name: string;
  readonly openedMs: number;
  readonly log: FileEventLog<JournalRecord>;
  readonly cipher: JournalCipher;
  batchCount: number;
  lastWallMs: number;
}

/** Field changes that are encrypted and written together. */
interface FieldChangesBatch {
  /** Alternating sub_ids and lists of field changes: sub, changes, sub, changes, ... */
  readonly items: (Uint8Array | readonly number[])[];
  readonly durable: PromiseWithResolvers<void>;
}

/**
 * Journal that is stored as a sequence of event logs. Each event log has its own folder and its own encryption key. The journal creates a
 * new log at every start of the service, and every quarter of an hour if there are changes. A log is deleted when all sessions with changes
 * in this log have expired. Borrowers' data is therefore not stored much longer than their sessions.
 *
 *     <folder>/0001790000000000/   one journal log; its name is its creation time in ms, made unique and ascending
 *     <folder>/....gone            a journal log that is being deleted
 *     <folder>/snapshot/           pocket fields in the last snapshot, in files that are deleted like the logs
 *
 * An open journal performs no synchronous I/O, because it creates and deletes logs in the thread that serves requests.
 *
 * Field changes of the same turn of the event loop are encrypted as one message. Encrypting each change separately would take twenty times
 * as long.
 */
export class FileJournal implements SessionJournal {
  readonly #options: FileJournalOptions;
  readonly #encoder = new Encoder();
  /** Logs of earlier starts and rotations. `lastWallMs` is minus infinity for a log without field changes. */
  #closedLogs: JournalLogEnd[];
  #currentLog: JournalLog;
  #pendingBatch: FieldChangesBatch | null = null;
  /** Promise that settles when the last written batch is durable or has failed. */
  #lastBatchDurable: Promise<void> = Promise.resolve();
  /** Batches of field changes that wait while a new journal log is being created; otherwise null. */
  #deferredBatches: FieldChangesBatch[] | null = null;
  #closing = false;
  #maintenance: Promise<void> | null = null;
  #maintenanceFailed = false;
  readonly #timer: NodeJS.Timeout;

  /**
   * Opens the journal: reads the stored logs and creates a new log.
   *
   * @throws LogDamagedError if a durable record cannot be read; the error contains the file and the byte offset
   */
  static async open(options: FileJournalOptions): Promise<FileJournal> {
    const closedLogs: JournalLogEnd[] = [];
    const { onProgress, restoredLogs, files = nodeFileSystem } = options;
    files.createFolder(options.folder);
    const names = await listJournalLogNames(options.folder);
    const sizes = onProgress === undefined ? [] : names.map((name) => logSizeBytes(files, join(options.folder, name)));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let before = 0;
    for (const [index, name] of names.entries()) {
      const reader = new JournalLogReader(join(options.folder, name), options);
      const restored = restoredLogs?.get(name) ?? { position: 0, lastWallMs: Number.NEGATIVE_INFINITY };
      const log = await openEventLog<JournalRecord>({
        ...options,
        folder: join(options.folder, name),
        // The first record is the header, which is needed to read later records.
        isNeeded: (position) => position === 1 || position > restored.position,
        onRecord: (position, record) => reader.readRecord(position, record),
        onProgress: onProgress && ((bytes) => onProgress(before + bytes, total)),
      });
      await log.close();
      before += sizes[index] ?? 0;
      const lastWallMs = Math.max(restored.lastWallMs, reader.lastWallMs);
      closedLogs.push({ name, position: log.lastAppendedPosition, lastWallMs });
    }
    options.onLogsRead?.(closedLogs);
    const journal = new FileJournal(options, closedLogs, await openJournalLog(options, closedLogs));
    try {
      await journal.#deleteExpiredLogs();
    } catch (error) {
      await journal.close();
      throw error;
    }
    return journal;
  }

  private constructor(options: FileJournalOptions, closedLogs: JournalLogEnd[], currentLog: JournalLog) {
    this.#options = options;
    this.#closedLogs = closedLogs;
    this.#currentLog = currentLog;
    this.#timer = setInterval(() => void this.rotateAndDeleteLogs(), bounds.journalMaintenanceIntervalMs);
  }

  get healthy(): boolean {
    return this.#currentLog.log.healthy;
  }

  /** Lists the logs with field changes, with the positions of their last durable records. */
  listLogs(): JournalLogEnd[] {
    const { name, log, lastWallMs } = this.#currentLog;
    const logs = [...this.#closedLogs, { name, position: log.durablePosition, lastWallMs }];
    return logs.filter((each) => each.lastWallMs > 0);
  }

  append(sub: Uint8Array, changes: readonly number[]): Promise<void> {
    if (this.#closing) return Promise.reject(new LogUnavailableError('the journal is closed', null));
    this.#pendingBatch ??= this.#createPendingBatch();
    const { items, durable } = this.#pendingBatch;
    items.push(Uint8Array.from(sub), changes);
    if (items.length >= bounds.logRecordItemsMax) this.#flushPendingBatch();
    return durable.promise;
  }

  /** Creates a new journal log if the current log is too old, and deletes logs whose sessions have expired. */
  rotateAndDeleteLogs(): Promise<void> {
    this.#maintenance ??= this.#rotateLogs().finally(() => {
      this.#maintenance = null;
    });
    return this.#maintenance;
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    await this.#maintenance;
    this.#flushPendingBatch();
    await this.#currentLog.log.close();
  }

  /** Creates a batch that is written at the end of this turn of the event loop. */
  #createPendingBatch(): FieldChangesBatch {
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
    if (this.#deferredBatches === null) this.#appendEncryptedBatch(batch);
    else this.#deferredBatches.push(batch);
  }

  #appendEncryptedBatch(batch: FieldChangesBatch): void {
    const current = this.#currentLog;
    const wallMs = this.#options.clock.wallMs();
    const ciphertext = current.cipher.encryptBatch(current.batchCount, this.#encoder.encodeSharedRef(batch.items));
    const appended = current.log.append([journalRecordKinds.encryptedBatch, wallMs, ciphertext]);
    if (appended === null) {
      // A batch that the log refuses is not written, so the next batch may use the same batch number.
      batch.durable.reject(new LogUnavailableError('the journal cannot be written', null));
      return;
    }
    current.batchCount++;
    current.lastWallMs = Math.max(current.lastWallMs, wallMs);
    this.#lastBatchDurable = appended.durable.then(batch.durable.resolve, batch.durable.reject);
  }

  async #rotateLogs(): Promise<void> {
    const { clock, onIncident } = this.#options;
    try {
      const { openedMs, batchCount } = this.#currentLog;
      if (batchCount > 0 && clock.wallMs() - openedMs >= bounds.journalRotationIntervalMs) await this.#startNewLog();
      await this.#deleteExpiredLogs();
      if (this.#maintenanceFailed) onIncident?.({ kind: 'maintenance-recovered' });
      this.#maintenanceFailed = false;
    } catch (error) {
      this.#maintenanceFailed = true;
      onIncident?.({ kind: 'maintenance-failed', error });
    }
  }

  /**
   * Creates a new journal log once all batches of the current log are durable, so that a restart reads all changes in the correct order. If
   * the current log cannot be written, no new log is created, because closing the current log would lose its pending records.
   */
  async #startNewLog(): Promise<void> {
    const { name, log } = this.#currentLog;
    this.#flushPendingBatch();
    this.#deferredBatches = [];
    try {
      await this.#lastBatchDurable;
      if (log.durablePosition < log.lastAppendedPosition) return;
      const next = await openJournalLog(this.#options, [...this.#closedLogs, this.#currentLog]);
      this.#closedLogs.push({ name, position: log.lastAppendedPosition, lastWallMs: this.#currentLog.lastWallMs });
      this.#currentLog = next;
    } finally {
      const batches = this.#deferredBatches;
      this.#deferredBatches = null;
      for (const batch of batches) this.#appendEncryptedBatch(batch);
    }
    await log.close();
  }

  async #deleteExpiredLogs(): Promise<void> {
    const { folder, clock, sessionTtlMs } = this.#options;
    const nowMs = clock.wallMs();
    for (const expired of this.#closedLogs.filter(({ lastWallMs }) => lastWallMs + sessionTtlMs <= nowMs)) {
      await deleteJournalLog(folder, expired.name);
      this.#closedLogs = this.#closedLogs.filter((log) => log !== expired);
    }
    await deleteExpiredPieces(sessionPieceFolder(folder), nowMs - sessionTtlMs);
  }
}

/** Completes deletions of logs that a crash interrupted, and lists the folder names of the journal logs from oldest to newest. */
async function listJournalLogNames(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  for (const name of names) if (name.endsWith('.gone')) await rm(join(folder, name), { recursive: true });
  return names.filter((name) => /^\d{16}$/.test(name)).sort();
}

/**
 * Deletes a journal log. The log's folder is renamed before the deletion, so that a partly deleted log is not treated as
 * damaged. If the deletion is interrupted, another call of `deleteJournalLog` continues the deletion.
 */
async function deleteJournalLog(folder: string, name: string): Promise<void> {
  const gone = join(folder, `${name}.gone`);
  try {
    await rename(join(folder, name), gone);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await rm(gone, { recursive: true, force: true });
}

async function openJournalLog(
  options: FileJournalOptions,
  earlierLogs: readonly { readonly name: string }[],
): Promise<JournalLog> {
  const { folder, clock, secrets, verticals, files = nodeFileSystem } = options;
  const openedMs = clock.wallMs();
  // The name of a new journal log must be a higher number than all earlier names, even if the wall clock was set back.
  const name = String(Math.max(openedMs, Number(earlierLogs.at(-1)?.name ?? 0) + 1)).padStart(16, '0');
  await mkdir(join(folder, name), { mode: 0o700 });
  await files.syncFolder(folder);
  const log = createEventLog<JournalRecord>({ ...options, folder: join(folder, name) });
  const { number } = secrets.newest;
  const salt = randomBytes(keySaltLength);
  // The journal need not wait until the header record is durable, because the log makes its records durable in order.
  log.appendWithoutWaiting([journalRecordKinds.header, openedMs, number, salt, formatPocketFieldEncodings(verticals)]);
  const cipher = new JournalCipher(secrets.deriveKey(number, 'journal')!, salt);
  return { name, openedMs, log, cipher, batchCount: 0, lastWallMs: Number.NEGATIVE_INFINITY };
}

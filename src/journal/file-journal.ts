import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { logBytes } from '../events/check-log.ts';
import { LogUnavailable } from '../events/event-log.ts';
import {
  createEventLog,
  type EventLogOptions,
  type FileEventLog,
  type LogTrouble,
  openEventLog,
} from '../events/file-event-log.ts';
import type { LogFiles } from '../events/log-files.ts';
import type { RecoveryObserver } from '../events/log-recovery.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { EpochReader } from './epoch-reader.ts';
import { writeShapes } from './field-shapes.ts';
import type { Journal } from './journal.ts';
import { type JournalRecord, journalRecordKind } from './journal-record.ts';
import { JournalSeal, saltBytes } from './journal-seal.ts';

export interface FileJournalOptions {
  /** Of the journal alone; created when missing. Hold its data folder's lock first. */
  readonly folder: string;
  readonly shard: number;
  readonly durability: 'fsync' | 'write';
  readonly clock: Clock;
  readonly secrets: SecretRing;
  readonly verticals: readonly Vertical[];
  /** How long a session can be live after a merge: the lifetime of a session. */
  readonly keptMs: number;
  /** Called at opening for every merge that was durable, in order; maybe for sessions long expired. Bytes are views: copy them. */
  readonly onMerge: (sub: Uint8Array, changes: readonly number[]) => void;
  /** As of the log. */
  readonly onStored?: EventLogOptions['onStored'];
  /** Told how far the reading at opening has got. */
  readonly onRead?: RecoveryObserver | undefined;
  readonly files?: LogFiles;
  /** How often a journal that cannot be written tries again. */
  readonly healMs?: number;
  readonly onTrouble?: (trouble: JournalTrouble) => void;
}

export type JournalTrouble =
  | LogTrouble
  /** A new epoch could not be begun, or an old one not be removed; it is tried again. */
  | { readonly kind: 'not-tended'; readonly error: unknown }
  | { readonly kind: 'tended-again' };

/** One epoch: a log of its own in a folder of its own, under a key of its own. */
interface Epoch {
  readonly name: string;
  readonly openedMs: number;
  readonly log: FileEventLog<JournalRecord>;
  readonly seal: JournalSeal;
  batches: number;
  lastWallMs: number;
}

/** An epoch that is written no more. */
interface PastEpoch {
  readonly name: string;
  /** Of its last batch. */
  readonly lastWallMs: number;
}

/** Merges that are sealed and written together. */
interface Batch {
  /** Sub, changes, sub, changes. */
  readonly items: (Uint8Array | readonly number[])[];
  readonly settled: PromiseWithResolvers<void>;
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
  #past: PastEpoch[];
  #current: Epoch;
  #gathering: Batch | null = null;
  /** Settles with the last batch written. */
  #lastWritten: Promise<void> = Promise.resolve();
  /** Batches to be written once a new epoch has begun; null unless one is about to. */
  #held: Batch[] | null = null;
  #closing = false;
  #tending: Promise<void> | null = null;
  /** The last attempt to begin or remove epochs failed. */
  #notTended = false;
  readonly #timer: NodeJS.Timeout;

  /**
   * Reads back what is there, and opens a new epoch.
   *
   * @throws LogDamaged when what was durable once cannot be read, naming file and byte offset
   */
  static async open(options: FileJournalOptions): Promise<FileJournal> {
    const past: PastEpoch[] = [];
    const { onRead, files = nodeLogFiles } = options;
    files.makeFolder(options.folder);
    const names = await epochNames(options.folder);
    const sizes = onRead === undefined ? [] : names.map((name) => logBytes(files, join(options.folder, name)));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let before = 0;
    for (const [index, name] of names.entries()) {
      const reader = new EpochReader(join(options.folder, name), options);
      const log = await openEventLog({
        ...logOptions(options, name),
        onRecord: (position, record) => reader.visit(position, record),
        onRead: onRead && ((bytes) => onRead(before + bytes, total)),
      });
      await log.close();
      before += sizes[index] ?? 0;
      past.push({ name, lastWallMs: reader.lastWallMs });
    }
    const journal = new FileJournal(options, past, await openEpoch(options, past));
    await journal.#prune();
    return journal;
  }

  private constructor(options: FileJournalOptions, past: PastEpoch[], first: Epoch) {
    this.#options = options;
    this.#past = past;
    this.#current = first;
    this.#timer = setInterval(() => void this.tend(), bounds.journalTendMs);
  }

  get healthy(): boolean {
    return this.#current.log.healthy;
  }

  append(sub: Uint8Array, changes: readonly number[]): Promise<void> {
    if (this.#closing) return Promise.reject(new LogUnavailable('the journal is closed', null));
    this.#gathering ??= this.#newBatch();
    const { items, settled } = this.#gathering;
    items.push(Uint8Array.from(sub), changes);
    if (items.length >= bounds.recordItemsMax) this.#write();
    return settled.promise;
  }

  /** Begins a new epoch and removes old ones, as far as it is time for either. */
  tend(): Promise<void> {
    this.#tending ??= this.#tend().finally(() => {
      this.#tending = null;
    });
    return this.#tending;
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    await this.#tending;
    this.#write();
    await this.#current.log.close();
  }

  /** Written at the end of this turn of the event loop, with whatever else comes in until then. */
  #newBatch(): Batch {
    const batch: Batch = { items: [], settled: Promise.withResolvers() };
    setImmediate(() => {
      if (this.#gathering === batch) this.#write();
    });
    return batch;
  }

  #write(): void {
    const batch = this.#gathering;
    if (batch === null) return;
    this.#gathering = null;
    if (this.#held === null) this.#writeBatch(batch);
    else this.#held.push(batch);
  }

  #writeBatch(batch: Batch): void {
    const epoch = this.#current;
    const wallMs = this.#options.clock.wallMs();
    const sealed = epoch.seal.seal(epoch.batches, this.#encoder.encodeSharedRef(batch.items));
    const written = epoch.log.append([journalRecordKind.sealedBatch, wallMs, sealed]);
    // A batch that the log did not take leaves no gap: its number is given to the next one. Its bytes went nowhere.
    if (epoch.log.appendedPosition > epoch.batches + 1) {
      epoch.batches++;
      epoch.lastWallMs = Math.max(epoch.lastWallMs, wallMs);
    }
    this.#lastWritten = written.then(batch.settled.resolve, batch.settled.reject);
  }

  async #tend(): Promise<void> {
    const { clock, onTrouble } = this.#options;
    try {
      const { openedMs, batches } = this.#current;
      if (batches > 0 && clock.wallMs() - openedMs >= bounds.journalEpochMs) await this.#beginEpoch();
      await this.#prune();
      if (this.#notTended) onTrouble?.({ kind: 'tended-again' });
      this.#notTended = false;
    } catch (error) {
      this.#notTended = true;
      onTrouble?.({ kind: 'not-tended', error });
    }
  }

  /**
   * Begins a new epoch once all of the current one is durable, so that merges take effect in the order in which a restart reads
   * them. An epoch that cannot be written stays the current one until it can: closed, it would lose what it still has to write.
   */
  async #beginEpoch(): Promise<void> {
    const { name, log } = this.#current;
    this.#write();
    this.#held = [];
    try {
      await this.#lastWritten;
      if (log.durablePosition < log.appendedPosition) return;
      const next = await openEpoch(this.#options, [...this.#past, this.#current]);
      this.#past.push({ name, lastWallMs: this.#current.lastWallMs });
      this.#current = next;
    } finally {
      const held = this.#held;
      this.#held = null;
      for (const batch of held) this.#writeBatch(batch);
    }
    await log.close();
  }

  async #prune(): Promise<void> {
    const { folder, clock, keptMs } = this.#options;
    const nowMs = clock.wallMs();
    for (const over of this.#past.filter(({ lastWallMs }) => lastWallMs + keptMs <= nowMs)) {
      await removeEpoch(folder, over.name);
      this.#past = this.#past.filter((epoch) => epoch !== over);
    }
  }
}

/** Names of the epochs in a folder, in order, after removing what was being removed when the last process ended. */
async function epochNames(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  for (const name of names) if (name.endsWith('.gone')) await rm(join(folder, name), { recursive: true });
  return names.filter((name) => /^\d{16}$/.test(name)).sort();
}

/**
 * First renamed: a folder that is removed half way must not be taken for an epoch with damage. Where an earlier attempt came that
 * far, it goes on.
 */
async function removeEpoch(folder: string, name: string): Promise<void> {
  const gone = join(folder, `${name}.gone`);
  try {
    await rename(join(folder, name), gone);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await rm(gone, { recursive: true, force: true });
}

function logOptions(options: FileJournalOptions, name: string) {
  const { folder, shard, durability, files, healMs, onTrouble, onStored } = options;
  return {
    folder: join(folder, name),
    shard,
    durability,
    ...(files !== undefined && { files }),
    ...(healMs !== undefined && { healMs }),
    ...(onTrouble !== undefined && { onTrouble }),
    ...(onStored !== undefined && { onStored }),
  };
}

async function openEpoch(options: FileJournalOptions, before: readonly { readonly name: string }[]): Promise<Epoch> {
  const { folder, clock, secrets, verticals, files = nodeLogFiles } = options;
  const openedMs = clock.wallMs();
  // The clock may have been set back, and the order of names is the order of merges.
  const name = String(Math.max(openedMs, Number(before.at(-1)?.name ?? 0) + 1)).padStart(16, '0');
  await mkdir(join(folder, name), { mode: 0o700 });
  await files.syncFolder(folder);
  const log = createEventLog<JournalRecord>(logOptions(options, name));
  const { number } = secrets.newest;
  const salt = randomBytes(saltBytes);
  // Nobody waits for it: it is ahead of every batch, in the same group or in an earlier one.
  log.note([journalRecordKind.epochOpened, openedMs, number, salt, writeShapes(verticals)]);
  const seal = new JournalSeal(secrets.key(number, 'journal')!, salt);
  return { name, openedMs, log, seal, batches: 0, lastWallMs: Number.NEGATIVE_INFINITY };
}

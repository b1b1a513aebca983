import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueryParameters, QueryResults, StoreQueryName } from '../../src/analytics/aggregator-protocol.ts';
import { LedgerFollower, type RetentionOutcome } from '../../src/analytics/ledger-follower.ts';
import type { RetentionRequest } from '../../src/analytics/store-retention.ts';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import type { FileEventLog } from '../../src/event-log/file-event-log.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dropSegments } from '../../src/event-log/segment-files.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { dataFiles } from '../../src/files/data-files.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import type { Fate } from '../event-log/simulated-disk.ts';
import { SimulatedDisk, SimulatedLogFiles } from '../event-log/simulated-disk.ts';

const ledgerPath = '/ledger';

interface Recovered {
  readonly first: number;
  readonly records: readonly unknown[];
}

/**
 * An event log on a simulated disk and a `LedgerFollower` with a real store. The follower reads real files, to which the contents
 * of the simulated disk are copied.
 */
export class SimulatedFollower {
  readonly #durability: 'fsync' | 'write';
  readonly #folder = mkdtempSync(join(tmpdir(), 'simulated-follower-'));
  readonly #dataFiles = dataFiles(this.#folder);
  readonly #ledgerFolder = this.#dataFiles.ledgerFolder;
  readonly #savedFolder = join(this.#folder, 'saved');
  #files = new SimulatedLogFiles(new SimulatedDisk());
  #log!: FileEventLog<LedgerRecord>;
  #follower!: LedgerFollower;
  #pending: Promise<void>[] = [];
  #healed: () => void = () => {};
  rebuilds = 0;
  deletedSegments = 0;

  private constructor(durability: 'fsync' | 'write') {
    this.#durability = durability;
  }

  static async open(durability: 'fsync' | 'write'): Promise<SimulatedFollower> {
    const follower = new SimulatedFollower(durability);
    mkdirSync(follower.#ledgerFolder);
    await follower.#start();
    return follower;
  }

  get files(): SimulatedLogFiles {
    return this.#files;
  }

  /** Position of the last acknowledged record. */
  get acknowledgedPosition(): number {
    return this.#log.durablePosition;
  }

  /** Position of the last record that a power cut cannot lose. */
  get powerSafePosition(): number {
    return this.#durability === 'fsync' ? this.#log.durablePosition : 0;
  }

  get projectedPosition(): number {
    return this.#follower.projectedPosition;
  }

  execute<Name extends StoreQueryName>(name: Name, parameter: QueryParameters[Name]): QueryResults[Name] {
    return this.#follower.execute({ name, parameter });
  }

  /** Whether the log took the record, whatever becomes of it. */
  append(record: LedgerRecord, waited: boolean): boolean {
    if (!waited) return this.#log.appendWithoutWaiting(record) !== null;
    const appended = this.#log.append(record);
    if (appended === null) return false;
    this.#pending.push(appended.durable.catch((error) => assert.ok(error instanceof LogUnavailableError)));
    return true;
  }

  async settle(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
  }

  /** Resolves once the log is healthy and every accepted record is durable. */
  async catchUp(): Promise<void> {
    await this.settle();
    if (!this.#log.healthy) {
      await new Promise<void>((resolve) => {
        this.#healed = resolve;
      });
    }
    if (this.#log.durablePosition === this.#log.appendedPosition) return;
    await new Promise<void>((resolve) => {
      this.#log.onDurable((position) => {
        if (position === this.#log.appendedPosition) resolve();
      });
    });
  }

  applyBatch(upToPosition: number): void {
    this.#copyToFiles();
    this.#follower.applyBatch(upToPosition);
  }

  /** Applies the retention, with or without the deletion of ledger segments. Every acknowledged record must be projected. */
  async applyRetention(request: RetentionRequest, deletesSegments: boolean): Promise<RetentionOutcome> {
    const outcome = this.#follower.applyRetention(request);
    if (!outcome.archived || !deletesSegments) return outcome;
    // The sync of the folder may fail after the oldest segments were deleted.
    this.deletedSegments += await dropSegments(this.#files, ledgerPath, outcome.ledgerFromPosition).catch(() => 1);
    return outcome;
  }

  pruneRows(): void {
    if (this.#follower.hasRowsToPrune) this.#follower.pruneRows();
  }

  /** Fails in the middle of a batch and opens another follower. */
  applyBatchWithFailure(upToPosition: number, bytesReadable: number): void {
    this.#copyToFiles(bytesReadable);
    try {
      this.#follower.applyBatch(upToPosition);
    } catch (error) {
      assert.ok(error instanceof LogDamagedError);
    }
    this.#follower.close();
    this.#copyToFiles();
    this.#openFollower();
  }

  /** Saves a copy of the store, for a power cut that loses later commits. */
  saveStore(): void {
    copyStore(this.#folder, this.#savedFolder);
  }

  /** Deletes the store and opens a follower that rebuilds it. */
  deleteStore(): void {
    this.#follower.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#dataFiles.analyticsStoreFile + suffix, { force: true });
    rmSync(this.#savedFolder, { recursive: true, force: true });
    this.#copyToFiles();
    this.#openFollower();
  }

  /**
   * Ends the process, with a power cut if there is a fate, and opens log and follower again. Returns the recovered records.
   *
   * @param restoresStore whether the power cut also resets the store to the saved copy
   */
  async crash(fate: Fate | null, restoresStore: boolean): Promise<Recovered> {
    const { disk } = this.#files;
    const remaining = fate === null ? disk.copy() : disk.afterPowerCut(fate);
    this.#follower.close();
    await this.#endLog();
    if (fate !== null && restoresStore && existsSync(this.#savedFolder)) copyStore(this.#savedFolder, this.#folder);
    this.#files = new SimulatedLogFiles(remaining);
    return this.#start();
  }

  async close(): Promise<void> {
    this.#follower.close();
    await this.#endLog();
    rmSync(this.#folder, { recursive: true });
  }

  async #start(): Promise<Recovered> {
    const records: unknown[] = [];
    let first = 1;
    this.#log = await openEventLog({
      folder: ledgerPath,
      durability: this.#durability,
      segmentBytesMax: 700,
      retryMs: 1,
      files: this.#files,
      onRecord: (position, record) => {
        if (records.push(record) === 1) first = position;
      },
      onIncident: ({ kind }) => {
        if (kind === 'recovered') this.#healed();
      },
    });
    this.#copyToFiles();
    this.#openFollower();
    return { first, records };
  }

  /** Later writes of the log go to a disk that is no longer used. */
  async #endLog(): Promise<void> {
    await this.#log.close();
    await this.settle();
  }

  #openFollower(): void {
    this.#follower = new LedgerFollower(this.#dataFiles, () => {
      this.rebuilds++;
      rmSync(this.#savedFolder, { recursive: true, force: true });
    });
  }

  /** Copies the simulated disk to real files, with zeros after `bytesReadable` bytes of each file. */
  #copyToFiles(bytesReadable = Number.POSITIVE_INFINITY): void {
    const { disk } = this.#files;
    const names = disk.list(ledgerPath);
    for (const name of readdirSync(this.#ledgerFolder)) {
      if (!names.includes(name)) rmSync(join(this.#ledgerFolder, name));
    }
    for (const name of names) {
      const contents = Buffer.from(disk.contents(disk.fileAt(`${ledgerPath}/${name}`)));
      writeFileSync(join(this.#ledgerFolder, name), contents.fill(0, Math.min(bytesReadable, contents.length)));
    }
  }
}

/** Copies the store and its write-ahead log. */
function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of ['analytics.sqlite', 'analytics.sqlite-wal', 'analytics.sqlite-shm']) {
    rmSync(join(to, name), { force: true });
    if (!name.endsWith('-shm') && existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

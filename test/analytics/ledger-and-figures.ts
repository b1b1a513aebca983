import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { SimulatedDisk } from '../event-log/simulated-disk.ts';
import { SimulatedLogFiles } from '../event-log/simulated-log-files.ts';

const ledgerPath = '/ledger';

interface Recovered {
  readonly first: number;
  readonly records: readonly unknown[];
}

/**
 * A ledger on a simulated disk and the follower that makes figures of it, as one process holds them. The follower reads real
 * files, which are made to show what the disk shows, and keeps a real store.
 */
export class LedgerAndFigures {
  readonly #durability: 'fsync' | 'write';
  readonly #folder = mkdtempSync(join(tmpdir(), 'ledger-and-figures-'));
  readonly #analytics = dataFiles(this.#folder);
  readonly #ledgerFolder = this.#analytics.ledgerFolder;
  readonly #keptFolder = join(this.#folder, 'kept');
  #files = new SimulatedLogFiles(new SimulatedDisk());
  #log!: FileEventLog<LedgerRecord>;
  #follower!: LedgerFollower;
  #pending: Promise<void>[] = [];
  #healed: () => void = () => {};
  /** How often the figures had to be made again from the ledger's start. */
  rebuilds = 0;
  /** Segments of the ledger that were given up. */
  dropped = 0;

  private constructor(durability: 'fsync' | 'write') {
    this.#durability = durability;
  }

  static async open(durability: 'fsync' | 'write'): Promise<LedgerAndFigures> {
    const opened = new LedgerAndFigures(durability);
    mkdirSync(opened.#ledgerFolder);
    await opened.#start();
    return opened;
  }

  get files(): SimulatedLogFiles {
    return this.#files;
  }

  /** Records that somebody was told are durable. */
  get acknowledged(): number {
    return this.#log.durablePosition;
  }

  /** How many of them a power cut cannot take. */
  get powerSafe(): number {
    return this.#durability === 'fsync' ? this.#log.durablePosition : 0;
  }

  get folded(): number {
    return this.#follower.projectedPosition;
  }

  get follower(): LedgerFollower {
    return this.#follower;
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

  /** Until the log works and has stored all it took. */
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

  fold(upToPosition: number): void {
    this.#show();
    this.#follower.applyBatch(upToPosition);
  }

  /** Gives up what is of some age; all that was acknowledged must be folded. It may end before the ledger is touched. */
  async seal(age: RetentionRequest, drops: boolean): Promise<RetentionOutcome> {
    const outcome = this.#follower.applyRetention(age);
    if (!outcome.sealed || !drops) return outcome;
    // A sync of the folder may fail; what was removed then is the oldest all the same.
    this.dropped += await dropSegments(this.#files, ledgerPath, outcome.ledgerFrom).catch(() => 1);
    return outcome;
  }

  /** Removes some of the rows of what was given up. */
  prune(): void {
    if (this.#follower.hasRowsToPrune) this.#follower.pruneRows();
  }

  /** The follower dies in the middle of a batch that would have gone up to this position, and another takes over. */
  foldInterrupted(upToPosition: number, bytesReadable: number): void {
    this.#show(bytesReadable);
    try {
      this.#follower.applyBatch(upToPosition);
    } catch (error) {
      assert.ok(error instanceof LogDamagedError);
    }
    this.#follower.close();
    this.#show();
    this.#follow();
  }

  /** Keeps the store as it is now, for a power cut that will take what has been committed since. */
  keepStore(): void {
    copyStore(this.#folder, this.#keptFolder);
  }

  /** The store is gone, and derived again from what there is. */
  loseStore(): void {
    this.#follower.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(this.#analytics.analyticsStoreFile + suffix, { force: true });
    rmSync(this.#keptFolder, { recursive: true, force: true });
    this.#show();
    this.#follow();
  }

  /**
   * The process dies, with the power if there is a fate, and with what the store had not made durable if it is to go back
   * to what was kept. Returns the records recovered by the next process, and the position of the first of them.
   */
  async crash(fate: Fate | null, storeToo: boolean): Promise<Recovered> {
    const { disk } = this.#files;
    const left = fate === null ? disk.copy() : disk.afterPowerCut(fate);
    this.#follower.close();
    await this.#endLog();
    if (fate !== null && storeToo && existsSync(this.#keptFolder)) copyStore(this.#keptFolder, this.#folder);
    this.#files = new SimulatedLogFiles(left);
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
        if (kind === 'healed') this.#healed();
      },
    });
    this.#show();
    this.#follow();
    return { first, records };
  }

  /** What it still does is done to a disk that nobody will look at again. */
  async #endLog(): Promise<void> {
    await this.#log.close();
    await this.settle();
  }

  #follow(): void {
    this.#follower = new LedgerFollower(this.#analytics, () => {
      this.rebuilds++;
      rmSync(this.#keptFolder, { recursive: true, force: true });
    });
  }

  /** Has the real files show what is on the disk, each up to a number of its bytes and zeros behind them. */
  #show(bytesReadable = Number.POSITIVE_INFINITY): void {
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

/** The store and the log of its own that SQLite keeps beside it. */
function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of ['analytics.sqlite', 'analytics.sqlite-wal', 'analytics.sqlite-shm']) {
    rmSync(join(to, name), { force: true });
    if (!name.endsWith('-shm') && existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { deleteAnalyticsDatabase } from '../../src/analytics/analytics-database.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { CounterArchive } from '../../src/analytics/counter-archive.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** An analytics store and an archive in a temporary folder. Tests apply records without a ledger. */
export class ProjectedStore {
  readonly #folder = temporaryFolder();
  readonly file = join(this.#folder, 'analytics.sqlite');
  readonly archive = new CounterArchive(join(this.#folder, 'archive'));
  store = this.#open();
  #position = 0;

  /** Applies the records as one batch. */
  apply(...records: readonly unknown[]): void {
    this.applyIn(1, ...records);
  }

  /** Applies the records of a ledger segment as one batch. `segment` is the first position of the segment. */
  applyIn(segment: number, ...records: readonly unknown[]): void {
    this.store.applyBatch((batch) => {
      for (const record of records) batch.applyRecord(++this.#position, record, segment);
      return { position: this.#position, segment, offset: this.#position, crc: 0 };
    });
  }

  /** Closes and reopens the store, so that later queries use only the file. */
  reopen(): void {
    this.store.close();
    this.store = this.#open();
  }

  /** Deletes the store and creates a new one, which has only the archived counters. Later records follow the position `afterPosition`. */
  rebuild(afterPosition = this.#position): void {
    this.#position = afterPosition;
    this.store.close();
    deleteAnalyticsDatabase(this.file);
    this.store = this.#open();
  }

  close(): void {
    this.store.close();
    rmSync(this.#folder, { recursive: true });
  }

  #open(): AnalyticsStore {
    return new AnalyticsStore(this.file, this.archive);
  }
}

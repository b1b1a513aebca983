import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';

/** An analytics store in a folder of its own, into which records are folded as if a ledger held them. */
export class FoldedStore {
  readonly #folder = mkdtempSync(join(tmpdir(), 'folded-store-'));
  store = this.#open();
  #position = 0;

  /** In one batch. */
  fold(...records: readonly unknown[]): void {
    this.store.applyBatch((batch) => {
      for (const record of records) batch.apply(++this.#position, record, 1);
      return { position: this.#position, segment: 1, offset: this.#position, crc: 0 };
    });
  }

  /** Nothing of what was folded is remembered afterwards but by the file. */
  reopen(): void {
    this.store.close();
    this.store = this.#open();
  }

  close(): void {
    this.store.close();
    rmSync(this.#folder, { recursive: true });
  }

  #open(): AnalyticsStore {
    return new AnalyticsStore(join(this.#folder, 'analytics.sqlite'));
  }
}

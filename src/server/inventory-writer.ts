import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { TestClock } from '../domain/test-clock.ts';
import type { FileEventLog } from '../event-log/file-event-log.ts';
import {
  type AuditLogEnd,
  type DataInventory,
  type KeyFileNumbers,
  type LogEnd,
  writeDataInventoryInBackground,
} from '../files/data-inventory.ts';
import type { FileJournal } from '../journal/file-journal.ts';
import type { FolderEvidence } from './check-data-folder.ts';

interface InventoryWriterOptions {
  readonly dataDir: string;
  /** Evidence from the start of the service. */
  readonly evidence: FolderEvidence;
  readonly ledger: Pick<FileEventLog<never>, 'durablePosition' | 'lastAppendedPosition' | 'lastAppendedCrc'>;
  readonly journal: Pick<FileJournal, 'listLogs'>;
  /** Test clock of the data folder, or null. */
  readonly testClock: Pick<TestClock, 'advancedDays'> | null;
  /** Reads the numbers of the key file. Throws an SQLite error if the file cannot be read. */
  readonly readKeyNumbers: () => KeyFileNumbers;
  /** Returns the end of the audit log, or null if it is unknown. */
  readonly readAuditEnd: () => AuditLogEnd | null;
  /** Called for each failed write; the next write tries again. */
  readonly onError: (error: unknown) => void;
}

/**
 * Writes the inventory of the data folder: when the service starts, every minute if it has changed, when keys change, and when the service
 * stops. The inventory contains only durable data, so after a crash, the files contain at least as much as the inventory.
 */
export class InventoryWriter {
  readonly #options: InventoryWriterOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #written = '';
  #sealed: LogEnd;
  #requestWrite: () => void = () => {};

  constructor(options: InventoryWriterOptions) {
    this.#options = options;
    this.#sealed = options.evidence.archive.end;
    this.#running = this.#writePeriodically();
  }

  /** Sets the end of the archive, and writes the inventory soon if the archive has changed. */
  setArchiveEnd(end: LogEnd): void {
    if (end.position === this.#sealed.position && end.crc === this.#sealed.crc) return;
    this.#sealed = end;
    this.requestWrite();
  }

  /** Writes the inventory soon, because the key file or the test clock has changed. */
  requestWrite(): void {
    this.#requestWrite();
  }

  /** Stops the periodic writes and writes the inventory. Call this method after the logs were closed. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#requestWrite();
    await this.#running;
    await this.#write();
  }

  async #writePeriodically(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const requested = new Promise<void>((resolve) => {
        this.#requestWrite = resolve;
      });
      await this.#write();
      const timer = new AbortController();
      const interval = pause(bounds.inventoryWriteIntervalMs, null, { signal: timer.signal }).catch(() => {});
      await Promise.race([requested, interval]);
      timer.abort();
    }
  }

  async #write(): Promise<void> {
    const { dataDir, onError } = this.#options;
    try {
      const inventory = this.#createInventory();
      const text = JSON.stringify(inventory);
      if (text === this.#written) return;
      await writeDataInventoryInBackground(dataDir, inventory);
      this.#written = text;
    } catch (error) {
      onError(error);
    }
  }

  #createInventory(): DataInventory {
    const { evidence, ledger, journal, readKeyNumbers, readAuditEnd, testClock } = this.#options;
    const audit = readAuditEnd() ?? evidence.inventory.audit;
    const { durablePosition, lastAppendedPosition, lastAppendedCrc } = ledger;
    const { acceptedStart } = evidence.inventory.ledger ?? {};
    return {
      ledger: {
        position: durablePosition,
        crc: durablePosition === lastAppendedPosition ? lastAppendedCrc : null,
        ...(acceptedStart !== undefined && { acceptedStart }),
      },
      ...(this.#sealed.position > 0 && { sealed: this.#sealed }),
      journal: journal.listLogs(),
      keys: readKeyNumbers(),
      ...(audit !== undefined && { audit }),
      hasUnitKey: true,
      ...(testClock !== null && { testClock: { advancedDays: testClock.advancedDays } }),
    };
  }
}

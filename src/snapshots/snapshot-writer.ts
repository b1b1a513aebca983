import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import { PeriodicTask } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import type { CapturedPiece } from '../domain/snapshot-part.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import { createFolderDurably, writeFileDurablyInBackground } from '../files/durable-files.ts';
import { encodeSnapshotContent, type PieceFile, type PlacedPart, snapshotContentPath } from './snapshot-files.ts';

interface SnapshotWriterOptions {
  /** Folder of the content file. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Parts in the order in which they are captured. */
  readonly parts: readonly PlacedPart[];
  readonly ledger: {
    readonly durableCursor: LogCursor;
    readonly lastAppendedPosition: number;
    readonly lastAppendedCrc: number;
    readonly healthy: boolean;
  };
  /** Called for each failed snapshot; the next one tries again. */
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
}

/**
 * Writes the state of the service to files, periodically and when the service stops, so that a start reads only the later records of the
 * logs (docs/contributing/decisions/snapshots.md). The state is captured in small pieces while the service runs.
 *
 * A snapshot is valid once its content file is written: after all its files are synced, and all records that it contains are durable. Until
 * then, the previous snapshot is valid, and its files remain.
 */
export class SnapshotWriter {
  readonly #options: SnapshotWriterOptions;
  readonly #periodicWrite: PeriodicTask;
  #saving: Promise<void> | null = null;
  /** Files of the last snapshot, by part and id of their piece. */
  #files = new Map<string, PieceFile>();
  /** Paths of the files of a snapshot that is not valid yet. */
  readonly #unlistedFiles = new Set<string>();
  #written = '';

  constructor(options: SnapshotWriterOptions) {
    this.#options = options;
    for (const folder of this.#folders) createFolderDurably(folder);
    const { intervalMs = bounds.snapshotIntervalMs } = options;
    this.#periodicWrite = new PeriodicTask(intervalMs, () => this.save());
  }

  get #folders(): Set<string> {
    const { folder, parts } = this.#options;
    return new Set([folder, ...parts.map((each) => each.folder)]);
  }

  /** Stops the periodic snapshots and writes the last one. Call this method after the logs were closed. Never rejects. */
  async close(): Promise<void> {
    const saving = this.#saving;
    const closed = this.#periodicWrite.close();
    await saving;
    await closed;
  }

  /** Writes a snapshot, or waits for the one that is being written. Never rejects. */
  save(): Promise<void> {
    this.#saving ??= this.#write()
      // A snapshot that fails on a full disk must not leave files, because the logs need the space.
      .finally(() => this.#deleteUnlistedFiles())
      .catch(this.#options.onError)
      .finally(() => {
        this.#saving = null;
      });
    return this.#saving;
  }

  async #write(): Promise<void> {
    const { folder, parts, ledger, clock } = this.#options;
    const start = ledger.durableCursor;
    // The state contains the changes of durable records in the turn after they became durable.
    await nextTurn();
    const files = new Map<string, PieceFile>();
    for (const placed of parts) {
      for (const piece of placed.part.capture(ledger, clock.wallMs())) {
        const key = `${placed.part.name} ${piece.id}`;
        files.set(key, this.#files.get(key) ?? (await this.#writePiece(placed, piece)));
        await this.#pause();
      }
    }
    const end = { position: ledger.lastAppendedPosition, crc: ledger.lastAppendedCrc };
    if (!(await this.#waitUntilDurable(end.position))) return;
    const text = encodeSnapshotContent({ span: { start, end }, pieces: [...files.values()] });
    if (text === this.#written) return;
    for (const each of this.#folders) await syncFolder(each);
    this.#unlistedFiles.clear();
    await writeFileDurablyInBackground(snapshotContentPath(folder), text);
    this.#written = text;
    this.#files = files;
    await this.#deleteOtherFiles();
  }

  /** Writes a piece to a new file. Syncs the file often, so that a sync of the ledger at the same time does not take long. */
  async #writePiece({ part, folder }: PlacedPart, { id, chunks }: CapturedPiece): Promise<PieceFile> {
    const file = `${part.name}.${id}.${randomBytes(4).toString('hex')}`;
    const path = join(folder, file);
    this.#unlistedFiles.add(path);
    const handle = await open(path, 'wx', 0o600);
    try {
      const written = await this.#writeChunks(handle, chunks());
      return { part: part.name, id, file, ...written };
    } finally {
      await handle.close();
    }
  }

  async #writeChunks(handle: FileHandle, chunks: Iterable<Uint8Array>): Promise<Pick<PieceFile, 'bytes' | 'crc32'>> {
    const written = { bytes: 0, crc32: 0 };
    let unsyncedBytes = 0;
    for (const chunk of chunks) {
      written.crc32 = crc32(chunk, written.crc32);
      written.bytes += chunk.byteLength;
      unsyncedBytes += chunk.byteLength;
      await handle.writeFile(chunk);
      if (unsyncedBytes >= bounds.snapshotSyncBytes) {
        await handle.datasync();
        unsyncedBytes = 0;
      }
      if (chunk.byteLength >= bounds.snapshotPauseBytesMin) await this.#pause();
    }
    await handle.sync();
    return written;
  }

  /** Lets requests run between two slices of the work. A stopping service has no requests. */
  async #pause(): Promise<void> {
    if (!this.#periodicWrite.isClosing) await pause(bounds.snapshotPauseMs);
  }

  async #waitUntilDurable(position: number): Promise<boolean> {
    const { ledger } = this.#options;
    while (ledger.durableCursor.position < position) {
      if (!ledger.healthy || this.#periodicWrite.isClosing) return false;
      await pause(bounds.logLingerMs);
    }
    return true;
  }

  async #deleteUnlistedFiles(): Promise<void> {
    for (const path of this.#unlistedFiles) await rm(path, { force: true });
    this.#unlistedFiles.clear();
  }

  /** Deletes the files of earlier snapshots, and of one that ended with the process. */
  async #deleteOtherFiles(): Promise<void> {
    const { parts } = this.#options;
    const kept = new Set([...this.#files.values()].map(({ file }) => file));
    const prefixes = parts.map(({ part }) => `${part.name}.`);
    for (const folder of this.#folders) {
      for (const name of await readdir(folder)) {
        const isPiece = prefixes.some((prefix) => name.startsWith(prefix));
        if (isPiece && !kept.has(name)) await rm(join(folder, name), { force: true });
      }
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

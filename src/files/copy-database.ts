import { closeSync, fstatSync, fsyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { tryLink } from './durable-files.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

interface CopyProgress {
  readonly onBytesRead?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Copies a large SQLite file in WAL mode to the new file `target`, durably, also while another process writes to it. The copy contains all
 * transactions that were committed before the call. Returns null, or the reason why SQLite cannot read the file at present; there is then no
 * copy. Throws system errors.
 *
 * `base` is an earlier copy, which may be missing. With a base, `target` becomes a hard link to it, and `target-wal` contains the pages that
 * are different, as SQLite's write-ahead log. SQLite reads the two files as one. If more than a quarter of the pages are different, or `base`
 * cannot be linked, the whole file is copied. A file that has several links itself is not copied, because a checkpoint would change the other
 * copies.
 */
export async function copyDatabase(
  file: string,
  target: string,
  { base, ...progress }: CopyProgress & { readonly base?: string | undefined } = {},
): Promise<string | null> {
  if (statSync(file).nlink > 1) return 'it shares a file with another backup until a start uses it';
  let source: FrozenDatabase | null;
  try {
    source = await freezeDatabase(file);
  } catch (error) {
    if (error instanceof Database.SqliteError) return error.message;
    throw error;
  }
  if (source === null) return 'other processes use the file without a pause';
  try {
    const isCopied = base !== undefined && (await copyChangedPages(source, base, target, progress));
    if (!isCopied) await copyAllPages(source, target, progress);
    return null;
  } finally {
    source.close();
  }
}

/**
 * SQLite file during a read transaction that started when the write-ahead log was empty. Until the transaction ends, SQLite writes all
 * changes to the write-ahead log, and does not change the file itself.
 */
interface FrozenDatabase {
  readonly descriptor: number;
  readonly pageBytes: number;
  readonly pages: number;
  close(): void;
}

/** Returns null if the write-ahead log is never empty, because other processes write to the file without a pause. */
async function freezeDatabase(file: string): Promise<FrozenDatabase | null> {
  for (let attempt = 0; attempt < bounds.databaseFreezeAttemptsMax; attempt++) {
    const frozen = tryFreezeDatabase(file);
    if (frozen !== null) return frozen;
    await pause(bounds.databaseFreezeRetryDelayMs);
  }
  return null;
}

function tryFreezeDatabase(file: string): FrozenDatabase | null {
  // Closing a descriptor of the file releases the locks of SQLite in this process, so the descriptor is closed after the database.
  const descriptor = openSync(file, 'r');
  let database: Database.Database | undefined;
  const close = (): void => {
    database?.close();
    closeSync(descriptor);
  };
  try {
    // The second checkpoint blocks writers while it waits for a lock, so the timeout is short. The first one does most of the work.
    database = new Database(file, { fileMustExist: true, timeout: bounds.databaseFreezeLockTimeoutMs });
    database.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(TRUNCATE); BEGIN');
    const pages = database.pragma('page_count', { simple: true }) as number;
    const pageBytes = database.pragma('page_size', { simple: true }) as number;
    // A rebuild may have replaced the file after the descriptor was opened.
    const isSameFile = statSync(file).ino === fstatSync(descriptor).ino;
    if (isSameFile && fileSize(`${file}-wal`) === 0) return { descriptor, pageBytes, pages, close };
  } catch (error) {
    close();
    throw error;
  }
  close();
  return null;
}

async function copyAllPages(source: FrozenDatabase, target: string, progress: CopyProgress): Promise<void> {
  const copy = openSync(target, 'wx', 0o600);
  try {
    for await (const { offset, bytes } of readChunks(source, progress)) writeSync(copy, bytes, 0, bytes.length, offset);
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}

/** Returns false, and creates no file, if too many pages are different, or if the base cannot be linked. */
async function copyChangedPages(
  source: FrozenDatabase,
  base: string,
  target: string,
  progress: CopyProgress,
): Promise<boolean> {
  const { pageBytes, pages } = source;
  if (fileSize(base) === 0) return false;
  const baseFile = openSync(base, 'r');
  const log = new WriteAheadLog(`${target}-wal`, pageBytes);
  let isCopied = false;
  try {
    const baseBuffer = Buffer.allocUnsafeSlow(bounds.databaseCopyChunkBytes);
    for await (const { offset, bytes } of readChunks(source, progress)) {
      const baseBytes = baseBuffer.subarray(0, readSync(baseFile, baseBuffer, 0, bytes.length, offset));
      if (bytes.equals(baseBytes)) continue;
      for (let at = 0; at < bytes.length; at += pageBytes) {
        const page = bytes.subarray(at, at + pageBytes);
        if (!page.equals(baseBytes.subarray(at, at + pageBytes))) log.addPage((offset + at) / pageBytes + 1, page);
      }
      if (log.pages > pages * bounds.databaseChangedPagesShareMax) return false;
    }
    log.commit(pages);
    isCopied = tryLink(base, target);
    return isCopied;
  } finally {
    closeSync(baseFile);
    log.close();
    if (!isCopied || log.pages === 0) rmSync(`${target}-wal`);
  }
}

/** Reads all pages in chunks. A chunk is valid only until the next chunk is read. Yields to the event loop after each chunk. */
async function* readChunks({ descriptor, pageBytes, pages }: FrozenDatabase, { onBytesRead, signal }: CopyProgress) {
  const buffer = Buffer.allocUnsafeSlow(bounds.databaseCopyChunkBytes);
  const end = pages * pageBytes;
  for (let offset = 0; offset < end; offset += buffer.length) {
    const bytes = buffer.subarray(0, Math.min(buffer.length, end - offset));
    if (readSync(descriptor, bytes, 0, bytes.length, offset) < bytes.length)
      throw new Error('file is shorter than its pages');
    yield { offset, bytes };
    onBytesRead?.(bytes.length);
    await nextTurn();
    signal?.throwIfAborted();
  }
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

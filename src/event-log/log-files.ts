import * as fs from 'node:fs';
import process from 'node:process';
import { createFolderDurably } from '../files/durable-files.ts';

/**
 * File system operations of the log. Tests replace these file operations to simulate failures. Reads are synchronous, because recovery and
 * the aggregator thread do nothing else while they read. Every file operation may throw or reject with a system error.
 */
export interface LogFiles {
  /** Creates a folder and its parents durably (see `createFolderDurably`). */
  createFolder(folder: string): void;
  /** Lists the names of the files in a folder, in no particular order. */
  listFiles(folder: string): string[];
  openForReading(path: string): ReadableLogFile;
  /** Creates a file for writing, or empties an existing file. */
  createFile(path: string): Promise<WritableLogFile>;
  /** Opens an existing file for writing without changing its content. */
  openForWriting(path: string): Promise<WritableLogFile>;
  /** Renames a file and replaces an existing file `to`. The new name of the file is durable only after `syncFolder`. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes the file names in a folder durable. */
  syncFolder(folder: string): Promise<void>;
}

export interface ReadableLogFile {
  size(): number;
  /**
   * Reads bytes from offset `position` into `target`. Returns the number of bytes read, which is less than the length of `target` only at
   * the end of the file.
   */
  read(target: Uint8Array, position: number): number;
  close(): void;
}

export interface WritableLogFile {
  /** Writes the first `length` bytes of `source` at offset `position` of the file. */
  write(source: Uint8Array, length: number, position: number): Promise<void>;
  /** Makes the written bytes and the file size durable. */
  datasync(): Promise<void>;
  /** Writes bytes and makes these bytes durable. The bytes of earlier `write` calls may remain unsynced. */
  writeAndSync(source: Uint8Array, length: number, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the operations on the real file system. If `syncsWrites` is true, `writeAndSync` uses a second file descriptor, opened with
 * `O_DSYNC`. With `O_DSYNC`, one system call writes and syncs the bytes (docs/contributing/decisions/durable-log.md).
 */
export const createNodeFileSystem = (syncsWrites: boolean): LogFiles => ({
  createFolder: createFolderDurably,
  listFiles: (folder) => fs.readdirSync(folder),
  openForReading,
  createFile: (path) => createFile(path, syncsWrites),
  openForWriting: async (path) => createWritableFile(await openFile(path, 'r+'), null),
  rename: (from, to) => fs.promises.rename(from, to),
  remove: (path) => fs.promises.unlink(path),
  async syncFolder(folder) {
    const handle = await fs.promises.open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
});

/** File operations for this platform. Linux can replace a write followed by `fdatasync` with one synchronized write. */
export const nodeFileSystem = createNodeFileSystem(process.platform === 'linux');

function openForReading(path: string): ReadableLogFile {
  const descriptor = fs.openSync(path, 'r');
  return {
    size: () => fs.fstatSync(descriptor).size,
    read(target, position) {
      let got = 0;
      while (got < target.length) {
        const read = fs.readSync(descriptor, target, got, target.length - got, position + got);
        if (read === 0) break;
        got += read;
      }
      return got;
    },
    close: () => fs.closeSync(descriptor),
  };
}

async function createFile(path: string, syncsWrites: boolean): Promise<WritableLogFile> {
  const descriptor = await openFile(path, 'w');
  if (!syncsWrites) return createWritableFile(descriptor, null);
  try {
    const { O_WRONLY, O_DSYNC } = fs.constants;
    return createWritableFile(descriptor, await openFile(path, O_WRONLY | O_DSYNC));
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
}

/**
 * Creates the operations on an open file. Uses the callback functions of node:fs, because the promise functions need twice as much time on
 * the event loop.
 *
 * @param syncedDescriptor descriptor of the same file for synchronized writes; null if a separate sync is necessary
 */
function createWritableFile(descriptor: number, syncedDescriptor: number | null): WritableLogFile {
  const write: WritableLogFile['write'] = (source, length, position) =>
    writeFully(descriptor, source, length, position);
  const datasync = () => callbackToPromise((done) => fs.fdatasync(descriptor, done));
  return {
    write,
    datasync,
    async writeAndSync(source, length, position) {
      if (syncedDescriptor !== null) return writeFully(syncedDescriptor, source, length, position);
      await write(source, length, position);
      await datasync();
    },
    truncate: (length) => callbackToPromise((done) => fs.ftruncate(descriptor, length, done)),
    async close() {
      const descriptors = syncedDescriptor === null ? [descriptor] : [descriptor, syncedDescriptor];
      // If closing one descriptor fails, the other descriptor is still closed, so that it does not leak.
      const results = await Promise.allSettled(
        descriptors.map((each) => callbackToPromise((done) => fs.close(each, done))),
      );
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
}

/** Writes all bytes. Repeats the system call if the call writes only a part of the bytes. */
function writeFully(descriptor: number, source: Uint8Array, length: number, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writeFrom = (from: number) => {
      fs.write(descriptor, source, from, length - from, position + from, (error, count) => {
        if (error !== null) reject(error);
        else if (from + count === length) resolve();
        else writeFrom(from + count);
      });
    };
    writeFrom(0);
  });
}

function openFile(path: string, flags: string | number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, descriptor) => (error === null ? resolve(descriptor) : reject(error)));
  });
}

function callbackToPromise(start: (done: (error: Error | null | undefined) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

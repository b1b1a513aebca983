import * as fs from 'node:fs';
import process from 'node:process';
import { createFolderDurably } from '../files/durable-files.ts';

/**
 * All the log asks of a file system, and nothing more: what a faulty one must imitate to show that no acknowledged record
 * is lost. Reading is synchronous, since recovery and the aggregator have nothing else to do meanwhile; writing is not.
 * Every call may throw, or reject with, the error of the system.
 */
export interface LogFiles {
  /**
   * Creates the folder and what leads to it, and makes their names durable. Also those of folders that exist: whoever made
   * them may have crashed before its sync.
   */
  createFolder(folder: string): void;
  /** Names in a folder, in no order. */
  listNames(folder: string): string[];
  /** Opens an existing file for reading. */
  openForReading(path: string): ReadableLogFile;
  /** Creates the file, or empties it, for writing. */
  create(path: string): Promise<WritableLogFile>;
  /** Opens an existing file for writing, leaving its bytes. */
  openForWriting(path: string): Promise<WritableLogFile>;
  /** Replaces `to` if it exists. Not durable before `syncFolder`. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(folder: string): Promise<void>;
}

export interface ReadableLogFile {
  size(): number;
  /** Reads into the whole of `target` from byte `position` on; returns how many bytes there were. */
  read(target: Uint8Array, position: number): number;
  close(): void;
}

export interface WritableLogFile {
  /** Writes `length` bytes of `source` from its byte 0, all of them, at byte `position` of the file. */
  write(source: Uint8Array, length: number, position: number): Promise<void>;
  /** Makes the bytes written durable, with what is needed to find them again. */
  datasync(): Promise<void>;
  /** As `write`, and these bytes are as durable as `datasync` makes them; of others nothing is said. */
  writeAndSync(source: Uint8Array, length: number, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * The file system of the machine. With `syncsWrites` a file it creates has a second descriptor that writes and syncs in one call: that
 * leaves the event loop once and comes back to it once, where a write and a sync after it do so twice (docs/contributing/decisions/durable-log.md).
 */
export const createNodeLogFiles = (syncsWrites: boolean): LogFiles => ({
  createFolder: createFolderDurably,
  listNames: (folder) => fs.readdirSync(folder),
  openForReading: (path) => new NodeReadableLogFile(fs.openSync(path, 'r')),
  create: (path) => createFile(path, syncsWrites),
  openForWriting: async (path) => new NodeWritableLogFile(await openFile(path, 'r+'), null),
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

/** Linux alone promises of a synchronized write what it does of `fdatasync`; macOS stops at the disk's own cache. */
export const nodeLogFiles = createNodeLogFiles(process.platform === 'linux');

class NodeReadableLogFile implements ReadableLogFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  size(): number {
    return fs.fstatSync(this.#descriptor).size;
  }

  read(target: Uint8Array, position: number): number {
    let got = 0;
    while (got < target.length) {
      const read = fs.readSync(this.#descriptor, target, got, target.length - got, position + got);
      if (read === 0) break;
      got += read;
    }
    return got;
  }

  close(): void {
    fs.closeSync(this.#descriptor);
  }
}

async function createFile(path: string, syncsWrites: boolean): Promise<WritableLogFile> {
  const descriptor = await openFile(path, 'w');
  if (!syncsWrites) return new NodeWritableLogFile(descriptor, null);
  try {
    const { O_WRONLY, O_DSYNC } = fs.constants;
    return new NodeWritableLogFile(descriptor, await openFile(path, O_WRONLY | O_DSYNC));
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
}

/** Callbacks on a descriptor cost the event loop about half of what a FileHandle's promises do. */
class NodeWritableLogFile implements WritableLogFile {
  readonly #descriptor: number;
  /** Of the same file, open for synchronized writes; null where a sync must follow them. */
  readonly #syncedDescriptor: number | null;

  constructor(descriptor: number, syncedDescriptor: number | null) {
    this.#descriptor = descriptor;
    this.#syncedDescriptor = syncedDescriptor;
  }

  write(source: Uint8Array, length: number, position: number): Promise<void> {
    return writeFully(this.#descriptor, source, length, position);
  }

  datasync(): Promise<void> {
    return callbackToPromise((done) => fs.fdatasync(this.#descriptor, done));
  }

  async writeAndSync(source: Uint8Array, length: number, position: number): Promise<void> {
    if (this.#syncedDescriptor !== null) return writeFully(this.#syncedDescriptor, source, length, position);
    await this.write(source, length, position);
    await this.datasync();
  }

  truncate(length: number): Promise<void> {
    return callbackToPromise((done) => fs.ftruncate(this.#descriptor, length, done));
  }

  async close(): Promise<void> {
    const descriptors =
      this.#syncedDescriptor === null ? [this.#descriptor] : [this.#descriptor, this.#syncedDescriptor];
    // Each is closed whatever becomes of the other, or a disk in trouble would cost a descriptor at every attempt.
    const ends = await Promise.allSettled(descriptors.map((each) => callbackToPromise((done) => fs.close(each, done))));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/** Writes all of it, in more than one call where the system takes less. */
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

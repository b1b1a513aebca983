import * as fs from 'node:fs';
import process from 'node:process';
import { makeFolderDurably } from '../files/make-folder-durably.ts';
import type { LogFiles, ReadableLogFile, WritableLogFile } from './log-files.ts';

/**
 * The file system of the machine. With `syncsWrites` a file it creates has a second descriptor that writes and syncs in one call: that
 * leaves the event loop once and comes back to it once, where a write and a sync after it do so twice (docs/contributing/decisions/durable-log.md).
 */
export const logFilesOf = (syncsWrites: boolean): LogFiles => ({
  makeFolder: makeFolderDurably,
  list: (folder) => fs.readdirSync(folder),
  openForReading: (path) => new NodeReadableLogFile(fs.openSync(path, 'r')),
  create: (path) => created(path, syncsWrites),
  openForWriting: async (path) => new NodeWritableLogFile(await opened(path, 'r+'), null),
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
export const nodeLogFiles = logFilesOf(process.platform === 'linux');

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

async function created(path: string, syncsWrites: boolean): Promise<WritableLogFile> {
  const descriptor = await opened(path, 'w');
  if (!syncsWrites) return new NodeWritableLogFile(descriptor, null);
  try {
    const { O_WRONLY, O_DSYNC } = fs.constants;
    return new NodeWritableLogFile(descriptor, await opened(path, O_WRONLY | O_DSYNC));
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
}

/** Callbacks on a descriptor cost the event loop about half of what a FileHandle's promises do. */
class NodeWritableLogFile implements WritableLogFile {
  readonly #descriptor: number;
  /** Of the same file, open for synchronized writes; null where a sync must follow them. */
  readonly #synced: number | null;

  constructor(descriptor: number, synced: number | null) {
    this.#descriptor = descriptor;
    this.#synced = synced;
  }

  write(source: Uint8Array, length: number, position: number): Promise<void> {
    return written(this.#descriptor, source, length, position);
  }

  datasync(): Promise<void> {
    return settled((done) => fs.fdatasync(this.#descriptor, done));
  }

  async store(source: Uint8Array, length: number, position: number): Promise<void> {
    if (this.#synced !== null) return written(this.#synced, source, length, position);
    await this.write(source, length, position);
    await this.datasync();
  }

  truncate(length: number): Promise<void> {
    return settled((done) => fs.ftruncate(this.#descriptor, length, done));
  }

  async close(): Promise<void> {
    const descriptors = this.#synced === null ? [this.#descriptor] : [this.#descriptor, this.#synced];
    // Each is closed whatever becomes of the other, or a disk in trouble would cost a descriptor at every attempt.
    const ends = await Promise.allSettled(descriptors.map((each) => settled((done) => fs.close(each, done))));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/** Writes all of it, in more than one call where the system takes less. */
function written(descriptor: number, source: Uint8Array, length: number, position: number): Promise<void> {
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

function opened(path: string, flags: string | number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, descriptor) => (error === null ? resolve(descriptor) : reject(error)));
  });
}

function settled(start: (done: (error: Error | null | undefined) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

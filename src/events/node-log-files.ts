import * as fs from 'node:fs';
import { makeFolderDurably } from '../files/make-folder-durably.ts';
import type { LogFiles, ReadableLogFile, WritableLogFile } from './log-files.ts';

/** The file system of the machine. */
export const nodeLogFiles: LogFiles = {
  makeFolder: makeFolderDurably,
  list: (folder) => fs.readdirSync(folder),
  openForReading: (path) => new NodeReadableLogFile(fs.openSync(path, 'r')),
  create: async (path) => new NodeWritableLogFile(await opened(path, 'w')),
  openForWriting: async (path) => new NodeWritableLogFile(await opened(path, 'r+')),
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
};

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

/** Callbacks on a descriptor cost the event loop about half of what a FileHandle's promises do. */
class NodeWritableLogFile implements WritableLogFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(source: Uint8Array, length: number, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const writeFrom = (from: number) => {
        fs.write(this.#descriptor, source, from, length - from, position + from, (error, written) => {
          if (error !== null) reject(error);
          else if (from + written === length) resolve();
          else writeFrom(from + written);
        });
      };
      writeFrom(0);
    });
  }

  datasync(): Promise<void> {
    return settled((done) => fs.fdatasync(this.#descriptor, done));
  }

  truncate(length: number): Promise<void> {
    return settled((done) => fs.ftruncate(this.#descriptor, length, done));
  }

  close(): Promise<void> {
    return settled((done) => fs.close(this.#descriptor, done));
  }
}

function opened(path: string, flags: string): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, (error, descriptor) => (error === null ? resolve(descriptor) : reject(error)));
  });
}

function settled(start: (done: (error: Error | null | undefined) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

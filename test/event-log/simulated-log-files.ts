import { basename, dirname } from 'node:path';
import type { LogFiles, ReadableLogFile, WritableLogFile } from '../../src/event-log/log-files.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { FailurePlan } from './troubled-log-files.ts';

/**
 * File operations on a simulated disk. They take turns of the event loop, so that records are appended during a write. They fail on request
 * in the worst way: a failing write writes half of its bytes, and after a failed sync no later sync writes the same data.
 */
export class SimulatedLogFiles extends FailurePlan implements LogFiles {
  readonly disk: SimulatedDisk;
  readonly #onStep: (step: string) => void;

  /** @param onStep called before each change and sync, and in the middle of each write */
  constructor(disk: SimulatedDisk, onStep: (step: string) => void = () => {}) {
    super();
    this.disk = disk;
    this.#onStep = onStep;
  }

  createFolder(folder: string): void {
    const parent = dirname(folder);
    if (parent !== '/') this.createFolder(parent);
    if (!this.disk.exists(folder)) {
      this.#onStep(`make ${basename(folder)}`);
      this.disk.makeFolder(folder);
    }
    this.#onStep(`sync the folder of ${basename(folder)}`);
    this.disk.syncFolder(parent, 'done');
  }

  listNames(folder: string): string[] {
    return this.disk.list(folder);
  }

  openForReading(path: string): ReadableLogFile {
    const id = this.disk.fileAt(path);
    return {
      size: () => this.disk.contents(id).length,
      read: (target, position) => this.disk.contents(id).copy(target, 0, position),
      close: () => {},
    };
  }

  async create(path: string): Promise<WritableLogFile> {
    this.#onStep(`create ${basename(path)}`);
    this.check('create');
    return this.#writable(path, this.disk.create(path));
  }

  async openForWriting(path: string): Promise<WritableLogFile> {
    return this.#writable(path, this.disk.fileAt(path));
  }

  async rename(from: string, to: string): Promise<void> {
    this.#onStep(`rename ${basename(from)}`);
    this.check('rename');
    this.disk.rename(from, to);
    await nextTurn();
  }

  async remove(path: string): Promise<void> {
    this.#onStep(`remove ${basename(path)}`);
    this.disk.remove(path);
    await nextTurn();
  }

  async syncFolder(folder: string): Promise<void> {
    this.#onStep('sync the folder');
    await nextTurn();
    const failure = this.nextFailure('syncFolder');
    this.disk.syncFolder(folder, failure === null ? 'done' : 'failed');
    if (failure !== null) throw failure;
  }

  #writable(path: string, id: number): WritableLogFile {
    const name = basename(path);
    const write: WritableLogFile['write'] = async (source, length, position) => {
      const half = Math.floor(length / 2);
      this.#onStep(`write ${length} bytes at ${position} of ${name}`);
      this.disk.write(id, position, source.subarray(0, half));
      await nextTurn();
      this.#onStep(`write the rest of ${length} bytes at ${position} of ${name}`);
      this.check('write');
      this.disk.write(id, position + half, source.subarray(half, length));
    };
    return {
      write,
      writeAndSync: async (source, length, position) => {
        await write(source, length, position);
        this.#onStep(`sync ${length} bytes at ${position} of ${name}`);
        const failure = this.nextFailure('datasync');
        this.disk.syncRange(id, position, position + length, failure === null ? 'done' : 'failed');
        if (failure !== null) throw failure;
      },
      datasync: async () => {
        this.#onStep(`sync ${name}`);
        await nextTurn();
        const failure = this.nextFailure('datasync');
        this.disk.datasync(id, failure === null ? 'done' : 'failed');
        if (failure !== null) throw failure;
      },
      truncate: async (size) => {
        this.#onStep(`truncate ${name} to ${size}`);
        this.check('truncate');
        this.disk.truncate(id, size);
      },
      close: async () => {},
    };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

import { basename, dirname } from 'node:path';
import type { LogFiles, ReadableLogFile, WritableLogFile } from '../../src/event-log/log-files.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import type { WritingStep } from './troubled-log-files.ts';

/**
 * A simulated disk as the log sees it. Calls take turns of the event loop, as real ones do, so that records are appended
 * while others are stored; and they fail on command, each in the worst way it can: a write has written half of its bytes,
 * a sync will never write what it did not.
 */
export class SimulatedLogFiles implements LogFiles {
  readonly disk: SimulatedDisk;
  readonly #onStep: (step: string) => void;
  readonly #failing = new Map<WritingStep, number>();

  /** `onStep` is told of every change and sync right before it happens, and of every write once more in its middle. */
  constructor(disk: SimulatedDisk, onStep: (step: string) => void = () => {}) {
    this.disk = disk;
    this.#onStep = onStep;
  }

  /** The next calls of a step will fail, this many of them. */
  fail(step: WritingStep, times: number): void {
    this.#failing.set(step, times);
  }

  /** How many calls of a step are yet to fail. */
  failuresLeft(step: WritingStep): number {
    return this.#failing.get(step) ?? 0;
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
    this.#check('create');
    return this.#writable(path, this.disk.create(path));
  }

  async openForWriting(path: string): Promise<WritableLogFile> {
    return this.#writable(path, this.disk.fileAt(path));
  }

  async rename(from: string, to: string): Promise<void> {
    this.#onStep(`rename ${basename(from)}`);
    this.#check('rename');
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
    const failure = this.#failure('syncFolder');
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
      this.#check('write');
      this.disk.write(id, position + half, source.subarray(half, length));
    };
    return {
      write,
      writeAndSync: async (source, length, position) => {
        await write(source, length, position);
        this.#onStep(`sync ${length} bytes at ${position} of ${name}`);
        const failure = this.#failure('datasync');
        this.disk.syncRange(id, position, position + length, failure === null ? 'done' : 'failed');
        if (failure !== null) throw failure;
      },
      datasync: async () => {
        this.#onStep(`sync ${name}`);
        await nextTurn();
        const failure = this.#failure('datasync');
        this.disk.datasync(id, failure === null ? 'done' : 'failed');
        if (failure !== null) throw failure;
      },
      truncate: async (size) => {
        this.#onStep(`truncate ${name} to ${size}`);
        this.#check('truncate');
        this.disk.truncate(id, size);
      },
      close: async () => {},
    };
  }

  #check(step: WritingStep): void {
    const failure = this.#failure(step);
    if (failure !== null) throw failure;
  }

  #failure(step: WritingStep): Error | null {
    const left = this.#failing.get(step) ?? 0;
    if (left === 0) return null;
    this.#failing.set(step, left - 1);
    return Object.assign(new Error(`EIO: i/o error, ${step}`), { code: 'EIO' });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

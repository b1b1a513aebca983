import type { LogFiles, WritableLogFile } from '../../src/event-log/log-files.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';

export type WritingStep = 'create' | 'write' | 'datasync' | 'rename' | 'syncFolder' | 'truncate';

/**
 * The real file system, failing on command and telling what was asked of it. A write that fails has written half of its
 * bytes, as on a disk that fills up.
 */
export class TroubledLogFiles implements LogFiles {
  /** How many calls of a step are yet to fail. */
  readonly failing = new Map<WritingStep, number>();
  /** Steps completed, in order. */
  readonly steps: (WritingStep | 'store')[] = [];
  openFiles = 0;

  createFolder = nodeLogFiles.createFolder;
  listNames = nodeLogFiles.listNames;
  openForReading = nodeLogFiles.openForReading;
  remove = nodeLogFiles.remove;

  async create(path: string): Promise<WritableLogFile> {
    this.check('create');
    return this.#watched(await nodeLogFiles.create(path));
  }

  async openForWriting(path: string): Promise<WritableLogFile> {
    return this.#watched(await nodeLogFiles.openForWriting(path));
  }

  async rename(from: string, to: string): Promise<void> {
    this.check('rename');
    await nodeLogFiles.rename(from, to);
    this.steps.push('rename');
  }

  async syncFolder(folder: string): Promise<void> {
    this.check('syncFolder');
    await nodeLogFiles.syncFolder(folder);
    this.steps.push('syncFolder');
  }

  fail(step: WritingStep, times: number): void {
    this.failing.set(step, times);
  }

  failuresLeft(step: WritingStep): number {
    return this.failing.get(step) ?? 0;
  }

  check(step: WritingStep): void {
    const left = this.failuresLeft(step);
    if (left === 0) return;
    this.failing.set(step, left - 1);
    throw Object.assign(new Error(`ENOSPC: no space left on device, ${step}`), { code: 'ENOSPC' });
  }

  #watched(file: WritableLogFile): WritableLogFile {
    this.openFiles++;
    const write: WritableLogFile['write'] = async (source, length, position) => {
      try {
        this.check('write');
      } catch (error) {
        await file.write(source, Math.floor(length / 2), position);
        throw error;
      }
      await file.write(source, length, position);
      this.steps.push('write');
    };
    return {
      write,
      datasync: async () => {
        this.check('datasync');
        await file.datasync();
        this.steps.push('datasync');
      },
      // A write and a sync as far as failing goes, and one step when it is done.
      writeAndSync: async (source, length, position) => {
        if (this.failuresLeft('write') > 0) return write(source, length, position);
        this.check('datasync');
        await file.writeAndSync(source, length, position);
        this.steps.push('store');
      },
      truncate: async (length) => {
        this.check('truncate');
        await file.truncate(length);
        this.steps.push('truncate');
      },
      close: async () => {
        this.openFiles--;
        await file.close();
      },
    };
  }
}

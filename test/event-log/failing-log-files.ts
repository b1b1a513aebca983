import type { LogFiles, WritableLogFile } from '../../src/event-log/log-files.ts';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';

export type WritingStep = 'create' | 'write' | 'datasync' | 'rename' | 'syncFolder' | 'truncate';

/** File operations that fail on request. */
export class FailurePlan {
  /** Number of next calls that fail, by step. */
  readonly failing = new Map<WritingStep, number>();

  /** Lets the next calls of a step fail. */
  fail(step: WritingStep, times: number): void {
    this.failing.set(step, times);
  }

  failuresLeft(step: WritingStep): number {
    return this.failing.get(step) ?? 0;
  }

  /** Returns the error of a call that must fail; otherwise null. */
  protected nextFailure(step: WritingStep): Error | null {
    const left = this.failuresLeft(step);
    if (left === 0) return null;
    this.failing.set(step, left - 1);
    return Object.assign(new Error(`EIO: i/o error, ${step}`), { code: 'EIO' });
  }

  protected check(step: WritingStep): void {
    const failure = this.nextFailure(step);
    if (failure !== null) throw failure;
  }
}

/** The real file system with failures on request. A failing write writes half of its bytes, as on a full disk. */
export class FailingLogFiles extends FailurePlan implements LogFiles {
  /** Completed steps, in order. */
  readonly steps: (WritingStep | 'store')[] = [];
  openFiles = 0;

  createFolder = nodeFileSystem.createFolder;
  listFiles = nodeFileSystem.listFiles;
  openForReading = nodeFileSystem.openForReading;
  remove = nodeFileSystem.remove;

  async createFile(path: string): Promise<WritableLogFile> {
    this.check('create');
    return this.#wrap(await nodeFileSystem.createFile(path));
  }

  async openForWriting(path: string): Promise<WritableLogFile> {
    return this.#wrap(await nodeFileSystem.openForWriting(path));
  }

  async rename(from: string, to: string): Promise<void> {
    this.check('rename');
    await nodeFileSystem.rename(from, to);
    this.steps.push('rename');
  }

  async syncFolder(folder: string): Promise<void> {
    this.check('syncFolder');
    await nodeFileSystem.syncFolder(folder);
    this.steps.push('syncFolder');
  }

  #wrap(file: WritableLogFile): WritableLogFile {
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
      // Fails as a write or as a sync, but completes as one step.
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

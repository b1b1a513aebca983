import type { LogFiles, WritableLogFile } from '../../src/event-log/log-files.ts';
import { segmentHeaderBytes } from '../../src/event-log/log-format.ts';

/** What the log does for nothing but durability, one by one. */
export const durableSteps = [
  /** The sync of a group of records, by itself or with its write. */
  'group',
  /** The sync of a new segment's header, before it gets its name. */
  'header',
  /** The sync of a folder in which a segment got its name. */
  'folder',
  /** The sync of a segment that is full or closed, its reserved zeros cut off. */
  'end',
  /** The sync of the last segment in recovery. */
  'recovery',
  /** Writing the last group once more in recovery: after a failed sync, syncing alone does nothing. */
  'repeat',
] as const;
export type DurableStep = (typeof durableSteps)[number];

/** Files as they are, with one of these steps left out and reported as done. */
export function forgetfulLogFiles(files: LogFiles, forgotten: DurableStep): LogFiles {
  const watched = (file: WritableLogFile, created: boolean): WritableLogFile => {
    let next: DurableStep = created ? 'end' : 'recovery';
    return {
      write: async (source, length, position) => {
        if (created) next = position < segmentHeaderBytes ? 'header' : 'group';
        else if (forgotten === 'repeat') return;
        await file.write(source, length, position);
      },
      datasync: async () => {
        const step = next;
        if (created) next = 'end';
        if (step !== forgotten) await file.datasync();
      },
      writeAndSync: async (source, length, position) => {
        await (forgotten === 'group'
          ? file.write(source, length, position)
          : file.writeAndSync(source, length, position));
      },
      truncate: async (length) => {
        if (created) next = 'end';
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  };
  return {
    createFolder: (folder) => files.createFolder(folder),
    listNames: (folder) => files.listNames(folder),
    openForReading: (path) => files.openForReading(path),
    create: async (path) => watched(await files.create(path), true),
    openForWriting: async (path) => watched(await files.openForWriting(path), false),
    rename: (from, to) => files.rename(from, to),
    remove: (path) => files.remove(path),
    syncFolder: async (folder) => {
      if (forgotten !== 'folder') await files.syncFolder(folder);
    },
  };
}

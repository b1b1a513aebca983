import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../domain/operator-error.ts';

export interface DataPaths {
  /** Folder of the ledger, the event log from which all analytics are computed. */
  readonly ledgerFolder: string;
  /** Folder of the journal, which stores the pocket fields of live sessions. */
  readonly journalFolder: string;
  /**
   * Folder of the counter archive: analytics of days whose sessions are deleted (`CounterArchive`). The archive folder is created when the
   * first day is archived.
   */
  readonly archiveFolder: string;
  /** SQLite file of the analytics store, which can be rebuilt from the ledger and the archive. */
  readonly analyticsStoreFile: string;
  /** Folder of the last snapshot of the state of the service, which can be computed again from ledger and journal (`SnapshotWriter`). */
  readonly snapshotFolder: string;
}

export function dataPaths(dataDir: string): DataPaths {
  return {
    ledgerFolder: join(dataDir, 'ledger'),
    journalFolder: join(dataDir, 'journal'),
    archiveFolder: join(dataDir, 'sealed'),
    analyticsStoreFile: join(dataDir, 'analytics.sqlite'),
    snapshotFolder: join(dataDir, 'snapshot'),
  };
}

/**
 * Error for a part of the data folder that is missing, older than the other files, or part of another data folder. The service does not
 * continue without this part, because it could then delete or misuse the data that depends on it. The error message is one line that
 * contains a command with which an operator accepts the loss, if there is such a command.
 */
export class DataMissingError extends OperatorError {
  override readonly name: string = 'DataMissingError';
  /** File or folder that is missing or incomplete. */
  readonly path: string;

  constructor(path: string, details: string) {
    super(`${path} ${details}`);
    this.path = path;
  }
}

/** Error for a missing folder inside the data folder. */
export class FolderMissingError extends DataMissingError {
  override readonly name = 'FolderMissingError';
  readonly folder: string;

  constructor(folder: string, details: string) {
    super(folder, `is missing, ${details}`);
    this.folder = folder;
  }
}

/** Folder of the shards after shard 0, whose folder is the data folder itself, and of the sockets of all shards. */
export function shardsFolder(rootDir: string): string {
  return join(rootDir, 'shards');
}

/** Returns the folder of the files that only one shard uses. */
export function shardDataDir(rootDir: string, shard: number): string {
  return shard === 0 ? rootDir : join(shardsFolder(rootDir), String(shard));
}

/**
 * Returns the path of the Unix socket on which a shard receives requests from other shards. Throws OperatorError if the path is longer than
 * the operating system allows.
 */
export function forwardSocketPath(rootDir: string, shard: number): string {
  return socketPath(rootDir, `${shard}.sock`);
}

/** Returns the path of the Unix socket on which a shard answers operators. Throws as `forwardSocketPath`. */
export function shardOperationsSocketPath(rootDir: string, shard: number): string {
  return socketPath(rootDir, `${shard}-operations.sock`);
}

function socketPath(rootDir: string, name: string): string {
  const path = join(shardsFolder(rootDir), name);
  const bytesMax = bounds.socketPathBytesMax - join(shardsFolder(''), name).length - 1;
  if (Buffer.byteLength(path) > bounds.socketPathBytesMax) {
    throw new OperatorError(
      `the path of the data folder ${rootDir} is too long for shards; use one of at most ${bytesMax} bytes`,
    );
  }
  return path;
}

/** Error for a data folder that has more shards than a start asks for. */
export class ShardCountError extends OperatorError {
  override readonly name = 'ShardCountError';
}

/** Throws `ShardCountError` if a data folder has more than `count` shards, because accounts would be missing. */
export function assertShardCount(rootDir: string, count: number): void {
  assertShardCountAtLeast(rootDir, listShards(rootDir).at(-1)! + 1, count);
}

/** Throws `ShardCountError` if fewer shards are started than a data folder has. */
export function assertShardCountAtLeast(rootDir: string, found: number, count: number): void {
  if (found <= count) return;
  throw new ShardCountError(
    `${rootDir} has ${found} shards; start at least as many: marketplace serve --shards ${found} (see SVC_SHARDS)`,
  );
}

/** Path of the file that marks a backup until it is complete. */
export function unfinishedBackupPath(dataDir: string): string {
  return join(dataDir, 'unfinished-backup');
}

/** Throws `DataMissingError` for a backup that was interrupted, because its files are incomplete or of different times. */
export function assertFinishedBackup(dataDir: string): void {
  if (!existsSync(unfinishedBackupPath(dataDir))) return;
  throw new DataMissingError(
    dataDir,
    'is a backup that was interrupted, and is incomplete: use another backup, or delete this folder and run marketplace backup again',
  );
}

/** Returns the numbers of the shards that have a folder in a data folder, in ascending order. Shard 0 always has one. */
export function listShards(rootDir: string): number[] {
  const folder = shardsFolder(rootDir);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[1-9]\d*$/.test(name)) : [];
  return [0, ...names.map(Number).sort((one, other) => one - other)];
}

/** Returns the folders of all shards of a data folder. */
export function listShardFolders(rootDir: string): string[] {
  return listShards(rootDir).map((shard) => shardDataDir(rootDir, shard));
}

/** Returns the data folder of a shard, which has the files that all shards share, from the folder of the shard. */
export function findRootDir(dataDir: string): string {
  const rootDir = dirname(dirname(resolve(dataDir)));
  const isShard = shardDataDir(rootDir, Number(basename(dataDir))) === resolve(dataDir);
  return isShard && existsSync(join(rootDir, 'keys.sqlite')) && !existsSync(join(dataDir, 'keys.sqlite'))
    ? rootDir
    : dataDir;
}

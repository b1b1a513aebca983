import { KeyFileError, keyFilePath, readShardCount } from '../../auth/key-file.ts';
import { listShards, shardDataDir } from '../../files/data-paths.ts';
import { printNotice } from '../output.ts';

/**
 * Returns the folders of all shards of a data folder.
 *
 * @param includesMissing whether the result has the folders that known shards had; otherwise, prints a notice for each of them
 */
export function findShardFolders(rootDir: string, includesMissing = false): string[] {
  const shards = listShards(rootDir);
  const count = Math.max(shards.at(-1)! + 1, countRegisteredShards(rootDir));
  if (includesMissing) return Array.from({ length: count }, (_, shard) => shardDataDir(rootDir, shard));
  for (let shard = 0; shard < count; shard++) {
    if (shards.includes(shard)) continue;
    printNotice(`marketplace: shard ${shard} is left out, because it has no folder ${shardDataDir(rootDir, shard)}`);
  }
  return shards.map((shard) => shardDataDir(rootDir, shard));
}

/** Returns the number of shards that the key file knows; 1 if it cannot be read, because some commands examine damaged data folders. */
function countRegisteredShards(rootDir: string): number {
  try {
    return readShardCount(keyFilePath(rootDir));
  } catch (error) {
    if (error instanceof KeyFileError) return 1;
    throw error;
  }
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openEventLog } from '../../../src/events/file-event-log.ts';
import type { SessionCreated } from '../../../src/events/ledger-record.ts';
import { createOwnedFolder } from '../../target/owned-folder.ts';
import type { MicroBenchmark } from '../micro.ts';

const groupSizes = [64, 1_024];
const durabilities = ['write', 'fsync'] as const;

/**
 * What one session costs the log: encoded, framed, checksummed and written in a group with the others of its loop turn; with
 * or without the sync, whose time is the disk's.
 */
export const ledgerAppendBenchmarks: readonly MicroBenchmark[] = durabilities.flatMap((durability) =>
  groupSizes.map((calls) => ({
    name: `events/file-event-log: append, ${calls.toLocaleString('en-US')} sessions a group, ${durability === 'fsync' ? 'synced' : 'not synced'}`,
    call: `one of ${calls.toLocaleString('en-US')} callers that wait for the same group`,
    prepare: async ({ folder }) => {
      const owned = await createOwnedFolder(folder, 'log-');
      const log = await openEventLog({ folder: join(owned.path, 'ledger'), shard: 0, durability });
      const record: SessionCreated = [1, 1_760_000_000_000, randomBytes(32), 'bench_variant-a', 12, 1, null];
      return {
        calls,
        run: async () => {
          const waiting = Array.from({ length: calls }, () => log.append(record));
          await Promise.all(waiting);
          return log.durablePosition;
        },
        close: async () => {
          await log.close();
          await owned.remove();
        },
      };
    },
  })),
);

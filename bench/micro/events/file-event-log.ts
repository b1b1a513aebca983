import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../../src/events/file-event-log.ts';
import type { SessionCreated } from '../../../src/events/ledger-record.ts';
import type { Micro } from '../micro.ts';

const calls = 64;

/**
 * What one session costs the log: encoded, framed, checksummed and written to the kernel in a group with the others of its
 * loop turn. Without the sync, whose time is the disk's.
 */
export const fileEventLogMicro: Micro = {
  name: `events/file-event-log: append, ${calls} sessions a group, not synced`,
  prepare: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-log-'));
    const log = await openEventLog({ folder: join(folder, 'ledger'), shard: 0, durability: 'write' });
    const record: SessionCreated = [1, 1_760_000_000_000, randomBytes(32), 'bench_variant-a', 12, 1, null];
    return {
      calls,
      run: async () => {
        for (let i = 1; i < calls; i++) void log.append(record);
        await log.append(record);
      },
      close: async () => {
        await log.close();
        await rm(folder, { recursive: true });
      },
    };
  },
};

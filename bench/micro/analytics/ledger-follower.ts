import { rmSync } from 'node:fs';
import { dataFiles } from '../../../src/analytics/analytics-files.ts';
import { LedgerFollower } from '../../../src/analytics/ledger-follower.ts';
import { writeSampleLedger } from '../../history/aggregator.ts';
import { createOwnedFolder } from '../../target/owned-folder.ts';
import type { MicroBenchmark } from '../micro.ts';

const sessionCounts = { full: 10_000, quick: 4_000 };

export const projectionBenchmark: MicroBenchmark = {
  name: 'analytics/ledger-follower: fold sessions, views and clicks',
  call: 'one record: read, decoded, counted, and committed with its batch',
  prepare: async ({ folder, quick }) => {
    const owned = await createOwnedFolder(folder, 'fold-');
    const files = dataFiles(owned.path);
    const records = await writeSampleLedger(files.ledgerFolder, quick ? sessionCounts.quick : sessionCounts.full);
    let follower: LedgerFollower | null = null;
    const forget = (): void => {
      follower?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(files.analyticsStoreFile + end, { force: true });
    };
    return {
      calls: records,
      beforeEach: () => {
        forget();
        follower = new LedgerFollower(files, (reason) => {
          throw new Error(reason);
        });
      },
      run: () => {
        while (follower!.projectedPosition < records) follower!.applyBatch(records);
        return follower!.projectedPosition;
      },
      close: async () => {
        forget();
        await owned.remove();
      },
    };
  },
};

import { rmSync } from 'node:fs';
import { analyticsFiles } from '../../../src/analytics/analytics-files.ts';
import { LedgerFollower } from '../../../src/analytics/ledger-follower.ts';
import { writeLedger } from '../../history/aggregator.ts';
import { makeOwnedFolder } from '../../target/owned-folder.ts';
import type { Micro } from '../micro.ts';

const sessions = { full: 10_000, quick: 4_000 };

export const ledgerFollowerMicro: Micro = {
  name: 'analytics/ledger-follower: fold sessions, views and clicks',
  call: 'one record: read, decoded, counted, and committed with its batch',
  prepare: async ({ folder, quick }) => {
    const owned = await makeOwnedFolder(folder, 'fold-');
    const files = analyticsFiles(owned.path);
    const records = await writeLedger(files.ledgerFolder, quick ? sessions.quick : sessions.full);
    let follower: LedgerFollower | null = null;
    const forget = (): void => {
      follower?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(files.storeFile + end, { force: true });
    };
    return {
      calls: records,
      before: () => {
        forget();
        follower = new LedgerFollower(files, (reason) => {
          throw new Error(reason);
        });
      },
      run: () => {
        while (follower!.foldedPosition < records) follower!.fold(records);
        return follower!.foldedPosition;
      },
      close: async () => {
        forget();
        await owned.remove();
      },
    };
  },
};

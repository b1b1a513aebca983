import { dirname } from 'node:path';
import process from 'node:process';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { dataPaths } from '../../src/files/data-paths.ts';

// Follows the ledger in the data folder of a store up to a position, and builds the replacement of the store.
const [, , store = '', position] = process.argv;
const follower = new LedgerFollower(dataPaths(dirname(store)), () => {});
while (follower.appliedPosition < Number(position)) follower.applyBatch(Number(position));
while (follower.isReplacing) follower.buildReplacement();
follower.close();

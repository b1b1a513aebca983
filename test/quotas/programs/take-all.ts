/**
 * Takes and uses a quota, one at a time, until the store refuses. Returns every rest that other processes need. Prints the used amount.
 * Arguments: path of the store, shard, number of shards, limit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ShardGrants } from '../../../src/quotas/shard-grants.ts';
import { SqliteQuotaStore } from '../../../src/quotas/sqlite-quota-store.ts';

const [path, shard, shards, limit] = [process.argv[2]!, ...process.argv.slice(3).map(Number)] as [
  string,
  number,
  number,
  number,
];
const quota = { scope: 2, offerId: 'an-offer', kind: 'day_clicks', period: 20_000 } as const;
const store = new SqliteQuotaStore(path, shards);
const { epoch } = store.startEpoch(shard);
const grants = new ShardGrants(epoch, []);
store.markCatalogActive(shard, epoch, grants.activateCatalog(quota.scope, 'v1'));
let used = 0;
while (!grants.isExhausted(quota, used, 1)) {
  if (grants.covers(quota, used, 1)) used++;
  else for (const reply of store.settle(shard, epoch, [grants.take(quota, used, 1, limit)])) grants.applyReply(reply);
  const contended = store.listContended(shard).map((each) => grants.giveBack(each, used));
  for (const reply of store.settle(shard, epoch, contended)) grants.applyReply(reply);
  if (!grants.covers(quota, used, 1)) await pause(1);
}
store.settle(shard, epoch, [grants.giveBack(quota, used)]);
process.stdout.write(`${used}`);
// The operating system closes the file. The grants must survive this.
process.kill(process.pid, 'SIGKILL');

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ShardGrants } from '../../src/quotas/shard-grants.ts';
import { MemoryQuotaStore } from './memory-quota-store.ts';
import { testQuotaStore } from './quota-store-contract.ts';

testQuotaStore('the store of the simulation', () => {
  let store: MemoryQuotaStore | null = null;
  const open = (shards: number) => {
    store ??= new MemoryQuotaStore(shards);
    return store;
  };
  return {
    open,
    block() {
      store!.isBlocked = true;
      return () => {
        store!.isBlocked = false;
      };
    },
    async takeAll(shard, shards, limit) {
      const quota = { scope: 2, offerId: 'an-offer', kind: 'day_clicks', period: 20_000 } as const;
      const { epoch } = open(shards).startEpoch(shard);
      const grants = new ShardGrants(epoch, []);
      open(shards).markCatalogActive(shard, epoch, grants.activateCatalog(quota.scope, 'v1'));
      let used = 0;
      for (; !grants.isExhausted(quota, used, 1); await nextTurn()) {
        if (grants.covers(quota, used, 1)) used++;
        const requests = open(shards)
          .listContended(shard)
          .map((each) => grants.giveBack(each, used));
        if (!grants.covers(quota, used, 1)) requests.push(grants.take(quota, used, 1, limit));
        for (const reply of open(shards).settle(shard, epoch, requests)) grants.applyReply(reply);
      }
      open(shards).settle(shard, epoch, [grants.giveBack(quota, used)]);
      return used;
    },
  };
});

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import {
  type GrantOutcome,
  type GrantRequest,
  type Quota,
  type QuotaStore,
  QuotaStoreUnavailableError,
} from '../../src/quotas/quota-store.ts';

/** A store in a place of its own, which several connections and processes can open. */
export interface QuotaStorePlace {
  open(shards: number): QuotaStore | Promise<QuotaStore>;
  /** Blocks the store for all connections until the returned function is called. */
  block(): Promise<() => void> | (() => void);
  /** Runs the program `take-all` in a process of its own. Returns the amount that it used. */
  takeAll(shard: number, shards: number, limit: number): Promise<number>;
}

const quota: Quota = { scope: 2, offerId: 'an-offer', kind: 'day_clicks', period: 20_000 };

/** Shard with a connection of its own. */
class Shard {
  readonly number: number;
  readonly store: QuotaStore;
  epoch = 0;
  #requests = 0;

  constructor(number: number, store: QuotaStore) {
    this.number = number;
    this.store = store;
  }

  async start(version: string | null = 'v1'): Promise<readonly (readonly [number, number])[]> {
    const { epoch, grants } = await this.store.startEpoch(this.number);
    this.epoch = epoch;
    if (version !== null) await this.activate(version);
    return grants.map(({ granted, used }) => [granted, used]);
  }

  async activate(version: string, number = ++this.#requests): Promise<void> {
    await this.store.markCatalogActive(this.number, this.epoch, { scope: quota.scope, version, number });
  }

  async settle(changes: Partial<GrantRequest>): Promise<readonly [GrantOutcome, number]> {
    const request = { quota, number: ++this.#requests, granted: 0, used: 0, need: 0, limit: 100, ...changes };
    const [reply] = await this.store.settle(this.number, this.epoch, [request]);
    assert.deepEqual(reply!.request, request);
    return [reply!.outcome, reply!.granted];
  }

  async listContended(): Promise<readonly Quota[]> {
    return await this.store.listContended(this.number);
  }
}

/** Tests that every adapter of `QuotaStore` must pass. */
export function testQuotaStore(name: string, createPlace: (t: TestContext) => QuotaStorePlace): void {
  describe(`${name} as a store of shared limits`, () => {
    async function openShards(t: TestContext, count: number, version: string | null = 'v1'): Promise<Shard[]> {
      const place = createPlace(t);
      const shards: Shard[] = [];
      for (let number = 0; number < count; number++) shards.push(new Shard(number, await place.open(count)));
      for (const shard of shards) await shard.start(version);
      return shards;
    }

    it('processes that take at the same time use up the limit, and do not exceed it', async (t) => {
      const place = createPlace(t);
      const limit = 1_001;
      const used = await Promise.all([0, 1, 2].map((shard) => place.takeAll(shard, 3, limit)));
      assert.equal(
        used.reduce((sum, each) => sum + each, 0),
        limit,
      );
      const store = await place.open(3);
      for (const [shard, amount] of used.entries()) {
        const { grants } = await store.startEpoch(shard);
        assert.deepEqual(grants, amount === 0 ? grants : [{ quota, granted: amount, used: amount }]);
      }
    });

    it('grants a part of what is left, and asks the others for their rests before it refuses', async (t) => {
      const [one, two] = (await openShards(t, 2)) as [Shard, Shard];
      assert.deepEqual(await one.settle({ need: 1 }), ['granted', 25]);
      assert.deepEqual(await two.settle({ need: 76 }), ['contended', 0]);
      assert.deepEqual([await one.listContended(), await two.listContended()], [[quota], []]);
      // A report of the use does not return the rest.
      await one.settle({ granted: 25, used: 10 });
      assert.deepEqual(await one.listContended(), [quota]);
      assert.deepEqual(await two.settle({ need: 91 }), ['exhausted', 0]);
      assert.deepEqual(await one.settle({ granted: 10, used: 10 }), ['settled', 10]);
      assert.deepEqual(await one.listContended(), []);
      assert.deepEqual(await two.settle({ need: 76 }), ['granted', 76]);
      assert.deepEqual(await two.settle({ granted: 76, used: 76, need: 14 }), ['granted', 90]);
      assert.deepEqual(await one.settle({ granted: 10, used: 10, need: 1 }), ['contended', 10]);
      await two.settle({ granted: 90, used: 90 });
      assert.deepEqual(await one.settle({ granted: 10, used: 10, need: 1 }), ['exhausted', 10]);
      assert.deepEqual(await one.settle({ granted: 10, used: 10, need: 1, limit: 101 }), ['granted', 11]);
    });

    it('grants nothing before each shard has activated a catalog, and no rest until all have the same version', async (t) => {
      const [one, two] = (await openShards(t, 2, null)) as [Shard, Shard];
      await one.activate('v1');
      assert.deepEqual(await one.settle({ need: 2 }), ['contended', 0]);
      // The shard had used a part before there was a limit.
      assert.deepEqual(await two.settle({ granted: 60, used: 60, limit: 0 }), ['settled', 60]);
      await two.activate('v0');
      assert.deepEqual(await one.settle({ need: 2 }), ['granted', 2]);
      await two.activate('v1', 50);
      // Arrives late.
      await two.activate('v0', 49);
      assert.deepEqual(await one.settle({ granted: 2, used: 2, need: 2 }), ['granted', 11]);
    });

    it('ignores requests of an earlier epoch, and requests that arrive after a later one', async (t) => {
      const [one] = (await openShards(t, 1)) as [Shard];
      const { epoch: earlier } = one;
      assert.deepEqual(await one.settle({ number: 10, need: 60 }), ['granted', 60]);
      assert.deepEqual(await one.settle({ number: 9, granted: 5, used: 5 }), ['outdated', 60]);
      assert.deepEqual(await one.start(), [[60, 0]]);
      const late = { quota, number: 11, granted: 0, used: 0, need: 0, limit: 100 };
      assert.equal((await one.store.settle(0, earlier, [late]))[0]!.outcome, 'outdated');
      await one.store.markCatalogActive(0, earlier, { scope: quota.scope, version: 'v0', number: 99 });
      assert.deepEqual(await one.settle({ number: 1, granted: 60, used: 10, need: 10 }), ['granted', 80]);
    });

    it('returns the use that changed', async (t) => {
      const [one, two] = (await openShards(t, 2)) as [Shard, Shard];
      await one.settle({ granted: 5, used: 5 });
      const first = await two.store.readUse(0);
      assert.deepEqual(first.uses, [{ quota, shard: 0, used: 5 }]);
      await one.settle({ granted: 9, used: 5 });
      await two.settle({ need: 1 });
      await two.settle({ granted: 7, used: 7 });
      const second = await one.store.readUse(first.lastChange);
      assert.deepEqual(second.uses, [{ quota, shard: 1, used: 7 }]);
      assert.deepEqual(await one.store.readUse(second.lastChange), { lastChange: second.lastChange, uses: [] });
    });

    it('replaces the click counts of a shard', async (t) => {
      const [one, two] = (await openShards(t, 2)) as [Shard, Shard];
      const { scope } = quota;
      await one.store.writeClickCounts(0, one.epoch, scope, [[1, [5, 6]]]);
      await one.store.writeClickCounts(0, one.epoch, scope, [[2, [7]]]);
      await two.store.writeClickCounts(1, two.epoch, scope, [[2, [8]]]);
      await two.store.writeClickCounts(1, two.epoch - 1, scope, []);
      assert.deepEqual(await one.store.readClickCounts(), [
        { scope, shard: 0, days: [[2, [7]]] },
        { scope, shard: 1, days: [[2, [8]]] },
      ]);
    });

    it('stores the last periods, and grants nothing for an earlier one', async (t) => {
      const [one] = (await openShards(t, 1)) as [Shard];
      const days = Array.from({ length: bounds.quotaPeriodsStoredMax + 1 }, (_, day) => quota.period + day);
      for (const period of days) await one.settle({ quota: { ...quota, period }, granted: 1, used: 1 });
      assert.deepEqual(await one.settle({ quota, granted: 1, used: 1, need: 1 }), ['contended', 0]);
      const { uses } = await one.store.readUse(0);
      assert.deepEqual(
        uses.map(({ quota: { period } }) => period),
        days.slice(1),
      );
    });

    it('fails with an error while the store cannot be used, and works afterwards', async (t) => {
      const place = createPlace(t);
      const one = new Shard(0, await place.open(1));
      await one.start();
      const unblock = await place.block();
      await assert.rejects(() => one.settle({ need: 1 }), QuotaStoreUnavailableError);
      unblock();
      assert.deepEqual(await one.settle({ need: 1 }), ['granted', 50]);
      await one.store.close();
      await assert.rejects(() => one.settle({ need: 1 }), QuotaStoreUnavailableError);
    });
  });
}

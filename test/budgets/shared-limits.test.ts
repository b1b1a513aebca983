import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { ClickDecider } from '../../src/budgets/click-decider.ts';
import { SharedLimits } from '../../src/budgets/shared-limits.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { encodeVerticalAndMode } from '../../src/ids/sub-id.ts';
import { MemoryQuotaStore } from '../quotas/memory-quota-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { AvailabilityBench, type Budget, catalogWithOffers } from './availability-bench.ts';

const noon = Date.UTC(2026, 4, 20, 12);

/** Two shards with one store in memory. */
class SharedBench {
  readonly store = new MemoryQuotaStore(2);
  readonly benches: readonly [AvailabilityBench, AvailabilityBench];
  readonly events: string[] = [];
  readonly #clock = new ManualClock(noon);
  #limits: readonly SharedLimits[] = [];
  #deciders: readonly ClickDecider[] = [];

  constructor(offer: { readonly daily_cap?: number; readonly budget?: Budget }) {
    const catalog = catalogWithOffers({ a: offer });
    this.benches = [new AvailabilityBench(catalog, noon), new AvailabilityBench(catalog, noon)];
  }

  async start(t: TestContext): Promise<this> {
    const started: SharedLimits[] = [];
    for (const [shard, { bookings, catalog }] of this.benches.entries()) {
      const limits = await SharedLimits.start(
        {
          shard,
          store: this.store,
          bookings,
          clock: this.#clock,
          onUnavailable: () => this.events.push(`${shard} unavailable`),
          onRecovered: () => this.events.push(`${shard} recovered`),
        },
        [catalog],
      );
      runAfterTest(t, () => limits.close());
      started.push(limits);
    }
    this.#limits = started;
    this.#deciders = this.benches.map(({ bookings }, shard) => new ClickDecider(bookings, started[shard]!));
    return this;
  }

  /** Stops the shards, and starts them with another catalog. */
  async restart(t: TestContext, catalog: CompiledCatalog): Promise<void> {
    for (const limits of this.#limits) await limits.close();
    this.store.isBlocked = false;
    for (const bench of this.benches) await bench.reload(catalog);
    await this.start(t);
  }

  /** Returns the revenue of a click that a confirmation restores, on a shard and on one process with the same bookings. */
  restoreClick(shard: 0 | 1, micros: number): readonly [shared: number, alone: number] {
    const bench = this.benches[shard];
    const sub = bench.session();
    const compute = (decider: ClickDecider) => {
      decider.needsGrantForRestoredClick(sub, 'a', noon, micros);
      return decider.computeRestoredClickRevenueMicros(sub, 'a', noon, noon, micros);
    };
    return [compute(this.#deciders[shard]!), compute(bench.decider)];
  }

  waitForRetry(shard: 0 | 1): Promise<void> {
    return this.#deciders[shard]!.waitForGrant();
  }

  /** Clicks in a new session. Returns whether the click booked revenue, and whether the shard could get more. */
  click(shard: 0 | 1): readonly [isBooked: boolean | null | undefined, needsGrant: boolean] {
    const bench = this.benches[shard];
    const sub = bench.session();
    const needsGrant = this.#deciders[shard]!.needsGrant(sub, 'a', noon, 750_000);
    return [bench.clickWith(this.#deciders[shard]!, sub, 'a', 750_000).isBooked, needsGrant];
  }
}

describe('shared limits of a shard', () => {
  it('uses up what it was granted while the store is away', async (t) => {
    const bench = await new SharedBench({ daily_cap: 12 }).start(t);
    assert.deepEqual(bench.click(0), [true, false]);
    bench.store.isBlocked = true;
    // A quarter of 12 clicks was granted.
    for (let click = 0; click < 2; click++) assert.deepEqual(bench.click(0), [true, false]);
    assert.deepEqual(bench.click(0), [false, true]);
    while (!bench.events.includes('0 unavailable')) await new Promise(setImmediate);
    bench.store.isBlocked = false;
    await bench.waitForRetry(0);
    assert.deepEqual(bench.click(0), [true, false]);
    assert.equal(bench.events.at(-1), '0 recovered');
  });

  it('books a restored click whose revenue fits into the budget after the daily cap was lowered', async (t) => {
    const budget = { per_day_usd: 24, pacing: 'asap' } as const;
    const bench = await new SharedBench({ daily_cap: 12, budget }).start(t);
    for (let click = 0; click < 3; click++) bench.click(0);
    await bench.restart(t, catalogWithOffers({ a: { daily_cap: 2, budget } }));
    assert.deepEqual(bench.restoreClick(0, 750_000), [750_000, 750_000]);
    assert.deepEqual(bench.restoreClick(0, 25_000_000), [0, 0]);
  });

  it('stores the use of many offers with new limits before a new catalog is active', async (t) => {
    const ids = Array.from({ length: 2 * bounds.grantRequestsPerCallMax }, (_, index) => `offer-${index}`);
    const catalogWith = (changes: { readonly daily_cap?: number }) =>
      catalogWithOffers(Object.fromEntries(ids.map((id) => [id, changes])));
    const bench = new AvailabilityBench(catalogWith({}), noon);
    for (const id of ids) bench.clickOnce(id);
    const store = new MemoryQuotaStore(1);
    const clock = new ManualClock(noon);
    const { bookings, catalog } = bench;
    const options = { shard: 0, store, bookings, clock, onUnavailable: () => {}, onRecovered: () => {} };
    const limits = await SharedLimits.start(options, [catalog]);
    runAfterTest(t, () => limits.close());
    const capped = catalogWith({ daily_cap: 5 });
    await bench.reload(capped);
    // A second activation comes before the use is stored.
    for (let count = 0; count < 2; count++) limits.activateCatalog(capped);
    const scope = encodeVerticalAndMode(capped.vertical.number, capped.mode);
    while (store.findCatalogVersion(0, scope) !== capped.version) await new Promise(setImmediate);
    assert.equal(store.rows.size, ids.length);
  });

  it('uses the clicks of all shards for even pacing', async (t) => {
    const bench = new SharedBench({ budget: { per_day_usd: 24, pacing: 'even' } });
    const [one, two] = bench.benches;
    // Each shard alone has too few clicks for a distribution.
    for (const each of [one, two]) {
      each.nowMs = noon - msPerDay - 60 * 60 * 1000;
      for (let click = 0; click < 600; click++) each.clickOnce('a');
      each.nowMs = noon;
    }
    await bench.start(t);
    const { vertical, mode } = two.catalog;
    const { clickDistribution } = two.bookings.verticals.get(encodeVerticalAndMode(vertical.number, mode))!;
    assert.equal(clickDistribution.computeClickShareBefore(noon - 2 * 60 * 60 * 1000), 0);
    assert.equal(clickDistribution.computeClickShareBefore(noon), 1);
  });
});

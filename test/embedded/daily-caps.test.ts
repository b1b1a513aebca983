import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import {
  createMarketplace,
  type Marketplace,
  type MarketplaceView,
  type PartnerApi,
  type Result,
} from '../../src/index.ts';
import type { LoanCatalog as CatalogFile } from '../../src/verticals/personal-loans/offer-schema.ts';
import { afterwards } from '../support/afterwards.ts';
import { enlargedCatalog, withDailyCap, withoutOffers } from '../support/changeable-catalogs.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { worthMicros } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const hourMs = 60 * 60 * 1000;
const tag = 'daily-caps';

const [id, other] = ['cobalt-prime', 'northfield-personal'] as const;
const worth = worthMicros(fixture, [id]);

/** Daily cap of each offer by id, or `gone` for an offer that is not in the catalog. */
type Caps = Readonly<Record<string, number | 'gone'>>;

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

/** A marketplace whose live catalog is a file, with several restarts on one data folder. */
class Bench {
  readonly clock = new ManualClock();
  readonly #folder = temporaryFolder();
  readonly #file = join(this.#folder, 'offers.json');
  readonly #threads: number;
  readonly #catalog: CatalogFile;
  #key = '';
  marketplace!: Marketplace;
  partner!: PartnerApi;

  private constructor(t: TestContext, threads: number) {
    const { live } = fixture.catalogFiles;
    this.#threads = threads;
    // Matching threads receive only large catalogs.
    this.#catalog = threads === 0 ? live : enlargedCatalog(live, 3);
    afterwards(t, () => rmSync(this.#folder, { recursive: true }));
    afterwards(t, () => this.marketplace.close());
  }

  static async open(t: TestContext, threads: number, caps: Caps): Promise<Bench> {
    const bench = new Bench(t, threads);
    bench.write(caps);
    await bench.start();
    const wanted = { account: tag, vertical: fixture.vertical.segment, mode: 'live' } as const;
    bench.#key = bench.marketplace.keys.create(wanted).key;
    bench.partner = bench.marketplace.partner(bench.#key);
    return bench;
  }

  async start(): Promise<void> {
    const { clock } = this;
    const [, sandbox] = fixture.catalogs;
    assert.equal(sandbox?.mode, 'test');
    this.marketplace = await createMarketplace({
      dataDir: join(this.#folder, 'data'),
      clock,
      durability: 'write',
      matcherThreads: this.#threads,
      urls: { click: 'https://go.example' },
      catalogs: [{ vertical: fixture.vertical, mode: 'live', file: this.#file }, sandbox],
    });
    if (this.#key !== '') this.partner = this.marketplace.partner(this.#key);
  }

  async restart(): Promise<void> {
    await this.marketplace.close();
    await this.start();
  }

  write(caps: Caps): void {
    let catalog = this.#catalog;
    for (const [id, cap] of Object.entries(caps)) {
      catalog = cap === 'gone' ? withoutOffers(catalog, [id]) : withDailyCap(catalog, cap, [id]);
    }
    writeFileSync(this.#file, JSON.stringify(catalog));
  }

  async reload(caps: Caps): Promise<void> {
    this.write(caps);
    const [change] = await this.marketplace.reloadCatalogs();
    assert.ok(change?.ok && change.changed);
  }

  /** Creates a session with complete fields. Returns its sub_id. */
  async session(): Promise<string> {
    const { sub_id: subId } = ok(await this.partner.createSession({ referrer_tag: tag }));
    ok(await this.partner.submitInputs({ sub_id: subId, fields: fixture.complete }));
    return subId;
  }

  async view(subId?: string): Promise<MarketplaceView> {
    return ok(await this.partner.getMarketplace({ sub_id: subId ?? (await this.session()), max_offers: 20 }));
  }

  /** Returns the click URL of an offer for a new or existing session; undefined if the offer is not shown. */
  async link(id: string, subId?: string): Promise<string | undefined> {
    return (await this.view(subId)).offers.find((offer) => offer.svc_offer_id === id)?.click_url;
  }

  async click(url: string | undefined): Promise<void> {
    assert.equal((await this.marketplace.followClick(url as string)).kind, 'redirect');
  }

  /** Clicks an offer with new sessions. */
  async clicks(id: string, count: number): Promise<void> {
    for (let at = 0; at < count; at++) await this.click(await this.link(id));
  }

  async booked(): Promise<number> {
    return Math.round(ok(await this.partner.queryAnalytics({ referrer_tag: tag })).rev_attributed * 1e6);
  }
}

test('removes an offer that reaches its cap during a ranking', async (t) => {
  const bench = await Bench.open(t, 1, { [id]: 1, [other]: 1 });
  const [links, subId] = [await bench.view(), await bench.session()];
  const url = links.offers.find((offer) => offer.svc_offer_id === id)?.click_url as string;
  const answer = bench.partner.getMarketplace({ sub_id: subId, max_offers: 20 });
  const click = bench.marketplace.followClick(url);
  const { offers, total_offers: total } = ok(await answer);
  assert.deepEqual([total, offers.length], [links.total_offers - 1, 20]);
  assert.ok(!offers.some((offer) => offer.svc_offer_id === id));
  await click;
  assert.equal(await bench.booked(), worth);
});

for (const threads of [0, 1]) {
  describe(`daily caps with ${threads === 0 ? 'the matcher in the calling thread' : 'a pool'}`, () => {
    test('retains the daily counts after a restart until UTC midnight', async (t) => {
      const bench = await Bench.open(t, threads, { [id]: 3 });
      const [early, late] = [await bench.session(), await bench.session()];
      const lateLink = await bench.link(id, late);
      await bench.click(await bench.link(id, early));
      await bench.clicks(id, 1);
      await bench.restart();
      assert.ok(await bench.link(id, early));
      await bench.click(await bench.link(id, early));
      await bench.clicks(id, 1);
      assert.equal(await bench.link(id, early), undefined);
      await bench.restart();
      assert.equal(await bench.link(id), undefined);
      await bench.click(lateLink);
      assert.equal(await bench.booked(), 3 * worth);
      bench.clock.advance(12 * hourMs - 1);
      await bench.restart();
      assert.equal(await bench.link(id), undefined);
      bench.clock.advance(1);
      assert.ok(await bench.link(id));
      await bench.click(lateLink);
      await bench.restart();
      await bench.clicks(id, 3);
      assert.equal(await bench.link(id), undefined);
      assert.equal(await bench.booked(), 6 * worth);
    });

    test('applies the cap of a new catalog to the clicks of the current day', async (t) => {
      const bench = await Bench.open(t, threads, {});
      const seen = await bench.session();
      const before = await bench.view(seen);
      await bench.clicks(id, 3);
      await bench.reload({ [id]: 4 });
      await bench.clicks(id, 1);
      assert.equal(await bench.link(id, seen), undefined);
      await bench.reload({ [id]: 5, [other]: 1 });
      assert.ok(await bench.link(id, seen));
      await bench.clicks(other, 1);
      assert.equal((await bench.view(seen)).total_offers, before.total_offers - 1);
      await bench.reload({ [id]: 3 });
      assert.equal(await bench.link(id, seen), undefined);
      assert.ok(await bench.link(other, seen));
      await bench.reload({});
      await bench.clicks(id, 1);
      // A lower cap does not remove counted clicks. The cap can also change while the service is down.
      bench.write({ [id]: 6 });
      await bench.restart();
      await bench.clicks(id, 1);
      assert.equal(await bench.link(id), undefined);
      assert.equal(await bench.booked(), 6 * worth + worthMicros(fixture, [other]));
    });
  });
}

// The checks for links of a removed offer do not use a matcher.
for (const [how, leave] of [
  ['while the service ran', (bench: Bench) => bench.reload({ [id]: 'gone' })],
  [
    'while it was down',
    async (bench: Bench) => {
      bench.write({ [id]: 'gone' });
      await bench.restart();
    },
  ],
  [
    'two changes and restarts ago',
    async (bench: Bench) => {
      await bench.reload({ [id]: 'gone' });
      await bench.restart();
      bench.clock.advance(1);
      await bench.reload({ [id]: 'gone', [other]: 1 });
      await bench.restart();
    },
  ],
] as const) {
  test(`limits clicks on earlier links to the last cap if an offer was removed from the catalog ${how}`, async (t) => {
    const bench = await Bench.open(t, 0, { [id]: 9 });
    await bench.clicks(id, 3);
    const links: (string | undefined)[] = [];
    for (let at = 0; at < 5; at++) links.push(await bench.link(id));
    bench.clock.advance(1);
    await bench.reload({ [id]: 4 });
    bench.clock.advance(1);
    await leave(bench);
    assert.equal(await bench.link(id), undefined);
    for (const link of links) await bench.click(link);
    assert.equal(await bench.booked(), 4 * worth);
    // The offer returns as unavailable, and becomes available at midnight.
    bench.clock.advance(1);
    await bench.reload({ [id]: 4 });
    assert.equal(await bench.link(id), undefined);
    bench.clock.advance(12 * hourMs);
    assert.ok(await bench.link(id));
  });
}

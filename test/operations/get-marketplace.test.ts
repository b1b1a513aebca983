import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { openCatalogStore } from '../../src/catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { CancelSignal } from '../../src/domain/async.ts';
import { SerialQueue } from '../../src/domain/async.ts';
import { type Outcome, unavailable } from '../../src/domain/outcome.ts';
import { ClickTokenCipher } from '../../src/ids/click-token-cipher.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import {
  type Matcher,
  type MatchRequest,
  noUnavailableOffers,
  packedOfferAt,
  sortOrders,
  type UnavailableOffers,
} from '../../src/matching/matcher.ts';
import { addOffer, countOffers, emptyOfferSet } from '../../src/matching/offer-set.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import type { MarketplaceRequest } from '../../src/operations/get-marketplace.ts';
import { type GetMarketplaceDeps, getMarketplace } from '../../src/operations/get-marketplace.ts';
import type { MarketplaceView } from '../../src/operations/show-offers.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { fieldIndex } from '../../src/verticals/field-vector.ts';
import { validateFields } from '../../src/verticals/validate-fields.ts';
import { afterwards } from '../support/afterwards.ts';
import { withDailyCap } from '../support/capped-catalogs.ts';
import { enlargedCatalog } from '../support/enlarged-catalog.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { personalLoansFixture } from '../support/personal-loans-fixture.ts';
import { seededRandom } from '../support/random-catalog.ts';
import { ringOf } from '../support/secrets.ts';
import { openTemporaryLedger } from '../support/temporary-ledger.ts';
import { testTenant } from '../support/tenants.ts';

const { vertical } = testTenant;
const sessionTtlMs = 4 * 60 * 60 * 1000;

/** A test session with all fields, and what shows it its offers, with a matcher of so many threads. */
async function setUp(
  t: TestContext,
  threads: number,
  clock = new ManualClock(),
  sources = personalLoansFixture.catalogs,
) {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const ledger = await openTemporaryLedger(t);
  const catalogs = openCatalogStore({
    ...{ archiveFolder: folder, clock, cdnUrl: () => 'https://cdn.example' },
    catalogs: sources,
  });
  const matcher = await startMatcher({ threads, inThreadOffersMax: 0, catalogs, verticals: [vertical] });
  afterwards(t, () => matcher.close());
  const sessions = new MemorySessionStore({
    ...{ clock, sessionTtlMs, fieldsMax: vertical.fields.length },
    ...{ sessionsMax: 100, shardCount: 1, sweepIntervalMs: 60_000 },
  });
  afterwards(t, () => sessions.close());
  const subIds = new SubIds(ringOf('ours'), 0, new RandomPool());
  /** The closed offers, for the test to change, and the rankings made. */
  const shelf: { closed: UnavailableOffers; rankings: number } = { closed: noUnavailableOffers, rankings: 0 };
  const counting: Matcher = Object.create(matcher, {
    match: {
      value: (request: MatchRequest) => {
        shelf.rankings++;
        return matcher.match(request);
      },
    },
  });
  const ports: GetMarketplaceDeps = {
    ...{ clock, catalogs, matcher: counting, sessions, subIds, sessionTtlMs, ledger: ledger.log },
    seal: new ClickTokenCipher(ringOf('ours'), new RandomPool()),
    caps: { unavailableOffers: () => shelf.closed },
    explanations: new SerialQueue(1),
    clickUrlHead: 'https://go.example/c?sub=',
    onViewLost: () => assert.fail('a view was lost'),
    onSessionMissing: () => assert.fail('a session was lost'),
  };
  const subId = subIds.issue(clock.wallMs(), testTenant.account, vertical.number, testTenant.mode);
  sessions.add(subId, testTenant);
  const session = sessions.get(subId)!;
  session.mergeFields(validateFields(vertical, personalLoansFixture.complete, 2026_05_20).changes);
  const ask = (more: Partial<MarketplaceRequest>, signal: CancelSignal | null = null) =>
    getMarketplace(ports, testTenant, { sub_id: subId, format: 'json', ...more }, true, signal);
  const show = (explain: boolean, signal: CancelSignal | null = null) => ask({ explain: `${explain}` }, signal);
  const catalog = catalogs.current(vertical.number, testTenant.mode);
  return { clock, ledger, sessions, session, catalog, shelf, ask, show };
}

const amount = fieldIndex(vertical, vertical.roles.amount);

/** What must be waited for between the fields and their ranking. */
for (const { threads, explain, what } of [
  { threads: 0, explain: true, what: 'the reasons why other offers do not match' },
  { threads: 1, explain: false, what: 'a matching worker' },
]) {
  describe(`getMarketplace, waiting for ${what}`, () => {
    it('keeps the ranking that it shows', async (t) => {
      const { session, show } = await setUp(t, threads);
      const shown = await show(explain);
      assert(shown.ok);
      assert.equal(session.cachedRanking!.ranking.total, JSON.parse(shown.value).total_offers);
      const again = show(false);
      assert(!(again instanceof Promise));
      assert(again.ok);
      assert.deepEqual(JSON.parse(again.value).offers, JSON.parse(shown.value).offers);
    });

    it('ranks nothing for a request that is over before its turn', async (t) => {
      const { ledger, session, show } = await setUp(t, threads);
      const signal = { ended: false };
      const showing = show(explain, signal);
      signal.ended = true;
      assert.deepEqual(await showing, unavailable(1));
      assert.equal(session.cachedRanking, null);
      assert((await show(explain, { ended: false })).ok);
      assert.equal((await ledger.records()).length, 1);
    });

    it('keeps no ranking of fields that were merged over meanwhile, and shows the offers of those it began with', async (t) => {
      const { session, show } = await setUp(t, threads);
      const before = await show(explain);
      assert(before.ok);
      session.mergeFields([amount, session.fields[amount]!]);
      const showing = show(explain);
      assert(showing instanceof Promise);
      session.mergeFields([amount, 100_000]);
      const shown = await showing;
      assert(shown.ok);
      assert.equal(session.cachedRanking, null);
      const idsOf = (json: string) =>
        JSON.parse(json).offers.map(({ svc_offer_id: id }: { svc_offer_id: string }) => id);
      assert(idsOf(before.value).length > 0);
      assert.deepEqual(idsOf(shown.value), idsOf(before.value));
    });

    it('answers a session all the same that is swept away meanwhile, and keeps nothing', async (t) => {
      const { clock, sessions, session, show } = await setUp(t, threads);
      const showing = show(explain);
      assert(showing instanceof Promise);
      clock.advance(sessionTtlMs);
      sessions.sweepNextShard();
      assert.equal(sessions.size, 0);
      const shown = await showing;
      assert(shown.ok);
      assert(JSON.parse(shown.value).offers.length > 0);
      assert.equal(session.cachedRanking, null);
    });
  });
}

it('counts no view for a request that is over before a worker has answered, and keeps the ranking for its retry', async (t) => {
  const { ledger, session, show } = await setUp(t, 1);
  const signal = { ended: false };
  const showing = show(false, signal);
  await new Promise(setImmediate);
  signal.ended = true;
  assert.deepEqual(await showing, unavailable(1));
  assert.ok(session.cachedRanking!.ranking.total > 0);
  assert.deepEqual(await ledger.records(), []);
});

describe('getMarketplace, while offers close and open', () => {
  const [live, sandbox] = personalLoansFixture.catalogs;
  const large = {
    ...sandbox!,
    text: JSON.stringify(withDailyCap(enlargedCatalog(personalLoansFixture.catalogFiles.live, 2), 1)),
  };
  const setUpLarge = (t: TestContext, threads = 0) => setUp(t, threads, new ManualClock(), [live!, large]);
  const closing = (offers: readonly number[], { offers: all }: CompiledCatalog): UnavailableOffers => {
    if (offers.length === 0) return noUnavailableOffers;
    const bits = emptyOfferSet(all.length);
    for (const offer of offers) addOffer(bits, offer);
    return { count: countOffers(bits), bits };
  };
  const parse = (shown: Outcome<string>): MarketplaceView => {
    assert(shown.ok);
    return JSON.parse(shown.value);
  };

  it('leaves closed offers out without another ranking, and has them back when they open', async (t) => {
    const { session, catalog, shelf, ask } = await setUpLarge(t);
    const before = parse(await ask({ max_offers: '20' }));
    assert.ok(before.total_offers > bounds.offersRankedMax);
    const first = before.offers.slice(0, 12).map(({ svc_offer_id: id }) => catalog.offerIndex(id));
    for (let count = 1; count <= first.length; count++) {
      shelf.closed = closing(first.slice(0, count), catalog);
      for (let again = 0; again < 2; again++) {
        const { offers, total_offers: total } = parse(await ask({ max_offers: '20' }));
        assert.deepEqual([total, offers.length], [before.total_offers - count, 20]);
        assert.deepEqual(
          offers.slice(0, 20 - count).map(({ svc_offer_id: id }) => id),
          before.offers.slice(count).map(({ svc_offer_id: id }) => id),
        );
        assert.equal(session.cachedRanking!.unavailableOffers, shelf.closed);
      }
    }
    shelf.closed = noUnavailableOffers;
    assert.deepEqual(parse(await ask({ max_offers: '20' })), before);
    assert.equal(shelf.rankings, 1);
  });

  it('ranks again where too few are left, where one opens that the ranking leaves out, and where many changed', async (t) => {
    const { session, catalog, shelf, ask } = await setUpLarge(t);
    await ask({});
    const first = session.cachedRanking!.ranking.orders;
    const best = Array.from({ length: 13 }, (_, place) => packedOfferAt(first, place));
    const shown = async (closed: readonly number[], maxOffers: string) => {
      shelf.closed = closing(closed, catalog);
      const { offers } = parse(await ask({ max_offers: maxOffers }));
      return { rankings: shelf.rankings, offers: offers.map(({ svc_offer_id: id }) => catalog.offerIndex(id)) };
    };
    assert.equal((await shown(best, '19')).rankings, 1);
    const { rankings, offers } = await shown(best, '20');
    assert.deepEqual([rankings, offers.length, session.cachedRanking!.ranking.availableOnly], [2, 20, true]);
    assert.equal((await shown([...best, offers[0]!], '20')).rankings, 2);
    assert.deepEqual(await shown(best.slice(1), '1'), { rankings: 3, offers: [best[0]] });
    // More changes at once than are counted one by one.
    const others = catalog.offers.map((_, offer) => offer).filter((offer) => !best.includes(offer));
    assert.equal((await shown([...best, ...others.slice(0, bounds.offersRecountedMax)], '1')).rankings, 4);
  });

  it('shows what a new ranking would, in every order, after any changes', async (t) => {
    const { session, catalog, shelf, ask } = await setUpLarge(t);
    const random = seededRandom(1);
    const steps = 400;
    const closed = new Set<number>();
    for (let step = 0; step < steps; step++) {
      for (let change = 0; change < 4; change++) {
        const offer = Math.floor(random() * catalog.offers.length);
        if (!closed.delete(offer) && random() < step / 200) closed.add(offer);
      }
      if (step === 300) session.mergeFields([amount, 12_000]);
      shelf.closed = closing([...closed], catalog);
      const sort = sortOrders[step % sortOrders.length]!;
      const maxOffers = 1 + Math.floor(random() * 20);
      const view = parse(await ask({ sort, max_offers: String(maxOffers) }));
      const plain = rankOffers(catalog.tables, session.fields, session.cachedRanking!.rankedOn, shelf.closed.bits);
      const places = plain.orders.length / sortOrders.length;
      const from = sortOrders.indexOf(sort) * places;
      const open = [...plain.orders.subarray(from, from + places)].filter((offer) => !closed.has(offer));
      assert.deepEqual(
        view.offers.map(({ svc_offer_id: id, position }) => [catalog.offerIndex(id), position]),
        open.slice(0, maxOffers).map((offer, at) => [offer, at + 1]),
      );
      assert.equal(view.total_offers, plain.total);
      assert.equal(view.match_quality === 'none', plain.total === 0);
    }
    assert.ok(shelf.rankings > 5 && shelf.rankings < steps / 2, `${shelf.rankings} rankings`);
  });

  it('answers a ranking that was under way when offers closed, with those still open', async (t) => {
    const { catalog, shelf, ask, session } = await setUpLarge(t, 1);
    const before = parse(await ask({}));
    session.mergeFields([amount, session.fields[amount]!]);
    const asked = ask({});
    shelf.closed = closing([catalog.offerIndex(before.offers[0]!.svc_offer_id)], catalog);
    const after = parse(await asked);
    assert.deepEqual(after.offers[0]!.svc_offer_id, before.offers[1]!.svc_offer_id);
    assert.equal(after.total_offers, before.total_offers - 1);
    assert.equal(shelf.rankings, 2);
  });
});

it('ranks anew on the next day, when a borrower may have come of age', async (t) => {
  const { clock, session, show } = await setUp(t, 0, new ManualClock(Date.UTC(2026, 4, 20, 23)));
  // In Alabama a borrower of 18 is too young.
  session.mergeFields(validateFields(vertical, { state: 'AL', birthdate: '2007-05-21' }, 2026_05_20).changes);
  const totalNow = async () => {
    const shown = await show(false);
    assert(shown.ok);
    return JSON.parse(shown.value).total_offers;
  };
  assert.equal(await totalNow(), 0);
  clock.advance(60 * 60 * 1000 - 1);
  assert.equal(await totalNow(), 0);
  clock.advance(1);
  assert.ok((await totalNow()) > 0);
});

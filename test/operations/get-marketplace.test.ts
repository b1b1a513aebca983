import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { type CancelSignal, SerialQueue } from '../../src/domain/async.ts';
import { findFieldIndex } from '../../src/domain/field-vector.ts';
import { type Outcome, serviceUnavailable } from '../../src/domain/outcome.ts';
import { validatePocketFields } from '../../src/domain/pocket-fields.ts';
import { sortOrderNames } from '../../src/domain/vertical.ts';
import { ClickTokenCipher } from '../../src/ids/click-tokens.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { WidgetTokens } from '../../src/ids/widget-token.ts';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import {
  allOffersAvailable,
  createUnavailableOfferSet,
  type Matcher,
  type MatchRequest,
  readPackedOffer,
  type UnavailableOffers,
} from '../../src/matching/matcher.ts';
import { addOffer, emptyOfferSet, hasOffer } from '../../src/matching/offer-set.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import { reportIgnoredParameters } from '../../src/operations/api-operation.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import {
  createMarketplaceResponse,
  type GetMarketplaceDeps,
  getMarketplace,
  type MarketplaceResponse,
  renderMarketplaceJson,
} from '../../src/operations/get-marketplace.ts';
import type { ParameterTexts } from '../../src/operations/request-members.ts';
import type { OffersResult } from '../../src/operations/show-offers.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { mortgage } from '../../src/verticals/mortgage/mortgage.ts';
import type { LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { enlargedCatalog, withDailyCap } from '../support/changeable-catalogs.ts';
import { secretSetOf, testTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/random-catalog.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryLedger } from '../support/temporary-logs.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { callOperation, openSessionStore, sessionTtlMs } from './bench.ts';

const { vertical } = testTenant;
const offerUrls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });

function viewOf(outcome: Outcome<OffersResult>): MarketplaceResponse {
  assert(outcome.ok);
  return createMarketplaceResponse(outcome.value, offerUrls);
}

/** Prepares `getMarketplace` with a matcher of `threads` threads, and creates a test session with all fields. */
async function setUp(
  t: TestContext,
  threads: number,
  clock = new ManualClock(),
  sources = personalLoansFixture.catalogs,
) {
  const folder = temporaryFolder(t);
  const ledger = await openTemporaryLedger(t);
  const catalogs = new CatalogStore({
    registry: builtInVerticals,
    archiveFolder: folder,
    clock,
    catalogs: sources,
  });
  const matcher = await startMatcher({ threads, inThreadOffersMax: 0 });
  runAfterTest(t, () => matcher.close());
  const sessions = openSessionStore(t, clock);
  const subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  /** The test changes `unavailable`; `rankings` counts calls of the matcher. */
  const state: { unavailable: UnavailableOffers; rankings: number } = {
    unavailable: allOffersAvailable,
    rankings: 0,
  };
  const counting: Matcher = Object.create(matcher, {
    match: {
      value: (request: MatchRequest) => {
        state.rankings++;
        return matcher.match(request);
      },
    },
  });
  const deps: GetMarketplaceDeps = {
    clock,
    catalogs,
    matcher: counting,
    sessions,
    subIds,
    sessionTtlMs,
    ledger: ledger.log,
    clickTokens: new ClickTokenCipher(secretSetOf('ours'), new RandomBytesPool()),
    availability: {
      unavailableOffers: () => state.unavailable,
      listUnavailabilityReasons: (_catalog, offer) =>
        state.unavailable.bits !== null && hasOffer(state.unavailable.bits, offer) ? ['daily_cap'] : [],
    },
    explanations: new SerialQueue(1),
    offerUrls,
    tokens: new WidgetTokens(secretSetOf('ours')),
    random: new RandomBytesPool(),
    widgetUrl: '',
    widgetScriptUrl: '',
    onViewLost: () => assert.fail('unexpected lost view'),
    onSessionMissing: () => assert.fail('unexpected missing session'),
  };
  const subId = subIds.createSubId(clock.wallMs(), testTenant.account, vertical.number, testTenant.mode);
  sessions.add(subId);
  const session = sessions.get(subId)!;
  session.mergeFields(validatePocketFields(vertical, personalLoansFixture.complete, 2026_05_20).changes);
  type OffersOutcome = Outcome<OffersResult>;
  const ask = (more: ParameterTexts, signal: CancelSignal | null = null): OffersOutcome | Promise<OffersOutcome> => {
    const texts = { sub_id: subId, format: 'json', ...more };
    return callOperation(getMarketplace, deps, testTenant, { texts }, { signal }) as OffersOutcome;
  };
  const show = (explain: boolean, signal: CancelSignal | null = null) => ask({ explain: `${explain}` }, signal);
  const catalog = catalogs.currentCatalog(vertical.number, testTenant.mode);
  return { clock, ledger, sessions, session, catalog, state, ask, show };
}

const amount = findFieldIndex(vertical, vertical.roles.amount);

// A response waits for another event-loop turn if it needs an explanation or a matching thread.
for (const { threads, explain, what } of [
  { threads: 0, explain: true, what: 'an explanation' },
  { threads: 1, explain: false, what: 'a matching worker' },
]) {
  describe(`getMarketplace while it waits for ${what}`, () => {
    it('getMarketplace caches the ranking in the session', async (t) => {
      const { session, show } = await setUp(t, threads);
      const first = viewOf(await show(explain));
      assert.equal(session.cachedRanking!.ranking.total, first.total_offers);
      const second = show(false);
      assert(!(second instanceof Promise));
      assert.deepEqual(viewOf(second).offers, first.offers);
    });

    it('does not rank offers for a request that is cancelled while it waits in the queue', async (t) => {
      const { ledger, session, show } = await setUp(t, threads);
      const signal = { ended: false };
      const showing = show(explain, signal);
      signal.ended = true;
      assert.deepEqual(await showing, serviceUnavailable(1));
      assert.equal(session.cachedRanking, null);
      assert((await show(explain, { ended: false })).ok);
      assert.equal((await ledger.records()).length, 1);
    });

    it('if fields change during matching, returns the offers for the earlier field values and does not cache the ranking', async (t) => {
      const { session, show } = await setUp(t, threads);
      const before = viewOf(await show(explain));
      session.mergeFields([amount, session.pocketFields[amount]!]);
      const showing = show(explain);
      assert(showing instanceof Promise);
      session.mergeFields([amount, 100_000]);
      const after = viewOf(await showing);
      assert.equal(session.cachedRanking, null);
      const idsOf = ({ offers }: MarketplaceResponse) => offers.map(({ svc_offer_id: id }) => id);
      assert(idsOf(before).length > 0);
      assert.deepEqual(idsOf(after), idsOf(before));
    });

    it('returns offers for a session that expires during matching, and does not cache the ranking', async (t) => {
      const { clock, sessions, session, show } = await setUp(t, threads);
      const showing = show(explain);
      assert(showing instanceof Promise);
      clock.advance(sessionTtlMs);
      sessions.deleteExpiredSessions();
      assert.equal(sessions.size, 0);
      assert(viewOf(await showing).offers.length > 0);
      assert.equal(session.cachedRanking, null);
    });
  });
}

it('a request that is cancelled during matching counts no view, but its ranking is cached', async (t) => {
  const { ledger, session, show } = await setUp(t, 1);
  const signal = { ended: false };
  const showing = show(false, signal);
  await new Promise(setImmediate);
  signal.ended = true;
  assert.deepEqual(await showing, serviceUnavailable(1));
  assert.ok(session.cachedRanking!.ranking.total > 0);
  assert.deepEqual(await ledger.records(), []);
});

describe('getMarketplace if the availability of offers changes', () => {
  const [live, sandbox] = personalLoansFixture.catalogs;
  const large = {
    ...sandbox!,
    text: JSON.stringify(withDailyCap(enlargedCatalog(personalLoansFixture.catalogFiles.live, 2), 1)),
  };
  const setUpLarge = (t: TestContext, threads = 0) => setUp(t, threads, new ManualClock(), [live!, large]);
  const unavailableFrom = (offers: readonly number[], { offers: all }: CompiledCatalog): UnavailableOffers => {
    if (offers.length === 0) return allOffersAvailable;
    const bits = emptyOfferSet(all.length);
    for (const offer of offers) addOffer(bits, offer);
    return createUnavailableOfferSet(bits);
  };

  it('ranks again only if the cached ranking has too few available offers, or if it excludes offers that are now available', async (t) => {
    const { session, catalog, state, ask } = await setUpLarge(t);
    await ask({});
    const first = session.cachedRanking!.ranking.orders;
    const best = Array.from({ length: 13 }, (_, place) => readPackedOffer(first, place));
    const shown = async (closed: readonly number[], maxOffers: string) => {
      state.unavailable = unavailableFrom(closed, catalog);
      const { offers } = viewOf(await ask({ max_offers: maxOffers }));
      return { rankings: state.rankings, offers: offers.map(({ svc_offer_id: id }) => catalog.findOfferIndex(id)) };
    };
    assert.equal((await shown(best, '19')).rankings, 1);
    const { rankings, offers } = await shown(best, '20');
    assert.deepEqual([rankings, offers.length, session.cachedRanking!.ranking.availableOnly], [2, 20, true]);
    // A ranking of available offers is valid only for the offers that were available.
    assert.deepEqual(await shown(best.slice(1), '1'), { rankings: 3, offers: [best[0]] });
    const many = catalog.offers.map((_, offer) => offer).filter((offer) => !best.includes(offer));
    assert.deepEqual(await shown(many, '13'), { rankings: 3, offers: best });
    assert.deepEqual(await shown([], '13'), { rankings: 3, offers: best });
  });

  it('returns match_quality high only with at least three offers', async (t) => {
    const { catalog, state, ask } = await setUpLarge(t);
    const { offers } = viewOf(await ask({}));
    for (const [count, quality] of [
      [1, 'partial'],
      [2, 'partial'],
      [3, 'high'],
    ] as const) {
      const kept = new Set(offers.slice(0, count).map(({ svc_offer_id: id }) => catalog.findOfferIndex(id)));
      const others = catalog.offers.map((_, offer) => offer).filter((offer) => !kept.has(offer));
      state.unavailable = unavailableFrom(others, catalog);
      const view = viewOf(await ask({}));
      assert.deepEqual([view.total_offers, view.match_quality], [count, quality]);
    }
  });

  it('after random availability changes, the updated ranking equals a newly computed ranking in every sort order', async (t) => {
    const { session, catalog, state, ask } = await setUpLarge(t);
    const random = seededRandom(1);
    const steps = 400;
    const closed = new Set<number>();
    for (let step = 0; step < steps; step++) {
      for (let change = 0; change < 4; change++) {
        const offer = Math.floor(random() * catalog.offers.length);
        if (!closed.delete(offer) && random() < step / 200) closed.add(offer);
      }
      if (step === 300) session.mergeFields([amount, 12_000]);
      state.unavailable = unavailableFrom([...closed], catalog);
      const sort = sortOrderNames[step % sortOrderNames.length]!;
      const maxOffers = 1 + Math.floor(random() * 20);
      const view = viewOf(await ask({ sort, max_offers: String(maxOffers) }));
      const plain = rankLoans(
        catalog.tables as LoanTables,
        session.pocketFields,
        session.cachedRanking!.rankedOn,
        state.unavailable.bits,
      );
      const places = plain.orders.length / sortOrderNames.length;
      const from = sortOrderNames.indexOf(sort) * places;
      const open = [...plain.orders.subarray(from, from + places)].filter((offer) => !closed.has(offer));
      assert.deepEqual(
        view.offers.map(({ svc_offer_id: id, position }) => [catalog.findOfferIndex(id), position]),
        open.slice(0, maxOffers).map((offer, at) => [offer, at + 1]),
      );
      const { matched: total } = await explainOffers(
        builtInVerticals.getProduct(catalog.tables),
        catalog.tables,
        vertical,
        session.pocketFields,
        session.cachedRanking!.rankedOn,
        (offer) => (closed.has(offer) ? ['daily_cap'] : []),
      );
      assert.equal(view.total_offers, total);
      assert.equal(view.match_quality === 'none', total === 0);
    }
    assert.ok(state.rankings > 5 && state.rankings < 0.6 * steps, `${state.rankings} rankings`);
  });

  it('omits offers that become unavailable during matching', async (t) => {
    const { catalog, state, ask, session } = await setUpLarge(t, 1);
    const before = viewOf(await ask({}));
    session.mergeFields([amount, session.pocketFields[amount]!]);
    const asked = ask({});
    state.unavailable = unavailableFrom([catalog.findOfferIndex(before.offers[0]!.svc_offer_id)], catalog);
    const after = viewOf(await asked);
    assert.deepEqual(after.offers[0]!.svc_offer_id, before.offers[1]!.svc_offer_id);
    assert.equal(after.total_offers, before.total_offers - 1);
    assert.equal(state.rankings, 2);
  });
});

it('rejects explain requests above the queue limit, and counts no view for them', async (t) => {
  const { ledger, show } = await setUp(t, 0);
  const [first, second, third] = await Promise.all([show(true), show(true), show(true)]);
  assert.ok(first.ok && second.ok);
  assert.deepEqual(third, serviceUnavailable(1));
  assert.equal((await ledger.records()).length, 2);
});

it('ranks offers again on the next day, because eligibility depends on age', async (t) => {
  const { clock, session, show } = await setUp(t, 0, new ManualClock(Date.UTC(2026, 4, 20, 23)));
  // A borrower in Alabama must be older than 18.
  session.mergeFields(validatePocketFields(vertical, { state: 'AL', birthdate: '2007-05-21' }, 2026_05_20).changes);
  const totalNow = async () => viewOf(await show(false)).total_offers;
  assert.equal(await totalNow(), 0);
  clock.advance(60 * 60 * 1000 - 1);
  assert.equal(await totalNow(), 0);
  clock.advance(1);
  assert.ok((await totalNow()) > 0);
});

it('the rendered response text equals JSON.stringify of the response object', async (t) => {
  const { ask } = await setUp(t, 0);
  for (const [parameters, ignored] of [
    [{}, []],
    [{ sort: 'lowest_apr', max_offers: '2' }, ['Sort']],
    [{ explain: 'true' }, ['a', '"']],
  ] as const) {
    const outcome = await ask(parameters);
    assert(outcome.ok);
    assert.equal(
      renderMarketplaceJson(outcome.value, offerUrls, ignored),
      JSON.stringify(reportIgnoredParameters(viewOf(outcome), ignored)),
    );
  }
});

it('returns the correct offers to each request if several results arrive at the same time', async (t) => {
  const { session, ask } = await setUp(t, 1);
  const alone = [];
  for (const sort of sortOrderNames) {
    session.mergeFields([amount, session.pocketFields[amount]!]);
    alone.push(viewOf(await ask({ sort, max_offers: '20' })).offers);
  }
  assert.equal(new Set(alone.map((offers) => JSON.stringify(offers))).size, sortOrderNames.length);
  session.mergeFields([amount, session.pocketFields[amount]!]);
  const outcomes = await Promise.all(sortOrderNames.map((sort) => ask({ sort, max_offers: '20' })));
  assert.deepEqual(
    outcomes.map((outcome) => viewOf(outcome).offers.map(({ click_url: _url, ...offer }) => offer)),
    alone.map((offers) => offers.map(({ click_url: _url, ...offer }) => offer)),
  );
});

it('the parser for usual requests returns the same values as the parser that is derived from the schemas', () => {
  const text = (...texts: readonly string[]) => fc.constantFrom(undefined, ...texts);
  const texts = fc.record({
    sub_id: text('sub_1', ''),
    format: text('json', 'json', 'iframe', 'xml'),
    max_offers: text('1', '20', '21', '0', '05', 'x'),
    sort: text(...sortOrderNames, 'best'),
    explain: text('true', 'false', 'yes'),
  });
  let parsedCount = 0;
  fc.assert(
    fc.property(texts, fc.constantFrom(personalLoans, mortgage), (request, rules) => {
      const parsed = getMarketplace.parseValidTexts!(request, rules);
      if (parsed === null) return;
      parsedCount++;
      assert.deepEqual(getMarketplace.parameterValidator.parseTexts(request, rules), { ok: true, value: parsed });
    }),
    { numRuns: 2_000 },
  );
  assert.ok(parsedCount > 0);
});

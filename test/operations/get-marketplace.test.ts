import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { DailyCaps } from '../../src/clicks/daily-caps.ts';
import { OfferValueSeal } from '../../src/clicks/offer-value-seal.ts';
import type { CancelSignal } from '../../src/domain/cancel-signal.ts';
import { unavailable } from '../../src/domain/outcome.ts';
import { TaskQueue } from '../../src/domain/task-queue.ts';
import { openCatalogLibrary } from '../../src/offers/catalog-library.ts';
import { startMatcher } from '../../src/offers/start-matcher.ts';
import { type GetMarketplacePorts, getMarketplace } from '../../src/operations/get-marketplace.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { SubIds } from '../../src/sessions/sub-id.ts';
import { fieldIndex } from '../../src/verticals/pocket-vector.ts';
import { validateFields } from '../../src/verticals/validate-fields.ts';
import { afterwards } from '../support/afterwards.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { personalLoansFixture } from '../support/personal-loans-fixture.ts';
import { ringOf } from '../support/secrets.ts';
import { openTemporaryLedger } from '../support/temporary-ledger.ts';
import { testTenant } from '../support/tenants.ts';

const { vertical } = testTenant;
const sessionTtlMs = 4 * 60 * 60 * 1000;

/** A test session with all fields, and what shows it its offers, with a matcher of so many threads. */
async function setUp(t: TestContext, threads: number, clock = new ManualClock()) {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const ledger = await openTemporaryLedger(t);
  const catalogs = openCatalogLibrary({
    ...{ archiveFolder: folder, clock, cdnUrl: () => 'https://cdn.example' },
    catalogs: personalLoansFixture.catalogs,
  });
  const matcher = await startMatcher({ threads, inThreadOffersMax: 0, catalogs, verticals: [vertical] });
  afterwards(t, () => matcher.close());
  const sessions = new MemorySessionStore({
    ...{ clock, sessionTtlMs, fieldsMax: vertical.fields.length },
    ...{ sessionsMax: 100, parts: 1, sweepMs: 60_000 },
  });
  afterwards(t, () => sessions.close());
  const subIds = new SubIds(ringOf('ours'), 0, new RandomPool());
  const ports: GetMarketplacePorts = {
    ...{ clock, catalogs, matcher, sessions, subIds, sessionTtlMs, ledger: ledger.log },
    seal: new OfferValueSeal(ringOf('ours'), new RandomPool()),
    caps: new DailyCaps(clock.wallMs()),
    explanations: new TaskQueue(1),
    clickUrlHead: 'https://go.example/c?sub=',
    onViewLost: () => assert.fail('a view was lost'),
    onSessionMissing: () => assert.fail('a session was lost'),
  };
  const subId = subIds.issue(clock.wallMs(), testTenant.account, vertical.number, testTenant.mode);
  sessions.add(subId, testTenant);
  const session = sessions.get(subId)!;
  session.merge(validateFields(vertical, personalLoansFixture.complete, 2026_05_20).changes);
  const show = (explain: boolean, signal: CancelSignal | null = null) =>
    getMarketplace(ports, testTenant, { sub_id: subId, format: 'json', explain: `${explain}` }, true, signal);
  return { clock, ledger, sessions, session, show };
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
      assert.equal(session.ranked!.ranking.total, JSON.parse(shown.value).total_offers);
      const again = show(false);
      assert(!(again instanceof Promise));
      assert(again.ok);
      assert.deepEqual(JSON.parse(again.value).offers, JSON.parse(shown.value).offers);
    });

    it('ranks nothing for a request that is over before its turn', async (t) => {
      const { ledger, session, show } = await setUp(t, threads);
      const signal = { over: false };
      const showing = show(explain, signal);
      signal.over = true;
      assert.deepEqual(await showing, unavailable(1));
      assert.equal(session.ranked, null);
      assert((await show(explain, { over: false })).ok);
      assert.equal((await ledger.records()).length, 1);
    });

    it('keeps no ranking of fields that were merged over meanwhile, and shows the offers of those it began with', async (t) => {
      const { session, show } = await setUp(t, threads);
      const before = await show(explain);
      assert(before.ok);
      session.merge([amount, session.fields[amount]!]);
      const showing = show(explain);
      assert(showing instanceof Promise);
      session.merge([amount, 100_000]);
      const shown = await showing;
      assert(shown.ok);
      assert.equal(session.ranked, null);
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
      sessions.sweepNextPart();
      assert.equal(sessions.size, 0);
      const shown = await showing;
      assert(shown.ok);
      assert(JSON.parse(shown.value).offers.length > 0);
      assert.equal(session.ranked, null);
    });
  });
}

it('counts no view for a request that is over before a worker has answered, and keeps the ranking for its retry', async (t) => {
  const { ledger, session, show } = await setUp(t, 1);
  const signal = { over: false };
  const showing = show(false, signal);
  await new Promise(setImmediate);
  signal.over = true;
  assert.deepEqual(await showing, unavailable(1));
  assert.ok(session.ranked!.ranking.total > 0);
  assert.deepEqual(await ledger.records(), []);
});

it('ranks anew on the next day, when a borrower may have come of age', async (t) => {
  const { clock, session, show } = await setUp(t, 0, new ManualClock(Date.UTC(2026, 4, 20, 23)));
  // In Alabama a borrower of 18 is too young.
  session.merge(validateFields(vertical, { state: 'AL', birthdate: '2007-05-21' }, 2026_05_20).changes);
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

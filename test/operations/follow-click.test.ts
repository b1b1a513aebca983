import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ClickDecider } from '../../src/budgets/click-decider.ts';
import { LedgerBookings } from '../../src/budgets/ledger-bookings.ts';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import { ClickRecordLimiter } from '../../src/clicks/click-record-limiter.ts';
import { SharedTimeout } from '../../src/domain/async.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { ClickIds, ClickTokenCipher } from '../../src/ids/click-tokens.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { restoreAbsentItems, type UnbookedReason } from '../../src/ledger/ledger-record.ts';
import { type ClickRequest, followClick, type UncountedRequest } from '../../src/operations/follow-click.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { DeviceClassifier } from '../../src/user-agents/device-classifier.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { catalogOf, plainOffer } from '../matching/loan-fixtures.ts';
import { browsers } from '../support/browsers.ts';
import { liveTenant, secretSetOf, testTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryLedger } from '../support/temporary-logs.ts';
import { ledgerWith, openSessionStore, repairUntilDurable } from './bench.ts';

const hourMs = 60 * 60 * 1000;
const sandboxLandingUrl = 'https://go.example/c/sandbox';
const clicksPerLink = 3;
const clicksPerSession = 8;
/** Index of the credit band `700-749`, which every borrower of these tests has. */
const creditBand = 4;
const offerIds = ['an-offer', ...Array.from({ length: 19 }, (_, n) => `offer-${n}`)];
/** Value of a click on an offer of these tests: 5 of 100 clicks of the credit band result in a payout of 40 USD. */
const clickMicros = 2_000_000;

function catalogWith(changes: Partial<LoanOffer>): LoanCatalog {
  return catalogOf(offerIds.map((id) => plainOffer({ id, payout_usd: 40, ...changes })));
}

const liveOffers = { landing_url: 'https://lender.example/apply?ref=us&click={click_id}' };

type Bench = Awaited<ReturnType<typeof openBench>>;
type Link = Pick<ClickRequest, 'sub' | 'offer' | 'v'>;

/**
 * Prepares `followClick` with real stores.
 *
 * @param flatPayout whether the vertical has flat payouts
 * @param isLive whether the sessions of links are in the store with their rankings, as after GET /marketplace
 */
async function openBench(t: TestContext, isLive = true, flatPayout = false) {
  const clock = new ManualClock();
  const bookings = new LedgerBookings(clock.wallMs());
  const ledger = await openTemporaryLedger(t, bookings);
  const sessions = openSessionStore(t, clock);
  const folder = temporaryFolder(t);
  const file = join(folder, 'live.json');
  const writeCatalog = (changes: Partial<LoanOffer>) => writeFileSync(file, JSON.stringify(catalogWith(changes)));
  writeCatalog(liveOffers);
  const vertical = { ...liveTenant.vertical, flatPayout };
  const catalogs = new CatalogStore({
    registry: builtInVerticals,
    archiveFolder: join(folder, 'archive'),
    clock,
    catalogs: [
      { vertical, mode: 'live', file },
      { vertical, mode: 'test', text: JSON.stringify(catalogWith({})) },
    ],
  });
  const subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  const clickTokens = new ClickTokenCipher(secretSetOf('ours'), new RandomBytesPool());
  const clickIds = new ClickIds(secretSetOf('ours'), new RandomBytesPool());
  const clickTimeout = new SharedTimeout(60_000, 1_000);
  runAfterTest(t, () => clickTimeout.close());
  const deps = {
    clock,
    subIds,
    sessions,
    clickTokens,
    clickIds,
    catalogs,
    clickDecider: new ClickDecider(bookings),
    clickTimeout,
    sandboxLandingUrl,
    redirectHostUrl: 'https://go.example',
    devices: new DeviceClassifier(100),
    clickLimiter: new ClickRecordLimiter({
      clicksRecordedPerLinkMax: clicksPerLink,
      clickCountersMax: 2,
      clicksRecordedPerSessionMax: clicksPerSession,
      sessionClickCells: 4_096,
    }),
    ledger: ledger.log as Ledger,
    onUnrecorded: () => {
      bench.unrecorded++;
    },
    onUnbooked: (reason: UnbookedReason) => bench.unbooked.push(reason),
    onUncounted: (kind: 'bot' | UncountedRequest) => bench.uncounted.push(kind),
  };
  const bench = {
    deps,
    clock,
    bookings,
    ledger,
    sessions,
    catalogs,
    subIds,
    clickTokens,
    writeCatalog,
    /** Number of clicks that were redirected without a durable record. */
    unrecorded: 0,
    unbooked: [] as UnbookedReason[],
    uncounted: [] as string[],

    /** Creates a session. Returns the parameters of the click URL of an offer. */
    link({ account, vertical, mode }: Tenant = liveTenant): Link {
      const sub = subIds.createSubId(clock.wallMs(), account, vertical.number, mode);
      const catalogVersion = catalogs.currentCatalog(vertical.number, mode).version;
      const v = clickTokens.encrypt(subIds.toBytes(sub), { catalogVersion, creditBand });
      if (isLive) {
        sessions.add(sub);
        // A click does not use the offers of the ranking.
        const ranking = { catalogVersion, total: 0, availableOnly: false, orders: '' };
        const ranked = { ranking, rankedOn: 20260101, unavailableSet: 0, creditBand };
        sessions.get(sub)!.cacheRanking({ ...ranked, clickToken: v }, 0);
      }
      return { sub, offer: 'an-offer', v };
    },

    follow(request: Link & Partial<ClickRequest>, changes: Partial<typeof deps> = {}) {
      const { userAgent } = browsers[0]!;
      return followClick({ ...deps, ...changes }, { userAgent, uncounted: null, ...request });
    },

    /** Follows a link that must redirect. Returns the location, the click_id and its contents. */
    async redirect(request: Link & Partial<ClickRequest>, changes?: Partial<typeof deps>) {
      const outcome = await bench.follow(request, changes);
      assert(outcome.kind === 'redirect');
      return { ...outcome, click: clickIds.verify(outcome.clickId)! };
    },

    async reloadCatalog(changes: Partial<LoanOffer>): Promise<void> {
      writeCatalog(changes);
      const changed = await catalogs.reloadCatalog(vertical.number, 'live');
      assert(changed.ok && changed.changed);
    },
  };
  return bench;
}

/** Changes the catalog of a bench, and activates the limits of its offers. */
async function limitOffers(bench: Bench, limits: Partial<LoanOffer>): Promise<void> {
  bench.catalogs.onCatalogActivated((catalog) => bench.bookings.activateCatalog(catalog, bench.clock.wallMs()));
  await bench.reloadCatalog({ ...liveOffers, ...limits });
}

const clicksOf = (records: unknown[][]) => records.filter(([kind]) => kind === 3).map((record) => record.slice(6));

/** Creates a link and records its view. */
function shownLink(bench: Bench) {
  const link = bench.link();
  const view = [2, bench.clock.wallMs(), bench.subIds.toBytes(link.sub), 'version', ['an-offer']] as const;
  assert.notEqual(bench.ledger.log.appendWithoutWaiting(view), null);
  return link;
}

for (const isLive of [true, false]) {
  describe(`followClick for a session that is ${isLive ? 'live' : 'expired'}`, () => {
    it('redirects to the landing URL with a click_id that contains offer, time and value', async (t) => {
      const bench = await openBench(t, isLive);
      const link = bench.link();
      bench.clock.advance(hourMs);
      const { location, clickId, click } = await bench.redirect(link);
      assert.equal(location, `https://lender.example/apply?ref=us&click=${clickId}`);
      const { sub, ...rest } = click;
      assert.deepEqual(Buffer.from(sub), bench.subIds.toBytes(link.sub));
      const clickedMs = bench.clock.wallMs();
      const value = { valueMicros: clickMicros, payoutMicros: null };
      assert.deepEqual(rest, { offerId: 'an-offer', clickedMs, ...value, countable: true });
    });

    it('records the flat payout of the catalog version that was shown, with and without a limit of the offer', async (t) => {
      const bench = await openBench(t, isLive, true);
      bench.catalogs.onCatalogActivated((each) => bench.bookings.activateCatalog(each, bench.clock.wallMs()));
      for (const limit of [{ stars: 1 }, { daily_cap: 3 }]) {
        await bench.reloadCatalog({ ...liveOffers, ...limit });
        const links = [shownLink(bench), shownLink(bench)];
        await bench.reloadCatalog({ ...liveOffers, ...limit, payout_usd: 50 });
        for (const link of links) assert.equal((await bench.redirect(link)).click.payoutMicros, 40_000_000);
      }
      const clicks = (await bench.ledger.records()).filter(([kind]) => kind === 3);
      const stored = clicks.map((record) => restoreAbsentItems(record).slice(6));
      const undecided = [clickMicros, undefined, undefined, undefined, 40_000_000];
      assert.deepEqual(stored, [
        undecided,
        undecided,
        [clickMicros, true, null, false, 40_000_000],
        // The lender owes the full payout of a click that books no preliminary revenue.
        [0, false, 0, false, 40_000_000],
      ]);
    });

    it('rejects a click link with a forged session, offer or click token', async (t) => {
      const bench = await openBench(t, isLive);
      const link = bench.link();
      const other = bench.link();
      const last = link.sub.endsWith('0') ? '1' : '0';
      for (const forged of [
        { ...link, sub: '' },
        { ...link, sub: link.sub.slice(0, -1) + last },
        { ...link, sub: other.sub },
        { ...link, offer: '' },
        { ...link, offer: 'no-such-offer' },
        { ...link, offer: 'AN-OFFER' },
        { ...link, offer: '__proto__' },
        { ...link, offer: 'constructor' },
        { ...link, v: '' },
        { ...link, v: other.v },
        { ...link, v: `${link.v}A` },
        { ...link, v: `${link.v}=` },
        { ...link, v: `${link.v}\n` },
        { ...link, v: `!${link.v}` },
      ]) {
        assert.deepEqual(await bench.follow(forged), { kind: 'unknown' });
      }
      assert.equal(bench.ledger.log.lastAppendedPosition, 0);
      assert.equal((await bench.follow(link)).kind, 'redirect');
    });

    it('for 28 hours after a catalog change, old links use the landing URL and click value of the old catalog', async (t) => {
      const bench = await openBench(t, isLive);
      const link = bench.link();
      await bench.reloadCatalog({ landing_url: 'https://new.example/{click_id}', payout_usd: 99 });
      bench.clock.advance(28 * hourMs - 1);
      const old = await bench.redirect(link);
      assert.match(old.location, /^https:\/\/lender\.example\//);
      assert.equal(old.click.valueMicros, clickMicros);
      const fresh = await bench.redirect(bench.link());
      assert.match(fresh.location, /^https:\/\/new\.example\//);
      assert.equal(fresh.click.valueMicros, 99 * 50_000);
      bench.clock.advance(1);
      assert.deepEqual(await bench.follow(link), { kind: 'unknown' });
    });

    it('a sandbox click has no value even if the click token names a live catalog', async (t) => {
      const bench = await openBench(t, isLive);
      const { sub } = bench.link(testTenant);
      const catalogVersion = bench.catalogs.currentCatalog(1, 'live').version;
      const v = bench.clickTokens.encrypt(bench.subIds.toBytes(sub), { catalogVersion, creditBand });
      const { location, click } = await bench.redirect({ sub, offer: 'an-offer', v });
      assert(location.startsWith(sandboxLandingUrl));
      assert.equal(click.valueMicros, 0);
    });
  });
}

describe('followClick', () => {
  it('asks for a later retry without recording the click while the replaced catalog is not compiled', async (t) => {
    const bench = await openBench(t);
    const catalogs = { loadCatalogByVersion: async () => 'busy' } as unknown as CatalogStore;
    const outcome = await bench.follow(bench.link(), { catalogs });
    assert.deepEqual(outcome, { kind: 'retry_later', retryAfterSeconds: 1 });
    assert.deepEqual([bench.ledger.log.lastAppendedPosition, bench.unrecorded], [0, 0]);
  });

  it('writes a durable click record before the redirect, and issues a new click_id for each repeated click', async (t) => {
    const bench = await openBench(t);
    const link = bench.link();
    const { version } = bench.catalogs.currentCatalog(1, 'live');
    const { clickId } = await bench.redirect(link);
    bench.clock.advance(1);
    assert.notEqual((await bench.redirect(link)).clickId, clickId);
    assert.equal(bench.ledger.log.durablePosition, 2);
    const [, record] = await bench.ledger.records();
    const [kind, wallMs, sub, ...rest] = record!;
    assert.deepEqual([kind, wallMs], [3, bench.clock.wallMs()]);
    assert.deepEqual(Buffer.from(sub as Uint8Array), bench.subIds.toBytes(link.sub));
    assert.deepEqual(rest, [version, 'an-offer', 'Plain Lender', clickMicros]);
    assert.equal(bench.unrecorded, 0);
  });

  it('records clicks up to 24 hours after the creation of the session, and redirects later clicks without recording them', async (t) => {
    const bench = await openBench(t);
    const link = bench.link();
    bench.clock.advance(5 * hourMs);
    await bench.redirect(link);
    bench.clock.advance(19 * hourMs);
    await bench.redirect(link);
    assert.equal(bench.ledger.log.lastAppendedPosition, 2);
    bench.clock.advance(1);
    await bench.redirect(link);
    assert.equal(bench.ledger.log.lastAppendedPosition, 2);
    assert.equal(bench.unrecorded, 0);
  });

  it('redirects a sandbox click to the sandbox page, and counts its recorded amount towards the budget of the offer', async (t) => {
    const bench = await openBench(t);
    const { location, clickId, click } = await bench.redirect(bench.link(testTenant));
    assert.equal(location, `${sandboxLandingUrl}?click_id=${clickId}`);
    assert.equal(click.valueMicros, 0);
    const [record] = await bench.ledger.records();
    assert.equal(record!.at(-1), clickMicros);
  });

  it('redirects HEAD requests, parts of pages and bots without recording a click', async (t) => {
    const bench = await openBench(t);
    const link = bench.link();
    for (let i = 0; i < clicksPerLink; i++) {
      for (const request of [
        { uncounted: 'not_get' } as const,
        { uncounted: 'not_navigation' } as const,
        { userAgent: 'Googlebot/2.1' },
        { userAgent: 'facebookexternalhit/1.1' },
        { userAgent: 'UptimeRobot/2.0' },
      ]) {
        assert.equal((await bench.redirect({ ...link, ...request })).click.countable, false);
      }
    }
    assert.deepEqual([bench.ledger.log.lastAppendedPosition, bench.unrecorded], [0, 0]);
    const kinds = ['not_get', 'not_navigation', 'bot', 'bot', 'bot'];
    assert.deepEqual(bench.uncounted, [...kinds, ...kinds, ...kinds]);
    // These clicks do not count towards the limit of recorded clicks. User agents that are neither browsers nor bots count as people.
    for (const userAgent of ['', 'curl/8.5.0', 'python-requests/2.31.0']) await bench.redirect({ ...link, userAgent });
    assert.equal(bench.ledger.log.lastAppendedPosition, 3);
  });

  it('limits the recorded clicks of a link and of a session, and redirects clicks above the limits', async (t) => {
    const bench = await openBench(t);
    const link = bench.link();
    for (let i = 0; i < clicksPerLink + 2; i++) await bench.redirect(link);
    assert.equal(bench.ledger.log.lastAppendedPosition, clicksPerLink);
    const sessions = [bench.link(), bench.link()];
    for (const offer of offerIds) for (const each of sessions) await bench.redirect({ ...each, offer });
    assert.equal(bench.ledger.log.lastAppendedPosition, clicksPerLink + sessions.length * clicksPerSession);
    assert.equal((await bench.redirect(sessions[0]!)).click.countable, true);
  });

  it('redirects while the ledger cannot be written, counts the click as unrecorded and queues the click record', async (t) => {
    const bench = await openBench(t);
    bench.ledger.breakFiles();
    await bench.redirect(bench.link());
    assert.equal(bench.unrecorded, 1);
    while (bench.ledger.log.healthy) await new Promise(setImmediate);
    await bench.redirect(bench.link());
    await bench.redirect(bench.link());
    assert.equal(bench.unrecorded, 3);
    await repairUntilDurable(bench.ledger, 3);
    assert.equal((await bench.ledger.records()).length, 3);
  });

  it('redirects if the ledger is closed or a ledger write times out, and counts the click as unrecorded', async (t) => {
    const bench = await openBench(t);
    const clickTimeout = new SharedTimeout(1, 1);
    runAfterTest(t, () => clickTimeout.close());
    const ledger = ledgerWith(bench.ledger, () => ({ position: 1, durable: new Promise(() => {}) }));
    await bench.redirect(bench.link(), { ledger, clickTimeout });
    await bench.ledger.log.close();
    await bench.redirect(bench.link());
    assert.equal(bench.unrecorded, 2);
  });

  it('followClick throws unexpected errors of the ledger', async (t) => {
    const bench = await openBench(t);
    const durable = Promise.reject(new TypeError('a bug'));
    const ledger = ledgerWith(bench.ledger, () => ({ position: 1, durable }));
    await assert.rejects(bench.follow(bench.link(), { ledger }), TypeError);
  });
});

describe('followClick after a new ranking for the session', () => {
  it('the recorded value of a click comes from the ranking for which the click link was issued', async (t) => {
    const bench = await openBench(t);
    const link = bench.link();
    const session = bench.sessions.get(link.sub)!;
    const { cachedRanking } = session;
    session.cacheRanking({ ...cachedRanking!, clickToken: bench.link().v }, session.fieldsRevision);
    assert.equal((await bench.redirect(link)).click.valueMicros, clickMicros);
    session.mergeFields([0, 1]);
    assert.equal(session.cachedRanking, null);
    assert.equal((await bench.follow(link)).kind, 'redirect');
    assert.deepEqual(await bench.follow({ ...link, v: '' }), { kind: 'unknown' });
  });
});

describe('followClick for an offer with a budget', () => {
  it('a click beyond the budget redirects, and its record contains the value 0 and the reason', async (t) => {
    const bench = await openBench(t);
    await limitOffers(bench, { budget: { per_day_usd: 5, pacing: 'asap' } });
    const links = [1, 2, 3].map(() => shownLink(bench));
    const values: number[] = [];
    for (const link of links) values.push((await bench.redirect(link)).click.valueMicros);
    assert.deepEqual(values, [clickMicros, clickMicros, 0]);
    assert.deepEqual(clicksOf(await bench.ledger.records()), [
      [clickMicros, true, null],
      [clickMicros, true, null],
      [0, false, 1],
    ]);
    assert.deepEqual(bench.unbooked, ['budget']);
  });
});

describe('followClick for an offer with a daily cap', () => {
  async function capped(t: TestContext, cap: number): Promise<Bench> {
    const bench = await openBench(t);
    await limitOffers(bench, { daily_cap: cap });
    return bench;
  }

  it('a click record states whether the click was within the daily cap; a click above the cap has the value 0', async (t) => {
    const bench = await capped(t, 2);
    const links = [1, 2, 3].map(() => shownLink(bench));
    const values: number[] = [];
    for (const link of [...links.slice(0, 2), links[1]!, links[2]!, bench.link()]) {
      const { click, location } = await bench.redirect(link);
      assert.match(location, /^https:\/\/lender\.example\//);
      values.push(click.valueMicros);
    }
    assert.deepEqual(values, [clickMicros, clickMicros, 0, 0, 0]);
    assert.deepEqual(clicksOf(await bench.ledger.records()), [
      [clickMicros, true, null],
      [clickMicros, true, null],
      [0, null, null],
      [0, false, 0],
      [0, null, null],
    ]);
    assert.deepEqual(bench.unbooked, ['cap']);
  });

  it('bots and HEAD requests do not use up the daily cap; after the cap is reached, their clicks have the value 0', async (t) => {
    const bench = await capped(t, 1);
    const [link, other] = [shownLink(bench), shownLink(bench)];
    const worthOf = async (request: Partial<ClickRequest>) =>
      (await bench.redirect({ ...other, ...request })).click.valueMicros;
    assert.equal(await worthOf({ uncounted: 'not_get' }), clickMicros);
    assert.equal(await worthOf({ userAgent: 'Googlebot/2.1' }), clickMicros);
    await bench.redirect(link);
    assert.equal(await worthOf({ uncounted: 'not_get' }), 0);
    assert.equal(await worthOf({ userAgent: 'Googlebot/2.1' }), 0);
    assert.deepEqual(clicksOf(await bench.ledger.records()), [[clickMicros, true, null]]);
  });

  it('a click whose record is queued counts towards the daily cap; a click that the ledger rejects does not', async (t) => {
    const bench = await capped(t, 2);
    const links = [1, 2, 3, 4].map(() => shownLink(bench));
    await bench.redirect(links[0]!, { ledger: ledgerWith(bench.ledger, () => null) });
    assert.equal(bench.unrecorded, 1);
    bench.ledger.breakFiles();
    await bench.redirect(links[1]!);
    while (bench.ledger.log.healthy) await new Promise(setImmediate);
    await bench.redirect(links[2]!);
    assert.equal((await bench.redirect(links[3]!)).click.valueMicros, 0);
    await repairUntilDurable(bench.ledger, bench.ledger.log.lastAppendedPosition);
    assert.deepEqual(clicksOf(await bench.ledger.records()), [
      [clickMicros, true, null],
      [clickMicros, true, null],
      [0, false, 0],
    ]);
  });
});

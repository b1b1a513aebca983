import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import { ClickRecordLimiter } from '../../src/clicks/click-record-limiter.ts';
import { DailyCaps } from '../../src/clicks/daily-caps.ts';
import { SharedTimeout } from '../../src/domain/async.ts';
import { ClickIds, ClickTokenCipher } from '../../src/ids/click-tokens.ts';
import { formatSubId, SubIds } from '../../src/ids/sub-id.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { noUnavailableOffers } from '../../src/matching/matcher.ts';
import { type ClickRequest, followClick } from '../../src/operations/follow-click.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import type { CachedRanking } from '../../src/sessions/session-store.ts';
import { DeviceClassifier } from '../../src/user-agents/device-classifier.ts';
import type { LoanCatalog as CatalogFile } from '../../src/verticals/personal-loans/offer-schema.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { browsers } from '../support/browsers.ts';
import { liveTenant, secretRingOf, testTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openTemporaryLedger, type TemporaryLedger } from '../support/temporary-logs.ts';

const hourMs = 60 * 60 * 1000;
const sandboxLandingUrl = 'https://go.example/c/sandbox';
const clicksPerLink = 3;
const clicksPerSession = 8;
/** Index of the credit band `700-749`, which every borrower of these tests has. */
const creditBand = 4;
const offerIds = ['an-offer', ...Array.from({ length: 19 }, (_, n) => `offer-${n}`)];

/** Returns a catalog with this landing URL and payout. 5 of 100 clicks of the credit band result in a payout. */
function catalogOf(landing_url: string, payout_usd = 40): CatalogFile {
  return {
    format: 1,
    vertical: 'personal-loans',
    disclosure: 'Offers made up for tests.',
    max_apr_percent: 36,
    state_rules: {},
    lenders: [
      {
        name: 'Lender & Sons',
        logo: 'lender.svg',
        offers: offerIds.map((id) => ({
          id,
          stars: 4,
          features: [],
          prequalification: true,
          landing_url,
          amount: { min: 1_000, max: 50_000 },
          term_months: [36],
          criteria: [],
          payout_usd,
          bands: {
            '700-749': {
              note_rate_percent: { min: 8, max: 12 },
              origination_fee_percent: 0,
              approval_likelihood: 0.5,
              confirm_rate: 0.05,
              max_amount: 50_000,
            },
          },
        })),
      },
    ],
  };
}

const liveCatalog = catalogOf('https://lender.example/apply?ref=us&click={click_id}');
const clickMicros = 2_000_000;

class Bench {
  readonly clock = new ManualClock();
  readonly subIds = new SubIds(secretRingOf('ours'), new RandomPool());
  readonly clickTokens = new ClickTokenCipher(secretRingOf('ours'), new RandomPool());
  readonly clickIds = new ClickIds(secretRingOf('ours'), new RandomPool());
  readonly devices = new DeviceClassifier(100);
  readonly clickLimiter = new ClickRecordLimiter({
    clicksRecordedPerLinkMax: clicksPerLink,
    clickCountersMax: 2,
    clicksRecordedPerSessionMax: clicksPerSession,
    sessionClickCells: 4_096,
  });
  /** Timeout longer than any test. One test replaces this timeout. */
  clickTimeout = new SharedTimeout(60_000, 1_000);
  /** Whether the sessions of links are in the store with their rankings, as after GET /marketplace. */
  readonly isLive: boolean;
  readonly sessions: MemorySessionStore;
  readonly catalogs: CatalogStore;
  readonly catalogFile: string;
  readonly caps: DailyCaps;
  readonly ledger: TemporaryLedger;
  unrecorded = 0;

  private constructor(t: TestContext, clock: ManualClock, caps: DailyCaps, ledger: TemporaryLedger, isLive: boolean) {
    this.clock = clock;
    this.caps = caps;
    this.isLive = isLive;
    this.sessions = new MemorySessionStore({
      clock,
      sessionsMax: 100,
      sessionTtlMs: 4 * hourMs,
      fieldsMax: liveTenant.vertical.fields.length,
      shardCount: 1,
      sweepIntervalMs: 60_000,
    });
    const archiveFolder = mkdtempSync(join(tmpdir(), 'catalogs-'));
    t.after(() => {
      this.clickTimeout.close();
      this.sessions.close();
      rmSync(archiveFolder, { recursive: true });
    });
    this.ledger = ledger;
    this.catalogFile = join(archiveFolder, 'live.json');
    writeFileSync(this.catalogFile, JSON.stringify(liveCatalog));
    this.catalogs = new CatalogStore({
      archiveFolder: join(archiveFolder, 'archive'),
      clock: this.clock,
      cdnUrl: () => 'https://cdn.example',
      catalogs: [
        { vertical: liveTenant.vertical, mode: 'live', file: this.catalogFile },
        {
          vertical: liveTenant.vertical,
          mode: 'test',
          text: JSON.stringify(catalogOf('https://other.example/{click_id}')),
        },
      ],
    });
  }

  static async open(t: TestContext, isLive = true): Promise<Bench> {
    const clock = new ManualClock();
    const caps = new DailyCaps(clock.wallMs());
    return new Bench(t, clock, caps, await openTemporaryLedger(t, caps), isLive);
  }

  /** Creates a session. Returns the parameters of the click URL of an offer. */
  link(tenant: Tenant = liveTenant): { sub: string; offer: string; v: string } {
    const sub = this.subIds.issue(this.clock.wallMs(), tenant.account, tenant.vertical.number, tenant.mode);
    const catalogVersion = this.catalogs.currentCatalog(tenant.vertical.number, tenant.mode).version;
    const v = this.clickTokens.encrypt(this.subIds.toBytes(sub), { catalogVersion, creditBand });
    // A click does not use the offers of the ranking.
    const ranking = { catalogVersion, total: 0, availableOnly: false, orders: '' };
    if (this.isLive)
      this.addSession(sub, tenant, {
        ranking,
        rankedOn: 20260101,
        unavailableOffers: noUnavailableOffers,
        creditBand,
        clickToken: v,
      });
    return { sub, offer: 'an-offer', v };
  }

  addSession(sub: string, tenant: Tenant, ranked: CachedRanking): void {
    this.sessions.add(sub, tenant);
    this.sessions.get(sub)!.cacheRanking(ranked, 0);
  }

  follow(request: { sub: string; offer: string; v: string } & Partial<ClickRequest>, ledger: Ledger = this.ledger.log) {
    const { clock, subIds, sessions, clickTokens, clickIds, catalogs, devices, clickLimiter, clickTimeout, caps } =
      this;
    const onUnrecorded = () => {
      this.unrecorded++;
    };
    return followClick(
      {
        ...{ clock, subIds, sessions, clickTokens, clickIds, catalogs, devices, clickLimiter, clickTimeout, caps },
        ...{ ledger, sandboxLandingUrl, onUnrecorded },
      },
      { userAgent: browsers[0]!.userAgent, isRedirectOnly: false, ...request },
    );
  }

  /** Follows a link that must redirect. */
  async redirect(request: Parameters<Bench['follow']>[0], ledger?: Ledger) {
    const outcome = await this.follow(request, ledger);
    assert(outcome.kind === 'redirect');
    return outcome;
  }
}

for (const isLive of [true, false]) {
  describe(`followClick for a session that is ${isLive ? 'live' : 'expired'}`, () => {
    it('redirects to the landing URL with a click_id that contains offer, time and value', async (t) => {
      const bench = await Bench.open(t, isLive);
      const link = bench.link();
      bench.clock.advance(hourMs);
      const { location, clickId } = await bench.redirect(link);
      assert.equal(location, `https://lender.example/apply?ref=us&click=${clickId}`);
      const { sub, ...rest } = bench.clickIds.verify(clickId)!;
      assert.deepEqual(Buffer.from(sub), bench.subIds.toBytes(link.sub));
      const clickedMs = bench.clock.wallMs();
      assert.deepEqual(rest, { offerId: 'an-offer', clickedMs, valueMicros: clickMicros, countable: true });
    });

    it('rejects a click link with a forged session, offer or click token', async (t) => {
      const bench = await Bench.open(t, isLive);
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
      assert.equal(bench.ledger.log.appendedPosition, 0);
      assert.equal((await bench.follow(link)).kind, 'redirect');
    });

    it('uses landing URL and click value of the catalog of the link for 28 hours after a catalog change', async (t) => {
      const bench = await Bench.open(t, isLive);
      const link = bench.link();
      writeFileSync(bench.catalogFile, JSON.stringify(catalogOf('https://new.example/{click_id}', 99)));
      const changed = await bench.catalogs.reload(1, 'live');
      assert(changed.ok && changed.changed);
      bench.clock.advance(28 * hourMs - 1);
      const old = await bench.redirect(link);
      assert.match(old.location, /^https:\/\/lender\.example\//);
      assert.equal(bench.clickIds.verify(old.clickId)!.valueMicros, clickMicros);
      const fresh = await bench.redirect(bench.link());
      assert.match(fresh.location, /^https:\/\/new\.example\//);
      assert.equal(bench.clickIds.verify(fresh.clickId)!.valueMicros, 99 * 50_000);
      bench.clock.advance(1);
      assert.deepEqual(await bench.follow(link), { kind: 'unknown' });
    });

    it('a sandbox click has no value even if the click token names a live catalog', async (t) => {
      const bench = await Bench.open(t, isLive);
      const { sub } = bench.link(testTenant);
      const catalogVersion = bench.catalogs.currentCatalog(1, 'live').version;
      const v = bench.clickTokens.encrypt(bench.subIds.toBytes(sub), { catalogVersion, creditBand });
      const { location, clickId } = await bench.redirect({ sub, offer: 'an-offer', v });
      assert(location.startsWith(sandboxLandingUrl));
      assert.equal(bench.clickIds.verify(clickId)!.valueMicros, 0);
    });
  });
}

describe('followClick', () => {
  it('redirects each repeated click with a new click_id after the click record is durable', async (t) => {
    const bench = await Bench.open(t);
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
    assert.deepEqual(rest, [version, 'an-offer', 'Lender & Sons', clickMicros]);
    assert.equal(bench.unrecorded, 0);
  });

  it('records clicks up to 24 hours after the creation of the session, and redirects later clicks without a record', async (t) => {
    const bench = await Bench.open(t);
    const link = bench.link();
    bench.clock.advance(5 * hourMs);
    await bench.redirect(link);
    bench.clock.advance(19 * hourMs);
    await bench.redirect(link);
    assert.equal(bench.ledger.log.appendedPosition, 2);
    bench.clock.advance(1);
    await bench.redirect(link);
    assert.equal(bench.ledger.log.appendedPosition, 2);
    assert.equal(bench.unrecorded, 0);
  });

  it('redirects a sandbox click to the sandbox page and records no value', async (t) => {
    const bench = await Bench.open(t);
    const { location, clickId } = await bench.redirect(bench.link(testTenant));
    assert.equal(location, `${sandboxLandingUrl}?click_id=${clickId}`);
    assert.equal(bench.clickIds.verify(clickId)!.valueMicros, 0);
    const [record] = await bench.ledger.records();
    assert.equal(record!.at(-1), 0);
  });

  it('redirects HEAD requests and bots without a record and with a click_id that cannot be confirmed', async (t) => {
    const bench = await Bench.open(t);
    const link = bench.link();
    for (let i = 0; i < clicksPerLink; i++) {
      for (const request of [
        { isRedirectOnly: true },
        { userAgent: 'Googlebot/2.1' },
        { userAgent: 'facebookexternalhit/1.1' },
        { userAgent: 'UptimeRobot/2.0' },
      ]) {
        const { clickId } = await bench.redirect({ ...link, ...request });
        assert.equal(bench.clickIds.verify(clickId)!.countable, false);
      }
    }
    assert.deepEqual([bench.ledger.log.appendedPosition, bench.unrecorded], [0, 0]);
    // These clicks do not count towards the limit of recorded clicks. User agents that are neither browsers nor bots count as people.
    for (const userAgent of ['', 'curl/8.5.0', 'python-requests/2.31.0']) await bench.redirect({ ...link, userAgent });
    assert.equal(bench.ledger.log.appendedPosition, 3);
  });

  it('limits the recorded clicks of a link, and redirects clicks above the limit', async (t) => {
    const bench = await Bench.open(t);
    const link = bench.link();
    for (let i = 0; i < clicksPerLink + 2; i++) await bench.redirect(link);
    assert.equal(bench.ledger.log.appendedPosition, clicksPerLink);
    await bench.redirect(bench.link());
    assert.equal(bench.ledger.log.appendedPosition, clicksPerLink + 1);
  });

  it('limits the recorded clicks of a session, and redirects clicks above the limit', async (t) => {
    const bench = await Bench.open(t);
    const sessions = [bench.link(), bench.link(), bench.link()];
    for (let round = 0; round < 3; round++) {
      for (const offer of offerIds) for (const link of sessions) await bench.redirect({ ...link, offer });
    }
    assert.equal(bench.ledger.log.appendedPosition, sessions.length * clicksPerSession);
    const { clickId } = await bench.redirect(sessions[0]!);
    assert.equal(bench.clickIds.verify(clickId)!.countable, true);
  });

  it('redirects while the ledger cannot be written, counts the click as unrecorded and queues the click record', async (t) => {
    const bench = await Bench.open(t);
    bench.ledger.breakFiles();
    await bench.redirect(bench.link());
    assert.equal(bench.unrecorded, 1);
    while (bench.ledger.log.healthy) await new Promise((resolve) => setImmediate(resolve));
    await bench.redirect(bench.link());
    await bench.redirect(bench.link());
    assert.equal(bench.unrecorded, 3);
    const recovered = new Promise<void>((resolve) =>
      bench.ledger.log.setDurableListener((position) => position === 3 && resolve()),
    );
    bench.ledger.repairFiles();
    await recovered;
    assert.equal((await bench.ledger.records()).length, 3);
  });

  it('redirects if the ledger is closed, and counts the click as unrecorded', async (t) => {
    const bench = await Bench.open(t);
    await bench.ledger.log.close();
    await bench.redirect(bench.link());
    assert.equal(bench.unrecorded, 1);
  });

  it('redirects if the ledger write times out, and counts the click as unrecorded', async (t) => {
    const bench = await Bench.open(t);
    bench.clickTimeout = new SharedTimeout(1, 1);
    const stalled = Object.create(bench.ledger.log, {
      append: { value: () => ({ position: 1, durable: new Promise(() => {}) }) },
      healthy: { value: true },
    }) as Ledger;
    await bench.redirect(bench.link(), stalled);
    assert.equal(bench.unrecorded, 1);
  });

  it('followClick throws unexpected errors of the ledger', async (t) => {
    const bench = await Bench.open(t);
    const broken = Object.create(bench.ledger.log, {
      append: { value: () => ({ position: 1, durable: Promise.reject(new TypeError('a bug')) }) },
      healthy: { value: true },
    }) as Ledger;
    await assert.rejects(bench.follow(bench.link(), broken), TypeError);
  });

  it('followClick records concurrent clicks of many sessions', async (t) => {
    const bench = await Bench.open(t);
    const links = Array.from({ length: 40 }, () => bench.link());
    const outcomes = await Promise.all(links.map((link) => bench.redirect(link)));
    const clicked = outcomes.map(({ clickId }) => bench.clickIds.verify(clickId)!.sub);
    const recorded = (await bench.ledger.records()).map(([, , sub]) => sub as Uint8Array);
    for (const subs of [clicked, recorded]) {
      assert.deepEqual(
        subs.map((sub) => formatSubId(sub)),
        links.map(({ sub }) => sub),
      );
    }
  });
});

describe('followClick after a new ranking for the session', () => {
  it('records the click value of the ranking for which the link was issued', async (t) => {
    const bench = await Bench.open(t);
    const link = bench.link();
    const session = bench.sessions.get(link.sub)!;
    const { cachedRanking } = session;
    session.cacheRanking({ ...cachedRanking!, clickToken: bench.link().v }, session.revision);
    const { clickId } = await bench.redirect(link);
    assert.equal(bench.clickIds.verify(clickId)!.valueMicros, clickMicros);
    session.mergeFields([0, 1]);
    assert.equal(session.cachedRanking, null);
    assert.equal((await bench.follow(link)).kind, 'redirect');
    assert.deepEqual(await bench.follow({ ...link, v: '' }), { kind: 'unknown' });
  });
});

describe('followClick for an offer with a daily cap', () => {
  async function capped(t: TestContext, cap: number): Promise<Bench> {
    const bench = await Bench.open(t);
    const [live, ...rest] = liveCatalog.lenders;
    const offers = live!.offers.map((offer) => ({ ...offer, daily_cap: cap }));
    writeFileSync(bench.catalogFile, JSON.stringify({ ...liveCatalog, lenders: [{ ...live, offers }, ...rest] }));
    bench.catalogs.onActivate((catalog) => bench.caps.activate(catalog, bench.clock.wallMs()));
    assert((await bench.catalogs.reload(1, 'live')).ok);
    return bench;
  }

  /** Creates a link and records its view. */
  function shownLink(bench: Bench) {
    const link = bench.link();
    const view = [2, bench.clock.wallMs(), bench.subIds.toBytes(link.sub), 'version', ['an-offer']] as const;
    assert.notEqual(bench.ledger.log.appendWithoutWaiting(view), null);
    return link;
  }

  const clicksOf = (records: unknown[][]) => records.filter(([kind]) => kind === 3).map((record) => record.slice(6));

  it('records whether a click was within the daily cap, and no value for a click above the cap', async (t) => {
    const bench = await capped(t, 2);
    const links = [1, 2, 3].map(() => shownLink(bench));
    const values: (number | undefined)[] = [];
    for (const link of [...links.slice(0, 2), links[1]!, links[2]!, bench.link()]) {
      const { clickId, location } = await bench.redirect(link);
      assert.match(location, /^https:\/\/lender\.example\//);
      values.push(bench.clickIds.verify(clickId)?.valueMicros);
    }
    assert.deepEqual(values, [clickMicros, clickMicros, 0, 0, 0]);
    assert.deepEqual(clicksOf(await bench.ledger.records()), [
      [clickMicros, true],
      [clickMicros, true],
      [0, null],
      [0, false],
      [0, null],
    ]);
  });

  it('clicks of HEAD requests and bots do not count towards the daily cap, and have no value above the cap', async (t) => {
    const bench = await capped(t, 1);
    const [link, other] = [shownLink(bench), shownLink(bench)];
    const worthOf = async (request: Partial<ClickRequest>) =>
      bench.clickIds.verify((await bench.redirect({ ...other, ...request })).clickId)!.valueMicros;
    assert.equal(await worthOf({ isRedirectOnly: true }), clickMicros);
    assert.equal(await worthOf({ userAgent: 'Googlebot/2.1' }), clickMicros);
    await bench.redirect(link);
    assert.equal(await worthOf({ isRedirectOnly: true }), 0);
    assert.equal(await worthOf({ userAgent: 'Googlebot/2.1' }), 0);
    assert.deepEqual(clicksOf(await bench.ledger.records()), [[clickMicros, true]]);
  });

  it('only one of several concurrent clicks counts if the daily cap allows one more click', async (t) => {
    const bench = await capped(t, 1);
    const links = [1, 2, 3, 4].map(() => shownLink(bench));
    await Promise.all(links.map((link) => bench.follow(link)));
    assert.deepEqual(clicksOf(await bench.ledger.records()), [
      [clickMicros, true],
      [0, false],
      [0, false],
      [0, false],
    ]);
  });

  it('a click whose record is queued counts towards the daily cap; a click that the ledger rejects does not', async (t) => {
    const bench = await capped(t, 2);
    const links = [1, 2, 3, 4].map(() => shownLink(bench));
    const full = Object.create(bench.ledger.log, {
      append: { value: () => null },
      healthy: { value: true },
    }) as Ledger;
    await bench.redirect(links[0]!, full);
    assert.equal(bench.unrecorded, 1);
    bench.ledger.breakFiles();
    await bench.redirect(links[1]!);
    while (bench.ledger.log.healthy) await new Promise((resolve) => setImmediate(resolve));
    await bench.redirect(links[2]!);
    const { clickId } = await bench.redirect(links[3]!);
    assert.equal(bench.clickIds.verify(clickId)!.valueMicros, 0);
    const recovered = new Promise<void>((resolve) =>
      bench.ledger.log.setDurableListener((position) => position === bench.ledger.log.appendedPosition && resolve()),
    );
    bench.ledger.repairFiles();
    await recovered;
    assert.deepEqual(clicksOf(await bench.ledger.records()), [
      [clickMicros, true],
      [clickMicros, true],
      [0, false],
    ]);
  });
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { OfferAnalytics } from '../../src/operations/analytics-schemas.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { ChangeableCatalogs, withBudgets, withDailyCap, withoutOffers } from '../support/changeable-catalogs.ts';
import { describeServiceOnEveryEngine } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

interface ShownCatalog {
  readonly mode: string;
  readonly version: string;
  readonly file: string | null;
  readonly activated_at: string;
  readonly reload_failed: boolean;
  readonly reload_errors: readonly string[];
  readonly offers: Readonly<Record<string, number>>;
}

interface ShownOffer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly state: string;
  readonly reasons: readonly string[];
  readonly daily_cap: unknown;
  readonly budget: { readonly spent_by_hour_usd: readonly number[]; readonly even_pacing: unknown } | null;
  readonly last_30_days: Readonly<Record<string, number>>;
}

interface OfferPage {
  readonly data: readonly ShownOffer[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
  readonly version: string;
  readonly from: string;
  readonly to: string;
}

const hourMs = 60 * 60 * 1000;
const { creditBand, complete, clickMicros, vertical } = fixture;
const clickUsd = (offer: LoanOffer) => clickMicros(offer, complete[creditBand] as string) / 1_000_000;
const offersOf = ({ lenders }: LoanCatalog) => lenders.flatMap(({ offers }) => offers);
const livePath = `/catalogs/${vertical.segment}/live`;

const catalogs = new ChangeableCatalogs(fixture);
const initial = catalogs.initialCatalog;

const declareTests = ({ running }: { readonly running: () => RunningMarketplace }) => {
  let market: RunningMarketplace;
  /** Callers of two accounts. */
  let callers: readonly ApiCaller[];
  /** Offers with a daily cap, with a used budget, with even pacing, and with old figures. */
  let [cappedId, spentId, pacedId, outdatedId]: string[] = [];
  before(() => {
    market = running();
    callers = ['one', 'two'].map((account) => market.caller(fixture, { account }));
  });
  after(() => catalogs.writeCatalog(initial));

  const ask = (path: string) => askOperator(market, { path });
  const readOffers = async (query = '') => assertOk<OfferPage>(await ask(`${livePath}/offers?${query}`));
  const readLiveCatalog = async () =>
    assertOk<ShownCatalog[]>(await ask('/catalogs')).find(({ mode }) => mode === 'live')!;
  const findOffer = async (id: string) => (await readOffers()).data.find((offer) => offer.svc_offer_id === id)!;

  /** Clicks those of the offers that are shown to a new session of each account. The accounts click two hours apart. */
  async function clickOffers(ids: readonly string[]): Promise<void> {
    const visits = [];
    for (const caller of callers) {
      const subId = await caller.createSessionWithFields('catalogs', complete);
      visits.push({ caller, ...(await caller.offers(subId, { max_offers: 20 })) });
    }
    for (const { caller, offers } of visits) {
      for (const offer of offers) if (ids.includes(offer.svc_offer_id)) await caller.click(offer.click_url);
      market.clock.advance(2 * hourMs);
    }
  }

  function limitOffers(): LoanCatalog {
    const budgetOf = (offer: LoanOffer): LoanOffer['budget'] => {
      // One click fits into the budget. The budget must cover the largest click of the offer.
      const largest = Math.max(...Object.keys(offer.bands).map((band) => clickMicros(offer, band)));
      if (offer.id === spentId) return { per_day_usd: largest / 1_000_000, pacing: 'asap' };
      // One click for each of the twelve remaining days of the month.
      return offer.id === pacedId
        ? { per_month_usd: (12 * clickMicros(offer, complete[creditBand] as string)) / 1_000_000, pacing: 'even' }
        : undefined;
    };
    const limited = structuredClone(withBudgets(withDailyCap(initial, 1, [cappedId!]), budgetOf));
    for (const offer of offersOf(limited)) if (offer.id === outdatedId) Object.assign(offer, { as_of: '2026-05-01' });
    return { ...limited, max_age_days: 10 };
  }

  test('GET /catalogs shows each catalog in use, and the errors of a failed reload', async () => {
    const first = await readLiveCatalog();
    const total = offersOf(initial).length;
    const { version, file, ...others } = first;
    assert.match(version, /^[0-9a-f]{12}$/);
    assert.match(file!, /live\.json$/);
    assert.deepEqual(others, {
      vertical: vertical.segment,
      mode: 'live',
      activated_at: others.activated_at,
      reload_failed: false,
      reload_errors: [],
      offers: { total, shown: total, outdated: 0, daily_cap: 0, budget: 0, paced: 0 },
    });
    catalogs.writeCatalog({ ...initial, disclosure: '', lenders: [] });
    await market.marketplace.reloadCatalogs();
    const failed = await readLiveCatalog();
    assert.deepEqual([failed.version, failed.reload_failed], [version, true]);
    assert.ok(
      failed.reload_errors.some((line) => line.includes('lenders')),
      failed.reload_errors.join('\n'),
    );
    catalogs.writeCatalog(initial);
    await market.marketplace.reloadCatalogs();
    assert.deepEqual(await readLiveCatalog(), first);
  });

  test('the offers show their states, and the use of caps and budgets', async () => {
    const subId = await callers[0]!.createSessionWithFields('catalogs', complete);
    const { offers } = await callers[0]!.offers(subId, { max_offers: 20 });
    const paid = offers
      .map(({ svc_offer_id: id }) => id)
      .filter((id) => clickUsd(offersOf(initial).find((each) => each.id === id)!) > 0);
    [cappedId, spentId, pacedId, outdatedId] = paid;
    const limited = limitOffers();
    catalogs.writeCatalog(limited);
    const [reloaded] = await market.marketplace.reloadCatalogs();
    assert.ok(reloaded?.ok, JSON.stringify(reloaded));
    const startMs = market.clock.wallMs();
    await clickOffers([cappedId!, spentId!, pacedId!]);

    const total = offersOf(initial).length;
    const { offers: counts } = await readLiveCatalog();
    assert.deepEqual(counts, { total, shown: total - 4, outdated: 1, daily_cap: 1, budget: 1, paced: 1 });
    const byState = async (state: string) =>
      (await readOffers(`state=${state}`)).data.map(({ svc_offer_id: id }) => id);
    for (const [state, id] of [
      ['daily_cap', cappedId],
      ['budget', spentId],
      ['paced', pacedId],
      ['outdated', outdatedId],
    ]) {
      assert.deepEqual(await byState(state!), [id]);
      const offer = await findOffer(id!);
      assert.deepEqual([offer.state, offer.reasons], [state, [state]]);
    }
    assert.equal((await byState('shown')).length, total - 4);

    assert.deepEqual((await findOffer(cappedId!)).daily_cap, { limit: 1, used: 1 });
    const spent = offersOf(limited).find(({ id }) => id === spentId)!;
    const hours = (usd: readonly number[]) =>
      Array.from({ length: 24 }, (_, hour) => usd[(hour - new Date(startMs).getUTCHours()) / 2] ?? 0);
    assert.deepEqual((await findOffer(spentId!)).budget, {
      pacing: 'asap',
      day: { limit_usd: spent.budget!.per_day_usd, spent_usd: clickUsd(spent) },
      month: null,
      spent_today_usd: clickUsd(spent),
      spent_by_hour_usd: hours([clickUsd(spent)]),
      even_pacing: null,
    });
    const paced = offersOf(limited).find(({ id }) => id === pacedId)!;
    const { even_pacing, ...budget } = (await findOffer(pacedId!)).budget!;
    assert.deepEqual(budget, {
      pacing: 'even',
      day: null,
      month: { limit_usd: paced.budget!.per_month_usd, spent_usd: 2 * clickUsd(paced) },
      spent_today_usd: 2 * clickUsd(paced),
      spent_by_hour_usd: hours([clickUsd(paced), clickUsd(paced)]),
    });
    // Without clicks of earlier days, even pacing spends the budget evenly.
    const passed = (market.clock.wallMs() - Date.UTC(2026, 4, 20)) / (24 * hourMs);
    const { hidden_until, target_by_hour_usd, ...target } = even_pacing as Record<string, unknown>;
    const usd = (share: number) => Math.round(clickUsd(paced) * share * 1_000_000) / 1_000_000;
    assert.deepEqual(target, { day_budget_usd: clickUsd(paced), target_usd: usd(passed) });
    assert.deepEqual(
      target_by_hour_usd,
      Array.from({ length: 24 }, (_, hour) => usd((hour + 1) / 24)),
    );
    // The offer is shown again when the target reaches what is spent, less one click of the smallest amount.
    assert.ok(Date.parse(hidden_until as string) > market.clock.wallMs());

    const before = (await readOffers()).data;
    await market.restart();
    callers = callers.map(({ key }) => market.callerWithKey(fixture, key));
    assert.deepEqual((await readOffers()).data, before);
  });

  test('GET .../changes lists the differences from the version before', async () => {
    interface ChangePage {
      readonly data: readonly { readonly svc_offer_id: string; readonly change: string; readonly members: unknown }[];
      readonly next_cursor: string | null;
      readonly [member: string]: unknown;
    }
    const readChanges = async (query = '') => assertOk<ChangePage>(await ask(`${livePath}/changes?${query}`));
    const { data, ...page } = await readChanges();
    const { version, activated_at } = await readLiveCatalog();
    assert.deepEqual(page, {
      version,
      activated_at,
      previous_version: page.previous_version,
      replaced_at: page.replaced_at,
      offers: { added: 0, removed: 0, changed: 4 },
      catalog_members: ['max_age_days'],
      ...{ has_more: false, next_cursor: null },
    });
    const limited = limitOffers();
    const find = (id: string | undefined) => offersOf(limited).find((offer) => offer.id === id)!;
    const membersOf = (id: string | undefined) => data.find((offer) => offer.svc_offer_id === id)?.members;
    assert.deepEqual(membersOf(cappedId), [{ name: 'daily_cap', after: 1 }]);
    assert.deepEqual(membersOf(spentId), [{ name: 'budget', after: find(spentId).budget }]);
    assert.deepEqual(membersOf(outdatedId), [{ name: 'as_of', after: '2026-05-01' }]);
    assert.deepEqual(
      data.map(({ svc_offer_id: id }) => id),
      [cappedId, spentId, pacedId, outdatedId].sort(),
    );

    const first = await readChanges('limit=3');
    assert.deepEqual(first.data, data.slice(0, 3));
    assert.deepEqual((await readChanges(`limit=3&cursor=${first.next_cursor}`)).data, data.slice(3));
    const none = assertOk<ChangePage>(await ask(`/catalogs/${vertical.segment}/test/changes`));
    assert.deepEqual([none.data, none.previous_version, none.replaced_at], [[], null, null]);

    const [added, removed] = [{ ...find(cappedId), id: 'a-new-offer', features: [] }, offersOf(limited).at(-1)!.id];
    const [lender, ...lenders] = structuredClone(limited.lenders);
    const changed = { ...limited, lenders: [{ ...lender!, name: 'Renamed' }, ...lenders] };
    const shrunk = withoutOffers(changed, [removed]);
    shrunk.lenders[0]!.offers.push(added);
    catalogs.writeCatalog(shrunk);
    await market.marketplace.reloadCatalogs();
    // The cursor belongs to other versions.
    assertError(await ask(`${livePath}/changes?cursor=${first.next_cursor}`), 'INVALID_REQUEST', 'cursor');
    for (const cursor of ['', '1', `${version}.${version}.0`, echoMarker, '%00']) {
      assertError(await ask(`${livePath}/changes?cursor=${cursor}`), 'INVALID_REQUEST', 'cursor');
    }
    assertError(await ask('/catalogs/boats/live/changes'), 'NOT_FOUND');
    const next = await readChanges();
    assert.equal(next.previous_version, version);
    const renamed = lender!.offers.map(({ id }) => id);
    const expected = {
      ...Object.fromEntries(renamed.map((id) => [id, 'changed'])),
      'a-new-offer': 'added',
      [removed]: 'removed',
    };
    assert.deepEqual(Object.fromEntries(next.data.map(({ svc_offer_id: id, change }) => [id, change])), expected);
    const name = { name: 'lender.name', before: lender!.name, after: 'Renamed' };
    assert.deepEqual(next.data.find(({ svc_offer_id: id }) => id === renamed[0])?.members, [name]);
    await market.restart();
    callers = callers.map(({ key }) => market.callerWithKey(fixture, key));
    assert.deepEqual((await readChanges()).data, next.data);
    catalogs.writeCatalog(limited);
    await market.marketplace.reloadCatalogs();
  });

  test('the figures of the last 30 days are the sums of what the partners see', async () => {
    const lateMs = 40 * 24 * hourMs;
    const { data, from, to } = await readOffers();
    assert.deepEqual([from, to], ['2026-04-21', '2026-05-20']);
    const sums = new Map<string, number[]>();
    for (const caller of callers) {
      const query = { referrer_tag: 'catalogs', granularity: 'offer', date_from: from, date_to: to, limit: 100 };
      const page = assertOk<OfferAnalytics>(await caller.get('analytics', query));
      for (const offer of page.data) {
        const sum = sums.get(offer.svc_offer_id) ?? [0, 0, 0, 0];
        const figures = [offer.shown, offer.offer_clicks, offer.rev_attributed, offer.rev_confirmed];
        sums.set(
          offer.svc_offer_id,
          sum.map((value, index) => value + figures[index]!),
        );
      }
    }
    assert.ok(sums.get(pacedId!)![1] === 2 && sums.get(outdatedId!)![0]! > 0);
    for (const { svc_offer_id: id, last_30_days: totals } of data) {
      assert.deepEqual(Object.keys(totals), ['shown', 'offer_clicks', 'rev_attributed', 'rev_confirmed']);
      assert.deepEqual(Object.values(totals), sums.get(id) ?? [0, 0, 0, 0], id);
    }
    market.clock.advance(lateMs);
    for (const { last_30_days: totals } of (await readOffers()).data) {
      assert.deepEqual(Object.values(totals), [0, 0, 0, 0]);
    }
    market.clock.setWall(market.clock.wallMs() - lateMs);
  });

  test('the figures of a test catalog are those of test sessions', async () => {
    const sandbox = market.caller(fixture, { mode: 'test' });
    const subId = await sandbox.createSessionWithFields('catalogs', complete);
    const { offers } = await sandbox.offers(subId, { max_offers: 20 });
    const { data } = assertOk<OfferPage>(await ask(`/catalogs/${vertical.segment}/test/offers`));
    assert.deepEqual(
      data.filter(({ last_30_days: totals }) => totals.shown === 1).map(({ svc_offer_id: id }) => id),
      offers.map(({ svc_offer_id: id }) => id).sort(),
    );
  });

  test('pages contain each offer once, in the order of the ids', async () => {
    const all = (await readOffers()).data.map(({ svc_offer_id: id }) => id);
    assert.deepEqual(
      all,
      offersOf(initial)
        .map(({ id }) => id)
        .sort(),
    );
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: OfferPage = await readOffers(cursor === '' ? 'limit=7' : `limit=7&cursor=${cursor}`);
      assert.ok(page.data.length === 7 || !page.has_more);
      paged.push(...page.data.map(({ svc_offer_id: id }) => id));
      cursor = page.next_cursor;
    }
    assert.deepEqual(paged, all);
    // The offer of a cursor need not exist any more.
    assert.deepEqual((await readOffers('cursor=zzzz')).data, []);
  });

  test('an offer that is hidden for two reasons is found by each of them', async () => {
    const limited = limitOffers();
    Object.assign(offersOf(limited).find(({ id }) => id === cappedId)!, { as_of: '2026-05-01' });
    catalogs.writeCatalog(limited);
    await market.marketplace.reloadCatalogs();
    const { state, reasons } = await findOffer(cappedId!);
    assert.deepEqual([state, reasons], ['outdated', ['outdated', 'daily_cap']]);
    for (const reason of reasons) {
      assert.ok((await readOffers(`state=${reason}`)).data.some(({ svc_offer_id: id }) => id === cappedId));
    }
  });

  test('an unknown catalog is not found, and the error for an invalid query names the parameter', async () => {
    for (const path of [
      '/catalogs/boats/live',
      `/catalogs/${vertical.segment}/LIVE`,
      `/catalogs/${echoMarker}/%00`,
      '/catalogs/%ff/live',
    ]) {
      assertError(await ask(`${path}/offers`), 'NOT_FOUND');
    }
    for (const path of ['/catalogs/', livePath, `${livePath}/`, `${livePath}/offers/x`]) {
      assertError(await ask(path), 'NOT_FOUND');
    }
    const { operatorPageItemsMax: max } = bounds;
    for (const [param, values] of [
      ['limit', ['0', 'x', '1.0', String(max + 1), '']],
      ['cursor', ['', '%2e%2e', 'A', '%00', 'a'.repeat(65), echoMarker.toUpperCase()]],
      ['state', ['', 'hidden', 'SHOWN', 'shown,paced', '__proto__']],
    ] as const) {
      for (const value of values)
        assertError(await ask(`${livePath}/offers?${param}=${value}`), 'INVALID_REQUEST', param);
      assertError(await ask(`${livePath}/offers?${param}=a&${param}=a`), 'INVALID_REQUEST', param);
    }
  });
};

describeServiceOnEveryEngine('catalogs on the operations listener', declareTests, { catalogs: catalogs.sources });

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Mode } from '../../src/domain/mode.ts';
import type { MarketplaceView, OfferView } from '../../src/index.ts';
import { sortOrders } from '../../src/matching/matcher.ts';
import type { IgnoredParameters } from '../../src/operations/ignored-names.ts';
import {
  type ApiCaller,
  assertError,
  assertMembers,
  assertOk,
  assertTimestamp,
  type ErrorBody,
  parseJson,
} from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import { findListedOffer, totalClickMicros } from '../support/vertical-fixture.ts';
import { actuarialApr, levelPayment } from './loan-arithmetic.ts';

/** Tolerance in cents or hundredths of a percent: half a unit for rounding, and a margin for floating-point errors. */
const roundedWithin = 0.005 + 1e-6;

const byId = (one: OfferView, other: OfferView) => (one.svc_offer_id < other.svc_offer_id ? -1 : 1);
const byApr = (one: OfferView, other: OfferView) =>
  one.apr_range.min - other.apr_range.min || one.apr_range.max - other.apr_range.max || byId(one, other);
const byAmount = (one: OfferView, other: OfferView) =>
  other.loan_amount_range.max - one.loan_amount_range.max || byApr(one, other);
const idsOf = (offers: Iterable<OfferView>) => [...offers].map(({ svc_offer_id: id }) => id);

describeEveryVertical('GET /marketplace', (door) => {
  test('GET /marketplace returns a response with all documented members', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('envelope', fixture.complete);
    const answer = await caller.get('marketplace', { sub_id: subId, format: 'json' });
    const view = assertOk<Record<string, unknown>>(answer);
    assertMembers(view, {
      sub_id: 'string',
      match_quality: 'string',
      offers: 'array',
      total_offers: 'integer',
      generated_at: 'string',
      sort: 'string',
      catalog_version: 'string',
      disclosure: 'string',
    });
    assert.equal(view.sub_id, subId);
    assert.equal(view.match_quality, 'high');
    assert.equal(view.sort, 'recommended');
    assert.equal(assertTimestamp(view.generated_at), market.clock.wallMs());
    assert.equal(view.disclosure, fixture.catalogFiles.live.disclosure);
  });

  test('returns offers with all documented members and with the values of the catalog', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('members', fixture.complete);
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const { cdn, click } = market.marketplace.urls;
    for (const [place, offer] of offers.entries()) {
      assert.deepEqual(Object.keys(offer).sort(), [
        'apr_range',
        'click_url',
        'features',
        'lender_name',
        'loan_amount_range',
        'logo_url',
        'monthly_payment_estimate',
        'payment_term_months',
        'position',
        'prequalification',
        'svc_offer_id',
        'svc_star_rating',
        'term_months',
      ]);
      const { lender, logo, offer: listed } = findListedOffer(fixture, offer.svc_offer_id);
      assert.equal(offer.lender_name, lender);
      assert.equal(offer.logo_url.replace(/\?v=[0-9a-f]{16}$/, ''), `${cdn}/${logo}`);
      assert.equal(offer.svc_star_rating, listed.stars);
      assert.deepEqual(offer.features, listed.features);
      assert.equal(offer.prequalification, listed.prequalification);
      assert.equal(offer.position, place + 1);
      const url = new URL(offer.click_url);
      assert.equal(url.origin + url.pathname, `${click}/c`);
      assert.deepEqual([...url.searchParams.keys()], ['sub', 'offer', 'v']);
      assert.equal(url.searchParams.get('sub'), subId);
      assert.equal(url.searchParams.get('offer'), offer.svc_offer_id);
      assert.ok(!offer.click_url.includes(caller.key));
    }
  });

  test('computes the prices of every offer for the credit band, amount and term of the borrower', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('prices', {
      ...fixture.complete,
      [fixture.term]: fixture.someTerm,
    });
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const amount = fixture.complete[fixture.amount] as number;
    const band = fixture.complete[fixture.creditBand] as string;
    for (const shown of offers) {
      const { offer } = findListedOffer(fixture, shown.svc_offer_id);
      const priced = offer.bands[band]!;
      assert.ok(shown.term_months.length > 0 && shown.term_months.every((term) => offer.term_months.includes(term)));
      assert.deepEqual(
        shown.term_months,
        [...shown.term_months].sort((a, b) => a - b),
      );
      const term = shown.term_months.includes(fixture.someTerm)
        ? fixture.someTerm
        : shown.term_months.reduce((best, months) => (Math.abs(months - 36) < Math.abs(best - 36) ? months : best));
      assert.equal(shown.payment_term_months, term);
      const { note_rate_percent: note, origination_fee_percent: fee } = { ...priced, ...priced.terms?.[term] };
      const payment = levelPayment(amount, (note.min + note.max) / 2, term);
      assert.ok(Math.abs(shown.monthly_payment_estimate - payment) <= roundedWithin, JSON.stringify(shown));
      for (const end of ['min', 'max'] as const) {
        const apr = actuarialApr(note[end], fee, term);
        assert.ok(Math.abs(shown.apr_range[end] - apr) <= roundedWithin, `${apr} ${JSON.stringify(shown)}`);
      }
      assert.ok(shown.apr_range.max <= 36);
      const { min: least, max: most } = shown.loan_amount_range;
      assert.ok(
        least <= amount && amount <= most && offer.amount.min <= least && most <= priced.max_amount,
        JSON.stringify(shown),
      );
    }
  });

  test('returns five offers by default and up to 20 on request, with the total number of matching offers', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('as-many', fixture.complete);
    const { offers: all, total_offers: total } = await caller.offers(subId, { max_offers: 20 });
    assert.ok(total > 20);
    const five = await caller.offers(subId);
    assert.deepEqual([five.offers, five.total_offers], [all.slice(0, 5), total]);
    for (const count of [1, 2, 19, 20]) {
      const view = await caller.offers(subId, { max_offers: count });
      assert.deepEqual([view.offers, view.total_offers], [all.slice(0, count), total]);
    }
  });

  test('match_quality is none without a matching offer, and partial while match_readiness is partial', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const none = await caller.offers(await caller.createSessionWithFields('unmatched', fixture.unmatched));
    assert.deepEqual([none.match_quality, none.offers, none.total_offers], ['none', [], 0]);
    const [{ when, field }] = fixture.conditional as [(typeof fixture.conditional)[0]];
    const partial = await caller.createSessionWithFields('partial', { ...fixture.complete, ...when, [field]: null });
    const view = await caller.offers(partial);
    assert.equal(view.match_quality, 'partial');
    assert.ok(view.total_offers > 0);
  });

  test('matches offers to the current fields of the session', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('changing', fixture.complete);
    const before = await caller.offers(subId);
    await caller.submitFields(subId, { [fixture.amount]: fixture.unmatched[fixture.amount] });
    await caller.submitFields(subId, fixture.unmatched);
    assert.equal((await caller.offers(subId)).total_offers, 0);
    await caller.submitFields(subId, fixture.complete);
    assert.equal((await caller.offers(subId)).total_offers, before.total_offers);
  });

  test('rejects a session with missing required fields', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('insufficient');
    const query = { sub_id: subId, format: 'json' };
    const empty = assertError(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assert.deepEqual(empty.missing_required, fixture.required);
    await caller.submitFields(subId, { ...fixture.complete, [fixture.amount]: null });
    const almost = assertError(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assert.deepEqual(almost.missing_required, [fixture.amount]);
  });

  test('the error for an invalid parameter lists the allowed values', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: subId } = await caller.createSession('messages');
    const messageOf = async (query: string): Promise<string> =>
      parseJson<ErrorBody>(await caller.get('marketplace', `sub_id=${subId}&format=json&${query}`)).message;
    for (const sort of sortOrders) assert.match(await messageOf('sort=x'), new RegExp(`\\b${sort}\\b`));
    assert.equal(await messageOf('max_offers=21'), 'max_offers must be an integer from 1 to 20.');
    assert.match(await messageOf('sort=lowest_apr&sort=lowest_apr'), /^sort must be given only once/);
    assert.match(await messageOf('explain=true'), /needs a test key/);
  });

  test('rejects a missing, invalid or repeated parameter', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('parameters', fixture.complete);
    const good = `sub_id=${subId}&format=json`;
    const cases: [query: string, param: string][] = [
      ['format=json', 'sub_id'],
      [`sub_id=${subId}&format=`, 'format'],
      [`sub_id=${subId}`, 'format'],
      [`sub_id=${subId}&format=${echoMarker}`, 'format'],
      [`sub_id=${subId}&format=JSON`, 'format'],
      [`sub_id=${subId}&format=iframe,js`, 'format'],
      [`sub_id=${subId}&format=iframe&format=js`, 'format'],
      [`${good}&sort=${echoMarker}`, 'sort'],
      [`${good}&sort=`, 'sort'],
      [`${good}&sort=nw_revenue`, 'sort'],
      [`${good}&sort=lowest_apr&sort=lowest_apr`, 'sort'],
      [`${good}&format=json`, 'format'],
      [`${good}&sub_id=${subId}`, 'sub_id'],
      [`${good}&max_offers=5&max_offers=5`, 'max_offers'],
      [`${good}&sort=%`, 'sort'],
      [`${good}&sort=%ff`, 'sort'],
    ];
    const counts = ['0', '21', '-1', '1.5', '', 'five', '5 ', '05', '+5', '1e1', '0x5', '99999999999999999999'];
    for (const count of counts) cases.push([`${good}&max_offers=${encodeURIComponent(count)}`, 'max_offers']);
    for (const [query, param] of cases) {
      assertError(await caller.get('marketplace', query), 'INVALID_REQUEST', param);
    }
  });

  test('GET /marketplace ignores unknown parameters', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('unknown-parameters', fixture.complete);
    const query = `&&x=1&x=2&%zz=%&sub_id=${subId}&__proto__=1&toString&format=json&=&`;
    assertOk(await caller.get('marketplace', query));
  });

  test('responds to a HEAD request without a body, and counts no view', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('heads', fixture.complete);
    const query = { sub_id: subId, format: 'json' };
    const head = await caller.get('marketplace', query, {}, 'HEAD');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal((await caller.summary({ referrer_tag: 'heads' })).marketplace_views, 0);
    const got = await caller.get('marketplace', query);
    assert.equal(head.headers.get('content-type'), got.headers.get('content-type'));
    assert.equal((await caller.summary({ referrer_tag: 'heads' })).marketplace_views, 1);
  });

  // The rules of each sort order are tested in test/matching.
  test('returns the best 20 offers in each sort order, and the same offers for another session with the same fields', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const views = async () => {
      const subId = await caller.createSessionWithFields('sorting', fixture.complete);
      const list: MarketplaceView[] = [];
      for (const sort of sortOrders) list.push(await caller.offers(subId, { sort, max_offers: 20 }));
      return list;
    };
    const first = await views();
    assert.deepEqual(
      first.map(({ sort }) => sort),
      sortOrders,
    );
    assert.equal(new Set(first.map(({ total_offers: total }) => total)).size, 1);
    assert.deepEqual(
      (await views()).map(({ offers }) => idsOf(offers)),
      first.map(({ offers }) => idsOf(offers)),
    );
    const known = new Map(first.flatMap(({ offers }) => offers.map((offer) => [offer.svc_offer_id, offer])));
    assert.ok(known.size > 20, 'all sort orders return the same offers');
    const worth = ({ svc_offer_id: id }: OfferView) => totalClickMicros(fixture, [id]);
    const byRevenue = (one: OfferView, other: OfferView) => worth(other) - worth(one) || byId(one, other);
    for (const [sort, order] of [
      ['lowest_apr', byApr],
      ['highest_amount', byAmount],
      ['svc_revenue', byRevenue],
    ] as const) {
      const { offers } = first.find((view) => view.sort === sort)!;
      assert.deepEqual(idsOf(offers), idsOf([...known.values()].sort(order)).slice(0, 20), sort);
    }
  });

  describe('GET /marketplace with explain=true', () => {
    const explained = async (fields: object) => {
      const { market, fixture } = door;
      const caller = market.caller(fixture, { mode: 'test' });
      const subId = await caller.createSessionWithFields('explain', fields);
      const view = await caller.offers(subId, { explain: 'true' });
      assert.ok(view.explain !== undefined);
      return { caller, subId, view, explain: view.explain };
    };

    test('returns the numbers of matching and other offers, and the reasons, if the key is a test key', async () => {
      const { view, explain } = await explained(door.fixture.complete);
      assertMembers(explain, {
        offers_in_catalog: 'integer',
        matched: 'integer',
        not_matched: 'integer',
        reasons: 'array',
      });
      assert.equal(
        explain.offers_in_catalog,
        door.fixture.catalogFiles.test.lenders.flatMap(({ offers }) => offers).length,
      );
      assert.equal(explain.matched, view.total_offers);
      assert.equal(explain.matched + explain.not_matched, explain.offers_in_catalog);
      const names = door.fixture.vertical.fields.map(({ name }) => name);
      for (const one of explain.reasons) {
        assertMembers(one, { reason: 'string', field: 'string', offers: 'integer', alone: 'integer' });
        assert.ok(names.includes(one.field as string) && one.alone <= one.offers && one.offers <= explain.not_matched);
      }
    });

    test('explain=true adds only the member explain to the response, and counts one view', async () => {
      const { caller, subId, view } = await explained(door.fixture.complete);
      const { explain: _, ...rest } = view;
      assert.deepEqual(await caller.offers(subId), rest);
      assert.deepEqual(await caller.offers(subId, { explain: 'false' }), rest);
      const { marketplace_views: views } = await caller.summary({ sub_id_list: subId });
      assert.equal(views, 3);
    });

    test('rejects explain=true with a live key, and accepts explain=false', async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture);
      const subId = await caller.createSessionWithFields('explain-live', fixture.complete);
      const query = { sub_id: subId, format: 'json' };
      assertError(await caller.get('marketplace', { ...query, explain: 'true' }), 'INVALID_REQUEST', 'explain');
      const view = assertOk<object>(await caller.get('marketplace', { ...query, explain: 'false' }));
      assert.ok(!('explain' in view));
      assert.equal((await caller.summary({ referrer_tag: 'explain-live' })).marketplace_views, 1);
    });

    test('accepts explain=true or explain=false at most once, and no other value', async () => {
      const { caller, subId } = await explained(door.fixture.complete);
      const good = `sub_id=${subId}&format=json`;
      for (const value of ['', '1', 'TRUE', 'yes', 'true+', echoMarker]) {
        const answer = await caller.get('marketplace', `${good}&explain=${value}`);
        assertError(answer, 'INVALID_REQUEST', 'explain');
      }
      const twice = await caller.get('marketplace', `${good}&explain=true&explain=true`);
      assertError(twice, 'INVALID_REQUEST', 'explain');
    });
  });

  describe('GET /marketplace with a test key', () => {
    const shown = async (caller: ApiCaller) => {
      const subId = await caller.createSessionWithFields('sandbox', door.fixture.complete);
      const view = await caller.offers(subId, { max_offers: 20 });
      return {
        ...view,
        sub_id: '',
        generated_at: '',
        offers: view.offers.map((offer) => ({ ...offer, click_url: '' })),
      };
    };

    test('returns only offers of the sandbox catalog, and the same offers for every session with the same fields', async () => {
      const { market, fixture } = door;
      const tests = await shown(market.caller(fixture, { mode: 'test' }));
      assert.ok(tests.offers.length > 0);
      for (const { svc_offer_id: id } of tests.offers) findListedOffer(fixture, id, 'test');
      assert.deepEqual(await shown(market.caller(fixture, { mode: 'test' })), tests);
      const lives = await shown(market.caller(fixture));
      for (const { svc_offer_id: id } of lives.offers) assert.throws(() => findListedOffer(fixture, id, 'test'));
      assert.notEqual(tests.catalog_version, lives.catalog_version);
      assert.equal(tests.disclosure, fixture.catalogFiles.test.disclosure);
    });

    test('responses to test keys list unknown members and parameters in `ignored`; responses to live keys do not', async () => {
      const { market, fixture } = door;
      const listed = async (mode: Mode): Promise<unknown[]> => {
        const caller = market.caller(fixture, { mode });
        const misspelt = 'm'.repeat(65);
        const created = await caller.post('session', { referrer_tag: 'ignored', metdata: {}, [misspelt]: 1 });
        const session = assertOk<{ sub_id: string } & IgnoredParameters>(created);
        const body = { sub_id: session.sub_id, fields: fixture.complete, field: 1 };
        const inputs = assertOk<IgnoredParameters>(await caller.post('inputs', body));
        const offers = `sub_id=${session.sub_id}&max=1&%73ortt=x&max=2`;
        const json = assertOk<IgnoredParameters>(await caller.get('marketplace', `${offers}&format=json`));
        const accept = { Accept: 'application/json' };
        const embed = assertOk<IgnoredParameters>(await caller.get('marketplace', `${offers}&format=js`, accept));
        const figures = assertOk<IgnoredParameters>(
          await caller.get('analytics', { referrer_tag: 'ignored', from: '2026' }),
        );
        return [session, inputs, json, embed, figures].map(({ ignored }) => ignored);
      };
      const sentToOffers = ['max', 'sortt'];
      const sessions = ['metdata', 'm'.repeat(64)];
      assert.deepEqual(await listed('test'), [sessions, ['field'], sentToOffers, sentToOffers, ['from']]);
      assert.deepEqual(await listed('live'), Array(5).fill(undefined));
    });

    test('redirects sandbox clicks to the sandbox landing page, and records no revenue', async () => {
      const { market, fixture } = door;
      const caller = market.caller(fixture, { mode: 'test' });
      const subId = await caller.createSessionWithFields('sandbox-clicks', fixture.complete);
      const { offers } = await caller.offers(subId);
      const [offer] = offers as [(typeof offers)[0]];
      const answer = await caller.click(offer.click_url);
      assert.equal(answer.status, 302);
      const landing = new URL(answer.headers.get('location') ?? '');
      assert.equal(landing.origin, new URL(market.marketplace.urls.click).origin);
      assert.ok((landing.searchParams.get('click_id') ?? '').length > 20);

      const page = await caller.click(landing.href);
      assert.equal(page.status, 200);
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(page.text, /sandbox/i);

      const summary = await caller.summary({ referrer_tag: 'sandbox-clicks' });
      assert.deepEqual([summary.offer_clicks, summary.rev_attributed, summary.rev_confirmed], [1, 0, 0]);
      assert.deepEqual(summary.top_lenders, [{ lender: offer.lender_name, clicks: 1, rev_confirmed: 0 }]);
    });
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortOrders } from '../../src/matching/matcher.ts';
import { afterwards } from '../support/afterwards.ts';
import {
  assertOk,
  assertRefused,
  assertShape,
  assertTimestamp,
  type ErrorBody,
  jsonOf,
} from '../support/api-caller.ts';
import { withoutOffers } from '../support/changeable-catalogs.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { listedOffer } from '../support/vertical-fixture.ts';
import { actuarialApr, levelPayment } from './loan-arithmetic.ts';

/** Tolerance in cents or hundredths of a percent: half a unit for rounding, and a margin for floating-point errors. */
const roundedWithin = 0.005 + 1e-6;

describeEveryVertical('GET /marketplace', (door) => {
  test('returns a response with all members', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('envelope', fixture.complete);
    const answer = await caller.get('marketplace', { sub_id: subId, format: 'json' });
    const view = assertOk<Record<string, unknown>>(answer);
    assertShape(view, {
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

  test('returns offers with all members and with the values of the catalog', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('members', fixture.complete);
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
      const { lender, logo, offer: listed } = listedOffer(fixture, offer.svc_offer_id);
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
    const subId = await caller.sessionWith('prices', { ...fixture.complete, [fixture.term]: fixture.someTerm });
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const amount = fixture.complete[fixture.amount] as number;
    const band = fixture.complete[fixture.creditBand] as string;
    for (const shown of offers) {
      const { offer } = listedOffer(fixture, shown.svc_offer_id);
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

  test('returns five offers by default, and the total number of matching offers', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('five', fixture.complete);
    const view = await caller.offers(subId);
    assert.equal(view.offers.length, 5);
    assert.ok(view.total_offers > 20);
  });

  test('returns the requested number of offers, from 1 to 20', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('as-many', fixture.complete);
    const { offers: all, total_offers: total } = await caller.offers(subId, { max_offers: 20 });
    for (const count of [1, 2, 19, 20]) {
      const view = await caller.offers(subId, { max_offers: count });
      assert.deepEqual(view.offers, all.slice(0, count));
      assert.equal(view.total_offers, total);
    }
  });

  test('rejects any other max_offers', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('not-as-many', fixture.complete);
    for (const count of ['0', '21', '-1', '1.5', '', 'five', '5 ', '05', '+5', '1e1', '0x5', '99999999999999999999']) {
      const query = { sub_id: subId, format: 'json', max_offers: count };
      assertRefused(await caller.get('marketplace', query), 'INVALID_REQUEST', 'max_offers');
    }
  });

  test('returns no offers and match_quality none if no offer matches', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const view = await caller.offers(await caller.sessionWith('unmatched', fixture.unmatched));
    assert.deepEqual([view.match_quality, view.offers, view.total_offers], ['none', [], 0]);
  });

  test('returns match_quality partial while readiness is partial', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const [{ when, field }] = fixture.conditional as [(typeof fixture.conditional)[0]];
    const subId = await caller.sessionWith('partial', { ...fixture.complete, ...when, [field]: null });
    const view = await caller.offers(subId);
    assert.equal(view.match_quality, view.total_offers === 0 ? 'none' : 'partial');
    assert.ok(view.total_offers > 0);
  });

  test('returns match_quality high only with at least three offers', async (t) => {
    const { engine, fixture, market } = door;
    const { vertical, catalogFiles, complete } = fixture;
    const caller = market.caller(fixture);
    const { offers } = await caller.offers(await caller.sessionWith('quality', complete), { max_offers: 20 });
    for (const [count, quality] of [
      [1, 'partial'],
      [2, 'partial'],
      [3, 'high'],
    ] as const) {
      const kept = offers.slice(0, count).map(({ svc_offer_id: id }) => id);
      const all = catalogFiles.live.lenders.flatMap((lender) => lender.offers.map(({ id }) => id));
      const few = withoutOffers(
        catalogFiles.live,
        all.filter((id) => !kept.includes(id)),
      );
      const catalogs = [
        { vertical, mode: 'live', text: JSON.stringify(few) },
        { vertical, mode: 'test', text: JSON.stringify(catalogFiles.test) },
      ] as const;
      const small = await RunningMarketplace.start(engine, { catalogs });
      afterwards(t, () => small.close());
      const other = small.caller(fixture);
      const view = await other.offers(await other.sessionWith('quality', complete));
      assert.deepEqual([view.total_offers, view.match_quality], [count, quality]);
    }
  });

  test('uses the current fields of the session', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('changing', fixture.complete);
    const before = await caller.offers(subId);
    await caller.submit(subId, { [fixture.amount]: fixture.unmatched[fixture.amount] });
    await caller.submit(subId, fixture.unmatched);
    assert.equal((await caller.offers(subId)).total_offers, 0);
    await caller.submit(subId, fixture.complete);
    assert.equal((await caller.offers(subId)).total_offers, before.total_offers);
  });

  test('rejects a session without all required fields', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { sub_id: subId } = await caller.createSession('insufficient');
    const query = { sub_id: subId, format: 'json' };
    const empty = assertRefused(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assert.deepEqual(empty.missing_required, fixture.required);
    await caller.submit(subId, { ...fixture.complete, [fixture.amount]: null });
    const almost = assertRefused(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assert.deepEqual(almost.missing_required, [fixture.amount]);
  });

  test('lists the allowed values of an invalid parameter', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: subId } = await caller.createSession('messages');
    const messageOf = async (query: string): Promise<string> =>
      jsonOf<ErrorBody>(await caller.get('marketplace', `sub_id=${subId}&format=json&${query}`)).message;
    for (const sort of sortOrders) assert.match(await messageOf('sort=x'), new RegExp(`\\b${sort}\\b`));
    assert.equal(await messageOf('max_offers=21'), 'max_offers must be an integer from 1 to 20.');
    assert.match(await messageOf('sort=lowest_apr&sort=lowest_apr'), /^sort must be given only once/);
    assert.match(await messageOf('explain=true'), /needs a test key/);
  });

  test('rejects a missing, unknown or repeated sub_id, format or sort', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('parameters', fixture.complete);
    const good = `sub_id=${subId}&format=json`;
    const cases: readonly (readonly [query: string, param: string])[] = [
      ['format=json', 'sub_id'],
      [`sub_id=${subId}&format=`, 'format'],
      [`sub_id=${subId}`, 'format'],
      [`sub_id=${subId}&format=${marker}`, 'format'],
      [`sub_id=${subId}&format=JSON`, 'format'],
      [`sub_id=${subId}&format=iframe,js`, 'format'],
      [`sub_id=${subId}&format=iframe&format=js`, 'format'],
      [`${good}&sort=${marker}`, 'sort'],
      [`${good}&sort=`, 'sort'],
      [`${good}&sort=nw_revenue`, 'sort'],
      [`${good}&sort=lowest_apr&sort=lowest_apr`, 'sort'],
      [`${good}&format=json`, 'format'],
      [`${good}&sub_id=${subId}`, 'sub_id'],
      [`${good}&max_offers=5&max_offers=5`, 'max_offers'],
      [`${good}&sort=%`, 'sort'],
      [`${good}&sort=%ff`, 'sort'],
    ];
    for (const [query, param] of cases) {
      assertRefused(await caller.get('marketplace', query), 'INVALID_REQUEST', param);
    }
  });

  test('ignores unknown parameters', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('unknown-parameters', fixture.complete);
    const query = `&&x=1&x=2&%zz=%&sub_id=${subId}&__proto__=1&toString&format=json&=&`;
    assertOk(await caller.get('marketplace', query));
  });

  test('responds to HEAD without a body, and counts no view', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('heads', fixture.complete);
    const query = { sub_id: subId, format: 'json' };
    const head = await caller.get('marketplace', query, {}, 'HEAD');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal((await caller.summary({ referrer_tag: 'heads' })).marketplace_views, 0);
    const got = await caller.get('marketplace', query);
    assert.equal(head.headers.get('content-type'), got.headers.get('content-type'));
    assert.equal((await caller.summary({ referrer_tag: 'heads' })).marketplace_views, 1);
  });
});

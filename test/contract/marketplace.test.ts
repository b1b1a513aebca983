import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import { type SortOrder, sortOrderNames } from '../../src/domain/vertical.ts';
import type { MarketplaceResponse, OfferView } from '../../src/index.ts';
import type { IgnoredParameters } from '../../src/operations/schema-parts.ts';
import { assertError, assertOk, assertTimestamp, type ErrorBody, parseJson } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import { findListedOffer, totalClickMicros } from '../support/vertical-fixture.ts';

const idsOf = ({ offers }: MarketplaceResponse) => offers.map(({ svc_offer_id: id }) => id);

describeEveryVertical('GET /marketplace', (door) => {
  const { fixture } = door;
  // The service client checks all members of the response against the OpenAPI document.
  test('returns the disclosure of the catalog, and click URLs that do not contain the API key', async () => {
    const { market } = door;
    const caller = door.caller();
    const subId = await caller.createSessionWithFields('envelope', fixture.complete);
    const view = await caller.offers(subId, { max_offers: 20 });
    assert.deepEqual([view.sub_id, view.match_quality, view.sort], [subId, 'high', 'recommended']);
    assert.equal(assertTimestamp(view.generated_at), market.clock.wallMs());
    assert.equal(view.disclosure, fixture.catalogFiles.live.disclosure);
    for (const [place, offer] of view.offers.entries()) {
      const { lender, offer: listed } = findListedOffer(fixture, offer.svc_offer_id);
      assert.deepEqual([offer.lender_name, offer.position], [lender, place + 1]);
      assert.deepEqual(
        [offer.svc_star_rating, offer.features, offer.prequalification],
        [listed.stars, listed.features, listed.prequalification],
      );
      const url = new URL(offer.click_url);
      assert.equal(url.origin + url.pathname, `${market.marketplace.urls.click}/c`);
      const { v, ...parameters } = Object.fromEntries(url.searchParams);
      assert.deepEqual([parameters, typeof v], [{ sub: subId, offer: offer.svc_offer_id }, 'string']);
      assert.ok(!offer.click_url.includes(caller.key));
    }
  });

  test('returns five offers by default and up to 20 on request, with the total number of matching offers', async () => {
    const caller = door.caller();
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

  test('match_quality is "none" if no offer matches, and "partial" while match_readiness is "partial"', async () => {
    const caller = door.caller();
    const none = await caller.offers(await caller.createSessionWithFields('unmatched', fixture.unmatched));
    assert.deepEqual([none.match_quality, none.offers, none.total_offers], ['none', [], 0]);
    const [{ when, field }] = fixture.conditional as [(typeof fixture.conditional)[0]];
    const partial = await caller.createSessionWithFields('partial', { ...fixture.complete, ...when, [field]: null });
    const view = await caller.offers(partial);
    assert.equal(view.match_quality, 'partial');
    assert.ok(view.total_offers > 0);
  });

  test('rejects a session with missing required fields', async () => {
    const caller = door.caller();
    const { sub_id: subId } = await caller.createSession('insufficient');
    const query = { sub_id: subId, format: 'json' };
    const empty = assertError(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assert.deepEqual(empty.missing_required, fixture.required);
    await caller.submitFields(subId, { ...fixture.complete, [fixture.amount]: null });
    const almost = assertError(await caller.get('marketplace', query), 'INSUFFICIENT_INPUTS');
    assert.deepEqual(almost.missing_required, [fixture.amount]);
  });

  test('the error for an invalid parameter lists the allowed values', async () => {
    const caller = door.caller();
    const { sub_id: subId } = await caller.createSession('messages');
    const messageOf = async (query: string): Promise<string> =>
      parseJson<ErrorBody>(await caller.get('marketplace', `sub_id=${subId}&format=json&${query}`)).message;
    for (const sort of sortOrderNames) assert.match(await messageOf('sort=x'), new RegExp(`\\b${sort}\\b`));
    assert.equal(await messageOf('max_offers=21'), 'max_offers must be an integer from 1 to 20.');
    assert.match(await messageOf('sort=lowest_apr&sort=lowest_apr'), /^sort must be given only once/);
    assert.match(await messageOf('explain=true'), /needs a test key/);
  });

  test('rejects a missing, invalid or repeated parameter', async () => {
    const caller = door.caller();
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
    // Other invalid integers are tested in test/operations/query-analytics.test.ts.
    for (const count of [echoMarker, '0', '21', '']) cases.push([`${good}&max_offers=${count}`, 'max_offers']);
    for (const [query, param] of cases) {
      assertError(await caller.get('marketplace', query), 'INVALID_REQUEST', param);
    }
  });

  test('a HEAD request gets no body and is not counted as a view', async () => {
    const caller = door.caller();
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
  test('returns offers in each sort order, and returns the same offers to sessions with the same fields', async () => {
    const caller = door.caller();
    const views = async () => {
      const subId = await caller.createSessionWithFields('sorting', fixture.complete);
      return Promise.all(sortOrderNames.map((sort) => caller.offers(subId, { sort, max_offers: 20 })));
    };
    const first = await views();
    assert.deepEqual(
      first.map(({ sort }) => sort),
      sortOrderNames,
    );
    assert.deepEqual((await views()).map(idsOf), first.map(idsOf));
    const sortedBy = (sort: SortOrder, key: (offer: OfferView) => number) => {
      const keys = first[sortOrderNames.indexOf(sort)]!.offers.map(key);
      assert.deepEqual(
        keys,
        keys.toSorted((one, other) => one - other),
      );
    };
    sortedBy('lowest_apr', ({ apr_range: apr }) => apr!.min);
    sortedBy('highest_amount', ({ loan_amount_range: amount }) => -amount!.max);
    sortedBy('svc_revenue', ({ svc_offer_id: id }) => -totalClickMicros(fixture, [id]));
  });

  describe('GET /marketplace with explain=true', () => {
    test('explain=true adds only the property explain to a response, and the request counts as a view', async () => {
      const caller = door.caller({ mode: 'test' });
      const subId = await caller.createSessionWithFields('explain', fixture.complete);
      const { explain, ...rest } = await caller.offers(subId, { explain: 'true' });
      assert.ok(explain !== undefined);
      const listed = fixture.catalogFiles.test.lenders.flatMap(({ offers }) => offers).length;
      assert.deepEqual([explain.offers_in_catalog, explain.matched], [listed, rest.total_offers]);
      assert.equal(explain.matched + explain.not_matched, listed);
      const names = fixture.vertical.fields.map(({ name }) => name);
      for (const { field, alone, offers } of explain.reasons) {
        assert.ok(names.includes(field!) && alone <= offers && offers <= explain.not_matched);
      }
      for (const query of [{}, { explain: 'false' }]) assert.deepEqual(await caller.offers(subId, query), rest);
      assert.equal((await caller.summary({ sub_id_list: subId })).marketplace_views, 3);
    });

    test('rejects explain=true for a live key, and rejects values of explain other than true and false', async () => {
      const caller = door.caller();
      const subId = await caller.createSessionWithFields('explain-live', fixture.complete);
      for (const value of ['true', '', '1', 'TRUE', 'yes', 'true+', echoMarker, 'false&explain=false']) {
        const answer = await caller.get('marketplace', `sub_id=${subId}&format=json&explain=${value}`);
        assertError(answer, 'INVALID_REQUEST', 'explain');
      }
      assert.equal('explain' in (await caller.offers(subId, { explain: 'false' })), false);
      assert.equal((await caller.summary({ referrer_tag: 'explain-live' })).marketplace_views, 1);
    });
  });

  describe('GET /marketplace with a test key', () => {
    test('returns only offers of the sandbox catalog, and returns the same offers to sessions with the same fields', async () => {
      const shown = async (mode: ApiKeyMode) => {
        const caller = door.caller({ mode });
        return caller.offers(await caller.createSessionWithFields('sandbox', fixture.complete), { max_offers: 20 });
      };
      const [sandbox, live] = [await shown('test'), await shown('live')];
      assert.ok(sandbox.offers.length > 0);
      for (const id of idsOf(sandbox)) findListedOffer(fixture, id, 'test');
      for (const id of idsOf(live)) assert.throws(() => findListedOffer(fixture, id, 'test'));
      assert.deepEqual(idsOf(await shown('test')), idsOf(sandbox));
      assert.notEqual(sandbox.catalog_version, live.catalog_version);
      assert.equal(sandbox.disclosure, fixture.catalogFiles.test.disclosure);
    });

    test('responses to test keys list unknown members and parameters in `ignored`; to live keys, only those of analytics', async () => {
      const listed = async (mode: ApiKeyMode): Promise<unknown[]> => {
        const caller = door.caller({ mode });
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
      assert.deepEqual(await listed('live'), [...Array(4).fill(undefined), ['from']]);
    });
  });
});

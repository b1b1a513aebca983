import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sortOrderNames } from '../../src/domain/vertical.ts';
import { openApiText } from '../../src/openapi/openapi-document.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ApiCaller, assertError, WidgetCaller, widgetLoadId } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import { readExamplePayoutUsd } from '../support/example-payout.ts';
import type { ApiKeyOptions } from '../support/running-marketplace.ts';
import { sampleBorrowers } from '../support/sample-borrowers.ts';
import { askOperator } from './operator-request.ts';

/** Verticals whose booked clicks confirm their own revenue (docs/contract.md#click-revenue). */
const clickRevenueVerticals = ['credit-cards', 'banking'];

/** Verticals with flat payouts (docs/contract.md#flat-payouts). */
const flatPayoutVerticals = ['mortgage', 'find-advisor'];

const figuresMembers: Readonly<Record<string, string>> = {
  'credit-cards': 'card',
  mortgage: 'mortgage',
  banking: 'deposit',
  'find-advisor': 'advisor',
};

describeService(
  'verticals with example catalogs',
  (on) => {
    const issueKey = (segment: string, options: ApiKeyOptions = {}) => {
      const vertical = builtInVerticals.verticals.find((each) => each.segment === segment)!;
      return on.running().issueKey({ vertical } as never, options).key;
    };
    const callerOf = (segment: string, options: ApiKeyOptions = {}) =>
      new ApiCaller(on.running().http, segment, issueKey(segment, options));

    for (const vertical of builtInVerticals.verticals) {
      const { segment } = vertical;
      const fields = sampleBorrowers[segment]!;
      const figures = figuresMembers[segment];
      const sortOrders = vertical.sortOrders ?? sortOrderNames;

      describe(segment, () => {
        test('returns ranked offers with all members in every sort order', async () => {
          const caller = callerOf(segment);
          const subId = await caller.createSessionWithFields('ranked', fields);
          for (const sort of sortOrders) {
            const answer = await caller.offers(subId, { sort, max_offers: 20 });
            assert.deepEqual([answer.match_quality, answer.sort], ['high', sort]);
            assert.ok(answer.offers.length >= 5, `${answer.offers.length} offers`);
            for (const [place, offer] of answer.offers.entries()) {
              assert.equal(offer.position, place + 1);
              if (figures === undefined) continue;
              assert.ok(figures in offer, `${figures} is missing`);
              assert.ok(offer.legal && offer.terms_url && offer.as_of, offer.svc_offer_id);
            }
          }
          for (const sort of sortOrderNames.filter((name) => !sortOrders.includes(name))) {
            const refused = await caller.get('marketplace', { sub_id: subId, format: 'json', sort });
            assertError(refused, 'INVALID_REQUEST', 'sort');
          }
        });

        test('records a click with revenue, and its confirmation or reversal', async () => {
          const caller = callerOf(segment);
          const subId = await caller.createSessionWithFields('clicked', fields);
          const { offers } = await caller.offers(subId);
          // A click that comes too soon after the offers books nothing in some verticals.
          on.running().clock.advance(1_000);
          const { status, headers } = await caller.click(offers[0]!.click_url);
          assert.equal(status, 302);
          assert.match(headers.get('location') ?? '', /\/c\/example\?click_id=[\w-]+$/);
          const booked = await caller.summary({ referrer_tag: 'clicked' });
          assert.equal(booked.offer_clicks, 1);
          assert.ok(booked.rev_attributed > 0);
          const clicksConfirmRevenue = clickRevenueVerticals.includes(segment);
          assert.equal(booked.rev_confirmed, clicksConfirmRevenue ? booked.rev_attributed : 0);

          const { svc_offer_id } = offers[0]!;
          const amount = flatPayoutVerticals.includes(segment)
            ? readExamplePayoutUsd(vertical, svc_offer_id)
            : booked.rev_attributed;
          const row = {
            sub_id: subId,
            svc_offer_id,
            txid: `tx-${segment}`,
            amount,
            occurred_at: new Date(on.running().clock.wallMs()).toISOString(),
          };
          const confirm = async (more: object) => {
            const answer = await askOperator(on.running(), {
              method: 'POST',
              path: '/confirmations',
              json: { ...row, ...more },
            });
            const [{ outcome, reason = outcome }] = JSON.parse(answer.text).results;
            return reason;
          };
          if (clicksConfirmRevenue) {
            assert.equal(await confirm({ status: 'funded' }), 'funded_not_accepted');
            assert.equal(await confirm({ status: 'reversed', reason: 'bot' }), 'accepted');
            assert.equal((await caller.summary({ referrer_tag: 'clicked' })).rev_confirmed, 0);
          } else {
            const another = { status: 'funded', txid: 'another' };
            if (flatPayoutVerticals.includes(segment)) {
              const { searchParams } = new URL(headers.get('location')!);
              const click_id = [...searchParams.values()].find((value) => value.length > 100);
              const byClickId = { sub_id: undefined, svc_offer_id: undefined, click_id, ...another };
              assert.equal(await confirm({ ...byClickId, amount: amount + 1 }), 'amount_not_flat');
              assert.equal(await confirm({ status: 'funded' }), 'accepted');
              assert.equal(await confirm(byClickId), 'already_funded');
            } else {
              assert.equal(await confirm({ status: 'funded' }), 'accepted');
              assert.equal(await confirm({ ...another, amount: 0.01 }), 'accepted');
              assert.equal(await confirm({ ...another, status: 'reversed', amount: 0.01 }), 'accepted');
            }
            const { rev_confirmed } = await caller.summary({ referrer_tag: 'clicked' });
            assert.equal(rev_confirmed, amount);
          }
        });
      });
    }

    describe('the order svc_revenue of mortgage', () => {
      const sort = 'svc_revenue';
      const names = ['recommended', 'lowest_apr', 'highest_amount'];
      const createSession = async () => {
        const caller = callerOf('mortgage');
        return { caller, subId: await caller.createSessionWithFields('refused', sampleBorrowers.mortgage!) };
      };

      test('is refused by the embedded API', async () => {
        const { caller, subId } = await createSession();
        const api = on.running().marketplace.partnerApi(caller.key, 'mortgage');
        const query = { sub_id: subId, sort } as const;
        for (const result of [
          await api.getMarketplace(query),
          await api.getWidget({ ...query, format: 'iframe' }),
          await api.getWidget({ ...query, format: 'js' }),
        ]) {
          assert.ok(!result.ok && result.error.error === 'INVALID_REQUEST', JSON.stringify(result));
          assert.match(result.error.message, /sort must be one of recommended, lowest_apr, highest_amount/);
        }
      });

      test('is refused by the widget page, and by the offers of the widget', async () => {
        const { caller, subId } = await createSession();
        const { token } = await caller.getEmbedCode(subId, 'js');
        const widget = new WidgetCaller(on.running().http, subId, token);
        const load = widgetLoadId(1);
        assert.equal((await widget.get('', { sort: 'recommended' })).status, 200);
        assert.equal((await widget.get('', { sort })).status, 404);
        assert.equal((await widget.get('/offers', { load, sort: 'recommended' })).status, 200);
        assertError(await widget.get('/offers', { load, sort }), 'INVALID_REQUEST', 'sort');
      });

      test('is not in any list of allowed sort orders in the OpenAPI document', () => {
        const { mortgage } = Object.fromEntries(builtInVerticals.verticals.map((each) => [each.segment, each]));
        const url = 'https://api.example';
        const text = openApiText(builtInVerticals.withProduct(mortgage!), {
          public: url,
          click: url,
          widget: url,
          cdn: url,
        });
        const lists = text.match(/"enum": ?\[[^\]]*"lowest_apr"[^\]]*\]/g) ?? [];
        assert.ok(lists.length >= 2, `${lists.length} lists`);
        for (const list of lists) assert.deepEqual(JSON.parse(`{${list}}`).enum, names);
      });
    });

    test('requires a conditional field while its condition holds', async () => {
      const caller = callerOf('banking');
      const { sub_id: subId } = await caller.createSession('conditional');
      const cd = await caller.submitFields(subId, { ...sampleBorrowers.banking, product_type: 'cd' });
      assert.deepEqual([cd.match_readiness, cd.missing_required], ['insufficient', ['cd_term_months']]);
      assertError(await caller.get('marketplace', { sub_id: subId, format: 'json' }), 'INSUFFICIENT_INPUTS');
      assert.equal((await caller.submitFields(subId, { cd_term_months: 12 })).match_readiness, 'high');
      assert.equal((await caller.offers(subId)).sort, 'recommended');
    });
  },
  { catalogs: builtInVerticals.listExampleCatalogs() },
);

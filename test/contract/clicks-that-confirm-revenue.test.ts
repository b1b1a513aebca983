import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { OfferView } from '../../src/index.ts';
import { banking } from '../../src/verticals/banking/banking.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { creditCards } from '../../src/verticals/credit-cards/credit-cards.ts';
import { describeService } from '../support/contract-suite.ts';
import { sampleBorrowers } from '../support/sample-borrowers.ts';

const notBooked = { cap: 0, budget: 0, too_fast: 0, too_many_offers: 0 };
const tag = 'clicks';

describeService(
  'clicks that confirm their own revenue',
  (on) => {
    for (const vertical of [creditCards, banking]) {
      const catalog = JSON.parse(readFileSync(builtInVerticals.exampleCatalogFile(vertical), 'utf8')) as {
        readonly lenders: readonly {
          readonly offers: readonly { readonly id: string; readonly payout_usd: number }[];
        }[];
      };
      const payouts = new Map(
        catalog.lenders.flatMap(({ offers }) => offers.map((each) => [each.id, each.payout_usd])),
      );
      /** Returns the total payout of offers in USD. */
      const payoutOf = (offers: readonly OfferView[]) =>
        offers.reduce((cents, { svc_offer_id: id }) => cents + Math.round(payouts.get(id)! * 100), 0) / 100;

      /** Creates a session of a new account, and requests twelve offers. */
      const showOffers = async () => {
        const { key } = on.running().issueKey({ vertical });
        // A restart changes the port, so each request needs a new caller.
        const caller = () => on.running().callerWithKey({ vertical }, key);
        const subId = await caller().createSessionWithFields(tag, sampleBorrowers[vertical.segment]!);
        const requestOffers = async () => (await caller().offers(subId, { max_offers: 12 })).offers;
        const offers = await requestOffers();
        assert.equal(offers.length, 12);
        const click = async ({ click_url: url }: OfferView) => assert.equal((await caller().click(url)).status, 302);
        /** Checks the summary and the figures of the day. */
        const assertFigures = async (booked: readonly OfferView[], offerClicks: number, unbooked: object) => {
          const [day] = (await caller().daily({ referrer_tag: tag })).data.slice(-1);
          for (const figures of [await caller().summary({ referrer_tag: tag }), day!]) {
            const { rev_attributed, rev_confirmed, offer_clicks, clicks_not_booked } = figures;
            assert.deepEqual(
              [rev_attributed, rev_confirmed, offer_clicks],
              [payoutOf(booked), payoutOf(booked), offerClicks],
            );
            assert.deepEqual(clicks_not_booked, { ...notBooked, ...unbooked });
          }
        };
        return { offers, requestOffers, click, assertFigures };
      };

      for (const { when, restart } of [
        { when: '', restart: async () => {} },
        { when: ' after a restart', restart: () => on.running().restart() },
        {
          when: ' after a restart without a snapshot',
          restart: () =>
            on.running().restart(() => rmSync(dataPaths(on.running().folder).snapshotFolder, { recursive: true })),
        },
      ]) {
        describe(`${vertical.segment}${when}`, () => {
          test('books nothing for a click less than 500 ms after the offer was shown, and books a later click', async () => {
            const { clock } = on.running();
            const { offers, requestOffers, click, assertFigures } = await showOffers();
            const [offer] = offers as [OfferView];
            clock.advance(250);
            // The time of a second response does not matter.
            await requestOffers();
            await restart();
            clock.advance(249);
            // More clicks than are recorded: a later click must still book.
            for (let times = 0; times <= bounds.clicksRecordedPerLinkMax; times++) await click(offer);
            await assertFigures([], 1, { too_fast: 1 });
            await restart();
            clock.advance(1);
            for (let times = 0; times < 2; times++) await click(offer);
            await assertFigures([offer], 1, { too_fast: 1 });
          });

          test('books clicks on ten offers of a session, and none on the eleventh', async () => {
            const { offers, click, assertFigures } = await showOffers();
            // A click that came too fast does not count as a booked offer.
            await click(offers[0]!);
            on.running().clock.advance(500);
            // Repeated clicks do not count as booked offers.
            for (const offer of [offers[1]!, ...offers.slice(0, 9)]) await click(offer);
            await restart();
            for (const offer of [offers[8]!, offers[9]!]) await click(offer);
            await assertFigures(offers.slice(0, 10), 10, { too_fast: 1 });
            for (const offer of [offers[10]!, offers[10]!, offers[11]!]) await click(offer);
            await assertFigures(offers.slice(0, 10), 12, { too_fast: 1, too_many_offers: 2 });
          });
        });
      }
    }
  },
  { catalogs: builtInVerticals.listExampleCatalogs() },
);

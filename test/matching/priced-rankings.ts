import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { OfferList, OfferUrls, OfferView } from '../../src/catalogs/offer-view.ts';
import { type FieldVector, findFieldIndex } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { type SortOrder, sortOrderNames } from '../../src/domain/vertical.ts';
import { countAvailableOffers } from '../../src/matching/eligibility.ts';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import type { MatchTables } from '../../src/matching/match-tables.ts';
import { allOffersAvailable, createUnavailableOfferSet } from '../../src/matching/matcher.ts';
import { addOffer, emptyOfferSet, hasOffer, type OfferSet } from '../../src/matching/offer-set.ts';
import { createPricingRanker, type OfferPricer, type OfferRanker } from '../../src/matching/pricing-ranker.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { TemplatePricedOffer } from '../../src/verticals/common/template-offer-renderer.ts';
import { type Random, randomFieldValue, seededRandom } from '../support/random-catalog.ts';

type Compiled<Tables extends MatchTables> = CompiledCatalog & { readonly tables: Tables };

/** Returns the ids of offers that are given as indexes. */
export function idsOf(catalog: CompiledCatalog, offers: ArrayLike<number>): string[] {
  return Array.from(offers, (offer) => catalog.offers[offer]!.id);
}

/** Draws a set of unavailable offers, or null. */
export function drawUnavailable(random: Random, count: number): OfferSet | null {
  if (random() < 0.4) return null;
  const share = random();
  const unavailable = emptyOfferSet(count);
  for (let offer = 0; offer < count; offer++) if (random() < share) addOffer(unavailable, offer);
  return unavailable;
}

interface RankingComparison<Tables extends MatchTables, Match extends { readonly id: string }> {
  readonly compiled: Compiled<Tables>;
  readonly borrower: FieldVector;
  readonly today: number;
  readonly unavailable: OfferSet | null;
  /** All offers that the borrower can get, according to the reference, available or not. */
  readonly expected: readonly Match[];
  readonly rank: OfferRanker<Tables>;
  /** Returns the ids of offers in one order, according to the reference. */
  readonly sortMatches: (matches: readonly Match[], sort: SortOrder) => readonly string[];
  readonly random: Random;
}

/**
 * Asserts that a ranking, its explanation, and its number of available offers agree with a reference. Returns the
 * indexes of the ranked offers.
 */
export async function compareRanking<Tables extends MatchTables, Match extends { readonly id: string }>(
  comparison: RankingComparison<Tables, Match>,
): Promise<readonly number[]> {
  const { compiled, borrower, today, unavailable, expected, rank, sortMatches, random } = comparison;
  const { tables, vertical } = compiled;
  const isOpen = (id: string, set = unavailable) => set === null || !hasOffer(set, compiled.findOfferIndex(id));
  const open = expected.filter(({ id }) => isOpen(id));
  const ranked = rank(tables, borrower, today, unavailable);
  assert.equal(ranked.total, expected.length);
  const best = ranked.availableOnly ? open : expected;
  assert.deepEqual(
    idsOf(compiled, ranked.orders),
    sortOrderNames.flatMap((sort) => sortMatches(best, sort).slice(0, tables.orderLength)),
  );

  const explained = await explainOffers(
    builtInVerticals.getProduct(tables),
    tables,
    vertical,
    borrower,
    today,
    (offer) => (unavailable !== null && hasOffer(unavailable, offer) ? ['daily_cap'] : []),
  );
  assert.equal(explained.matched, open.length);
  const later = unavailable?.slice() ?? emptyOfferSet(tables.offerCount);
  for (let change = 0; change < 10; change++) addOffer(later, Math.floor(random() * tables.offerCount));
  for (const bits of [unavailable, later]) {
    const set = bits === null ? allOffersAvailable : createUnavailableOfferSet(bits);
    assert.equal(
      countAvailableOffers(builtInVerticals.getProduct(tables), tables, ranked.total, borrower, today, set),
      expected.filter(({ id }) => isOpen(id, bits)).length,
    );
  }
  return [...new Set(ranked.orders)];
}

/** Returns the ids of the offers that none of many random borrowers gets. */
export function listUnseenOffers<Tables extends MatchTables>(
  compiled: Compiled<Tables>,
  rank: OfferRanker<Tables>,
  drawBorrower: (random: Random) => FieldVector,
  today: number,
): string[] {
  const random = seededRandom(3);
  const unseen = new Set(compiled.offers.keys());
  for (let i = 0; i < 40_000 && unseen.size > 0; i++) {
    for (const offer of rank(compiled.tables, drawBorrower(random), today, null).orders) unseen.delete(offer);
  }
  return idsOf(compiled, [...unseen]);
}

/** Functions of a product that decide what borrowers see. The checks must fail for an unfair market. */
export interface Market<Tables extends MatchTables> {
  readonly rank: OfferRanker<Tables>;
  readonly price: (
    catalog: CompiledCatalog,
    indexes: ArrayLike<number>,
    borrower: Readonly<FieldVector>,
  ) => readonly TemplatePricedOffer[];
}

/** Renders priced offers as objects (`views`) and twice as JSON text. The templates that `json` creates are used again for `again`. */
export function renderOffers<View extends OfferView>(
  catalog: CompiledCatalog,
  offers: readonly TemplatePricedOffer[],
  urls: OfferUrls,
): { readonly views: View[]; readonly json: string; readonly again: string } {
  const list: OfferList = { catalog, offers, subId: 'sub_1', clickToken: 'token' };
  const renderer = catalog.offerRenderer(urls.logos);
  return {
    views: renderer.createOfferViews(list, urls) as View[],
    json: renderer.renderOffersJson(list, urls),
    again: renderer.renderOffersJson(list, urls),
  };
}

interface FairnessOptions<Tables extends MatchTables, Applicant> {
  readonly vertical: Vertical;
  readonly fairMarket: Market<Tables>;
  readonly pricer: OfferPricer<Tables, Applicant>;
  /** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
  readonly catalogs: readonly Compiled<Tables>[];
  readonly drawBorrower: (random: Random) => FieldVector;
  readonly today: number;
  /** Size of the injected weight in the unit of the product's score. */
  readonly weight: number;
}

/**
 * Creates the checks that no trait changes a price or a rank (docs/contract.md#fairness). Each check compares two borrowers who differ in
 * one trait.
 */
export function createFairnessChecks<Tables extends MatchTables, Applicant>({
  vertical,
  fairMarket,
  pricer,
  catalogs,
  drawBorrower,
  today,
  weight,
}: FairnessOptions<Tables, Applicant>) {
  /** Returns the offers of a borrower in every order, and the figures of the offers, by offer id. */
  function show(market: Market<Tables>, catalog: Compiled<Tables>, borrower: FieldVector) {
    const { orders, total } = market.rank(catalog.tables, borrower, today, null);
    const places = orders.length / sortOrderNames.length;
    assert.equal(places, total, 'every matching offer must be in every order');
    const inOrder = (at: number) => idsOf(catalog, orders.subarray(at * places, (at + 1) * places));
    const priced = market.price(catalog, orders.subarray(0, places), borrower);
    return {
      orders: Object.fromEntries(sortOrderNames.map((sort, at) => [sort, inOrder(at)])) as Record<SortOrder, string[]>,
      prices: new Map(priced.map(({ index, slot, values }) => [catalog.offers[index]!.id, [slot, values]])),
    };
  }

  const checks = {
    show,

    /**
     * Asserts that an offer which both borrowers of a pair get has the same price and the same place among such offers. The borrowers of a
     * pair differ only in the trait. Returns the number of compared offers.
     */
    assertFair(market: Market<Tables>, trait: string): number {
      const random = seededRandom(20_260_801);
      const position = findFieldIndex(vertical, trait);
      let compared = 0;
      for (const catalog of catalogs) {
        for (let pair = 0; pair < 15; pair++) {
          const borrower = drawBorrower(random);
          const other = borrower.with(position, randomFieldValue(random, vertical.fields[position]!));
          const [ones, others] = [show(market, catalog, borrower), show(market, catalog, other)];
          for (const [id, price] of ones.prices) {
            if (!others.prices.has(id)) continue;
            assert.deepEqual(others.prices.get(id), price, `a price depends on ${trait}`);
            compared++;
          }
          for (const sort of sortOrderNames) {
            assert.deepEqual(
              ones.orders[sort].filter((id) => others.prices.has(id)),
              others.orders[sort].filter((id) => ones.prices.has(id)),
              `the order ${sort} depends on ${trait}`,
            );
          }
        }
      }
      return compared;
    },

    /** Asserts that the ZIP code changes neither the offers of a borrower nor their prices. */
    assertZipCodeIgnored(): void {
      const random = seededRandom(7);
      const position = findFieldIndex(vertical, 'address_zip');
      for (const catalog of catalogs) {
        const borrower = drawBorrower(random);
        for (const value of [-1, 0, 94_110]) {
          assert.deepEqual(
            show(fairMarket, catalog, borrower.with(position, value)),
            show(fairMarket, catalog, borrower),
          );
        }
      }
    },

    /** Returns a market whose scores include a trait, with a weight that differs from offer to offer. */
    createMarketWithWeight(trait: string): Market<Tables> {
      const position = findFieldIndex(vertical, trait);
      let value = 0;
      const rank = createPricingRanker<Tables, Applicant>({
        readApplicant(tables, borrower) {
          value = borrower[position]!;
          return pricer.readApplicant(tables, borrower);
        },
        computeSortKeys(tables, offer, applicant, keys) {
          const isAvailable = pricer.computeSortKeys(tables, offer, applicant, keys);
          keys.recommended -= ((value * (offer + 1)) % 7) * weight;
          return isAvailable;
        },
      });
      return { ...fairMarket, rank };
    },

    /** Returns a market whose scores include the payout that `payoutOf` returns. */
    createMarketWithPayout(payoutOf: (tables: Tables, offer: number, applicant: Applicant) => number): Market<Tables> {
      const rank = createPricingRanker<Tables, Applicant>({
        readApplicant: (tables, borrower) => pricer.readApplicant(tables, borrower),
        computeSortKeys(tables, offer, applicant, keys) {
          const isAvailable = pricer.computeSortKeys(tables, offer, applicant, keys);
          keys.recommended -= payoutOf(tables, offer, applicant);
          return isAvailable;
        },
      });
      return { ...fairMarket, rank };
    },

    /**
     * Asserts that only the order `svc_revenue` differs between each catalog and its copy with other payouts, for five borrowers of each
     * catalog. Returns how often `svc_revenue` differed.
     */
    assertOnlyRevenueOrderDiffers(market: Market<Tables>, copies: readonly Compiled<Tables>[]): number {
      const random = seededRandom(11);
      let differed = 0;
      for (const [at, catalog] of catalogs.entries()) {
        for (let i = 0; i < 5; i++) {
          const borrower = drawBorrower(random);
          const { svc_revenue: before, ...orders } = show(market, catalog, borrower).orders;
          const { svc_revenue: after, ...otherOrders } = show(market, copies[at]!, borrower).orders;
          assert.deepEqual(otherOrders, orders, 'an order depends on the payout');
          if (after.join() !== before.join()) differed++;
        }
      }
      return differed;
    },

    /** Returns a market in which borrowers with every second value of a trait get other figures. */
    createMarketWithSurcharge(trait: string): Market<Tables> {
      const position = findFieldIndex(vertical, trait);
      return {
        ...fairMarket,
        price: (catalog, indexes, borrower) =>
          fairMarket.price(catalog, indexes, borrower).map((priced) => ({
            ...priced,
            values: priced.values.map((value) =>
              typeof value === 'number' ? value - (borrower[position]! % 2) : value,
            ),
          })),
      };
    },
  };

  /** Defines the tests that traits change no price and no order, and that the check finds a market in which they do. */
  function testTraits(traits: readonly string[], comparedMin: number): void {
    for (const trait of traits) {
      describe(`influence of ${trait}`, () => {
        test(`prices and orders of offers do not depend on ${trait}`, () => {
          const compared = checks.assertFair(fairMarket, trait);
          assert.ok(compared > comparedMin, `only ${compared} offers were compared`);
        });

        test(`the check detects a price and a score that depend on ${trait}`, () => {
          const assertFair = (market: Market<Tables>) => checks.assertFair(market, trait);
          assert.throws(() => assertFair(checks.createMarketWithSurcharge(trait)), /a price depends on/);
          assert.throws(() => assertFair(checks.createMarketWithWeight(trait)), /the order recommended depends on/);
        });
      });
    }
    test('the ZIP code has no influence on the shown offers', checks.assertZipCodeIgnored);
  }

  return { ...checks, testTraits };
}

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { OfferList, OfferUrls, OfferView } from '../../src/catalogs/offer-view.ts';
import type { FieldVector } from '../../src/domain/field-vector.ts';
import { type SortOrder, sortOrderNames } from '../../src/domain/vertical.ts';
import { countAvailableOffers } from '../../src/matching/eligibility.ts';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import type { MatchTables } from '../../src/matching/match-tables.ts';
import { allOffersAvailable, createUnavailableOfferSet } from '../../src/matching/matcher.ts';
import { addOffer, emptyOfferSet, hasOffer, type OfferSet, removeOffer } from '../../src/matching/offer-set.ts';
import type { OfferRanker } from '../../src/matching/pricing-ranker.ts';
import type { ProductRanking } from '../../src/matching/product-ranking.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { TemplatePricedOffer } from '../../src/verticals/common/template-offer-renderer.ts';
import { type Random, seededRandom } from '../support/random-catalog.ts';

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
  /** Compares two offers in each order, according to the reference: negative if the first one comes first, 0 if the ids decide. */
  readonly compare: ReferenceOrders<Match>;
  readonly random: Random;
}

type CompareOffers<Match> = (one: Match, other: Match) => number;
export type ReferenceOrders<Match> = Readonly<Record<SortOrder, CompareOffers<Match>>>;

/** Returns the ids of offers in an order; equal offers are sorted by id. */
export function sortIds<Match extends { readonly id: string }>(
  matches: readonly Match[],
  compare: CompareOffers<Match>,
): string[] {
  return matches.toSorted((one, other) => compare(one, other) || (one.id < other.id ? -1 : 1)).map(({ id }) => id);
}

/**
 * Asserts that a ranking, its explanation, and its number of available offers agree with a reference. Returns the
 * indexes of the ranked offers.
 */
export async function compareRanking<Tables extends MatchTables, Match extends { readonly id: string }>(
  comparison: RankingComparison<Tables, Match>,
): Promise<readonly number[]> {
  const { compiled, borrower, today, unavailable, expected, rank, compare, random } = comparison;
  const { tables, vertical } = compiled;
  const isOpen = (id: string, set = unavailable) => set === null || !hasOffer(set, compiled.findOfferIndex(id));
  const open = expected.filter(({ id }) => isOpen(id));
  const ranked = rank(tables, borrower, today, unavailable);
  assert.equal(ranked.total, expected.length);
  const bestOf = (matches: readonly Match[], sort: SortOrder) =>
    sortIds(matches, compare[sort]).slice(0, tables.orderLength);
  const wanted = Math.min(open.length, bounds.offersShownMax);
  const availableOnly = sortOrderNames.some(
    (sort) => bestOf(expected, sort).filter((id) => isOpen(id)).length < wanted,
  );
  assert.equal(ranked.availableOnly, availableOnly);
  assert.deepEqual(
    idsOf(compiled, ranked.orders),
    sortOrderNames.flatMap((sort) => bestOf(availableOnly ? open : expected, sort)),
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
  for (let change = 0; change < 20; change++) {
    const offer = Math.floor(random() * tables.offerCount);
    if (hasOffer(later, offer)) removeOffer(later, offer);
    else addOffer(later, offer);
  }
  for (const bits of [unavailable, later]) {
    const set = bits === null ? allOffersAvailable : createUnavailableOfferSet(bits);
    assert.equal(
      countAvailableOffers(builtInVerticals.getProduct(tables), tables, ranked.total, borrower, today, set),
      expected.filter(({ id }) => isOpen(id, bits)).length,
    );
  }
  return [...new Set(ranked.orders)];
}

interface ReferenceTest<File, Tables extends MatchTables, Match extends { readonly id: string }> {
  readonly seed: number;
  readonly numRuns: number;
  readonly offersMax: number;
  readonly drawCatalog: (seed: number, offers: number) => File;
  readonly compile: (file: File) => Compiled<Tables>;
  readonly drawBorrower: (random: Random) => FieldVector;
  readonly today: number;
  readonly rank: OfferRanker<Tables>;
  /** Returns all offers that the borrower can get, available or not, from a catalog file. */
  readonly findMatches: (file: File, borrower: FieldVector) => readonly Match[];
  readonly compare: ReferenceOrders<Match>;
  /** Asserts that the figures of offers equal those of the reference. */
  readonly checkFigures: (
    compiled: Compiled<Tables>,
    offers: readonly number[],
    borrower: FieldVector,
    matches: ReadonlyMap<string, Match>,
    file: File,
  ) => void;
}

/** Compares rankings and figures of random borrowers in random catalogs with those of a reference. */
export async function compareWithReference<File, Tables extends MatchTables, Match extends { readonly id: string }>({
  seed,
  numRuns,
  offersMax,
  drawCatalog,
  compile,
  drawBorrower,
  findMatches,
  checkFigures,
  ...rest
}: ReferenceTest<File, Tables, Match>): Promise<void> {
  let matches = 0;
  let truncated = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: offersMax }), fc.nat(), async (fileSeed, count, drawSeed) => {
      const file = drawCatalog(fileSeed, count);
      const compiled = compile(file);
      const random = seededRandom(drawSeed);
      for (let i = 0; i < 8; i++) {
        const borrower = drawBorrower(random);
        const unavailable = drawUnavailable(random, count);
        const expected = findMatches(file, borrower);
        const offers = await compareRanking({ compiled, borrower, unavailable, expected, random, ...rest });
        checkFigures(compiled, offers, borrower, new Map(expected.map((match) => [match.id, match])), file);
        matches += expected.length;
        if (expected.length > bounds.offersShownMax) truncated++;
      }
    }),
    { seed, numRuns },
  );
  assert.ok(matches > 2_000 && truncated > 20, `${matches} matches, ${truncated} truncated orders`);
}

/** Returns the number of offers that a borrower gets, and the reasons why other offers do not match, such as `not_told state 2`. */
export async function explainReasons(
  { tables, vertical }: CompiledCatalog,
  borrower: FieldVector,
  today: number,
): Promise<(number | string)[]> {
  const product = builtInVerticals.getProduct(tables);
  const { matched, reasons } = await explainOffers(product, tables, vertical, borrower, today, null);
  return [matched, ...reasons.map(({ reason, field, offers }) => `${reason} ${field} ${offers}`)];
}

/** Returns the ids of the offers that none of many random borrowers gets. */
export function listUnseenOffers(
  compiled: CompiledCatalog,
  { rankOffers }: ProductRanking,
  drawBorrower: (random: Random) => FieldVector,
  today: number,
): string[] {
  const random = seededRandom(3);
  const unseen = new Set(compiled.offers.keys());
  for (let i = 0; i < 40_000 && unseen.size > 0; i++) {
    for (const offer of rankOffers(compiled.tables, drawBorrower(random), today, null).orders) unseen.delete(offer);
  }
  return idsOf(compiled, [...unseen]);
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

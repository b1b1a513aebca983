import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { noUnavailableOffers, type UnavailableOffers } from '../../src/matching/matcher.ts';
import { RankingArena } from '../../src/sessions/ranking-arena.ts';
import { memoryBesideHeap, memoryOfHeap } from './collect-garbage.ts';
import { rankedOf } from './ranked-of.ts';

const tokenLengthMax = bounds.clickTokenCharactersMax;
/** More rankings than fit into one buffer. */
const many = 3 * 4_096 + 5;

const unavailableOffers: UnavailableOffers = { count: 1, bits: Int32Array.of(4) };

describe('RankingArena', () => {
  for (const total of [0, 1, 5, 32, 33, 1_000, bounds.catalogOffersMax]) {
    it(`stores a ranking of ${total} offers, some of which may be unavailable`, () => {
      const rankings = new RankingArena();
      const ranked = rankedOf({ total, openOnly: total % 2 === 1, closed: unavailableOffers });
      const read = rankings.readRanking(rankings.storeRanking(ranked));
      assert.deepEqual(read, ranked);
      // If offers are unavailable, the orders contain fewer offers than match.
      const fewer = { ...ranked, ranking: { ...ranked.ranking, total: total + 300 } };
      assert.deepEqual(rankings.readRanking(rankings.storeRanking(fewer)), fewer);
      assert.equal(read.unavailableOffers, unavailableOffers);
    });
  }

  it('stores any ranking in reused memory', () => {
    const rankings = new RankingArena();
    const offer = fc.integer({ min: 0, max: 2 ** 15 - 1 });
    const sealed = fc.string({ unit: fc.constantFrom(...'AZaz09-_'), maxLength: tokenLengthMax });
    const wanted = fc.record({
      openOnly: fc.boolean(),
      total: fc.oneof(fc.nat(40), fc.constant(bounds.catalogOffersMax)),
      offers: fc.array(offer, { minLength: 1, maxLength: 80 }),
      sealedValue: sealed,
      today: fc.integer({ min: 2000_01_01, max: 9999_12_31 }),
      creditBand: fc.nat(127),
      version: fc.constantFrom('aaaaaaaaaaaa', 'bbbbbbbbbbbb'),
    });
    let place: number | null = null;
    fc.assert(
      fc.property(wanted, (each) => {
        const ranked = rankedOf(each);
        const next: number = rankings.storeRanking(ranked);
        assert.equal(place ?? next, next);
        place = next;
        assert.deepEqual(rankings.readRanking(next), ranked);
        rankings.releaseRanking(next);
      }),
      {
        examples: [
          [
            {
              openOnly: true,
              total: 80,
              offers: [2 ** 15 - 1],
              sealedValue: '_'.repeat(tokenLengthMax),
              today: 9999_12_31,
              creditBand: 127,
              version: 'aaaaaaaaaaaa',
            },
          ],
        ],
      },
    );
  });

  it('throws for a click token that is too long', () => {
    const rankings = new RankingArena();
    for (const length of [0, 1, tokenLengthMax]) {
      const ranked = rankedOf({ sealedValue: 'v'.repeat(length) });
      assert.deepEqual(rankings.readRanking(rankings.storeRanking(ranked)), ranked);
    }
    assert.throws(() => rankings.storeRanking(rankedOf({ sealedValue: 'v'.repeat(tokenLengthMax + 1) })), RangeError);
  });

  it('throws for orders of invalid length, without allocating memory', () => {
    const rankings = new RankingArena();
    const fitting = rankedOf({ total: bounds.offersRankedMax });
    const { ranking } = fitting;
    for (const orders of [`${ranking.orders}\0\0\0\0`, ranking.orders.slice(1)]) {
      assert.throws(() => rankings.storeRanking({ ...fitting, ranking: { ...ranking, orders } }), RangeError);
    }
    assert.equal(rankings.storeRanking(fitting), 0);
  });

  it('stores rankings in several buffers until they are released', () => {
    const rankings = new RankingArena();
    const ranked = (number: number) =>
      rankedOf({
        total: number % 30,
        offers: [number % 32_768, (number * 7) % 32_768],
        sealedValue: `${number}`.padStart(number % (tokenLengthMax + 1), '-').slice(0, tokenLengthMax),
        today: number,
        version: `version-${number % 3}`,
        closed: number % 2 === 0 ? noUnavailableOffers : unavailableOffers,
      });
    const places = Array.from({ length: many }, (_, number) => rankings.storeRanking(ranked(number)));
    assert.equal(new Set(places).size, many);
    for (let number = 0; number < many; number += 2) rankings.releaseRanking(places[number]!);
    for (let number = 0; number < many; number += 2) places[number] = rankings.storeRanking(ranked(many + number));
    assert.equal(new Set(places).size, many);
    for (const [number, place] of places.entries()) {
      assert.deepEqual(rankings.readRanking(place), ranked(number % 2 === 0 ? many + number : number));
    }
  });

  it('allocates memory in whole buffers, and no memory for replaced rankings', async () => {
    const rankings = new RankingArena();
    const before = await memoryBesideHeap();
    const places = Array.from({ length: 4_096 }, () => rankings.storeRanking(rankedOf({})));
    const taken = (await memoryBesideHeap()) - before;
    assert(taken <= 4_096 * 344, `${taken} bytes`);
    for (let round = 0; round < 3; round++) {
      for (const place of places) rankings.releaseRanking(place);
      for (let i = 0; i < places.length; i++) places[i] = rankings.storeRanking(rankedOf({}));
    }
    assert((await memoryBesideHeap()) - before < taken + 4_096 * tokenLengthMax);
    assert.equal(rankings.readRanking(places[0]!).clickToken, rankedOf({}).clickToken);
  });

  it('releases unavailable offers and catalog versions with the last ranking that uses them', async () => {
    const rankings = new RankingArena();
    // Longer strings are not stored on the heap.
    const length = 2 ** 19;
    const before = await memoryOfHeap();
    const refs = Array.from({ length: 64 }, (_, number) => {
      const closed: UnavailableOffers = { count: 1, bits: Int32Array.of(number) };
      const version = Buffer.alloc(length, `${number} `).toString('latin1');
      const places = [
        rankings.storeRanking(rankedOf({ closed, version })),
        rankings.storeRanking(rankedOf({ closed, version })),
      ];
      for (const place of places) rankings.releaseRanking(place);
      return new WeakRef(closed);
    });
    const heap = (await memoryOfHeap()) - before;
    assert(heap < 16 * length, `${heap} bytes`);
    for (const ref of refs) assert.equal(ref.deref(), undefined);
  });
});

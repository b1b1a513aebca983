import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { RankingArena } from '../../src/sessions/ranking-arena.ts';
import { memoryBesideHeap, memoryOfHeap } from './collect-garbage.ts';
import { rankedOf } from './ranked-of.ts';

const tokenLengthMax = bounds.clickTokenCharactersMax;
/** More rankings than fit into one buffer. */
const many = 3 * 4_096 + 5;

describe('RankingArena', () => {
  it('throws a RangeError if the encoded sort orders of a ranking are too long or incomplete', () => {
    const rankings = new RankingArena();
    const fitting = rankedOf({ total: bounds.offersRankedMax });
    const { ranking } = fitting;
    for (const orders of [`${ranking.orders}\0\0\0\0`, ranking.orders.slice(1)]) {
      assert.throws(() => rankings.storeRanking({ ...fitting, ranking: { ...ranking, orders } }), RangeError);
    }
    assert.equal(rankings.storeRanking(fitting), 0);
  });

  it('rankings in several buffers do not change while other rankings are released and stored', () => {
    const rankings = new RankingArena();
    const ranked = (number: number) =>
      rankedOf({
        total: number % 30,
        offers: [number % 32_768, (number * 7) % 32_768],
        clickToken: `${number}`.padStart(number % (tokenLengthMax + 1), '-').slice(0, tokenLengthMax),
        rankedOn: number,
        catalogVersion: `version-${number % 3}`,
        unavailableSet: number % 2,
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

  it('allocates memory in whole buffers, and reuses the memory of released rankings', async () => {
    const rankings = new RankingArena();
    const before = await memoryBesideHeap();
    const places = Array.from({ length: 4_096 }, () => rankings.storeRanking(rankedOf()));
    const taken = (await memoryBesideHeap()) - before;
    assert(taken <= 4_096 * 344, `${taken} bytes`);
    for (let round = 0; round < 3; round++) {
      for (const place of places) rankings.releaseRanking(place);
      for (let i = 0; i < places.length; i++) places[i] = rankings.storeRanking(rankedOf());
    }
    assert((await memoryBesideHeap()) - before < taken + 4_096 * tokenLengthMax);
    assert.equal(rankings.readRanking(places[0]!).clickToken, rankedOf().clickToken);
  });

  it('after all rankings are released, the memory of their catalog versions is freed', async () => {
    const rankings = new RankingArena();
    // Node.js stores much longer strings outside the heap.
    const length = 2 ** 19;
    const before = await memoryOfHeap();
    for (let number = 0; number < 64; number++) {
      const catalogVersion = Buffer.alloc(length, `${number} `).toString('latin1');
      const ranked = rankedOf({ catalogVersion });
      const places = [rankings.storeRanking(ranked), rankings.storeRanking({ ...ranked })];
      for (const place of places) rankings.releaseRanking(place);
    }
    const heap = (await memoryOfHeap()) - before;
    assert(heap < 16 * length, `${heap} bytes`);
  });
});

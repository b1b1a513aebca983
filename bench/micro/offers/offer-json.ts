import { compileCatalog } from '../../../src/offers/compile-catalog.ts';
import { rankOffers } from '../../../src/offers/match.ts';
import { renderOffersJson } from '../../../src/offers/offer-json.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { generateCatalog } from '../../../test/support/random-catalog.ts';
import type { MicroBenchmark } from '../micro.ts';
import { randomBorrowerVectors, fixedToday } from './borrowers.ts';

export const offerJsonBenchmarks: readonly MicroBenchmark[] = [5, 20].map((offersShown) => ({
  name: `offers/offer-json: render and write ${offersShown} offers`,
  call: `all ${offersShown} offers of one answer, and their bytes`,
  prepare: () => {
    const catalog = compileCatalog(generateCatalog(200, 200), personalLoans, {
      mode: 'live',
      cdnUrl: () => 'http://127.0.0.1:8080/cdn',
    });
    const ranked = randomBorrowerVectors(1_000, 7)
      .map((borrower) => ({ borrower, orders: rankOffers(catalog.tables, borrower, fixedToday).orders }))
      .filter(({ orders }) => orders.length >= 4 * offersShown);
    const head = 'http://127.0.0.1:8080/c?sub=';
    const subId = `sub_${'0'.repeat(64)}`;
    const v = 'A'.repeat(60);
    // What reads the text is part of what it costs: it is put together in the engine's own time, on the first reading.
    const wire = Buffer.alloc(65_536);
    return {
      calls: ranked.length,
      run: () => {
        let bytes = 0;
        for (const { borrower, orders } of ranked) {
          bytes += wire.write(renderOffersJson(catalog, orders, offersShown, borrower, head, subId, v));
        }
        return bytes;
      },
    };
  },
}));

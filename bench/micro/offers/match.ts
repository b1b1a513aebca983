import { rankOffers } from '../../../src/offers/match.ts';
import { compileMatchTables } from '../../../src/offers/match-tables.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { generateCatalog } from '../../../test/support/random-catalog.ts';
import type { Micro } from '../micro.ts';
import { drawVectors, today } from './borrowers.ts';

const calls = 200;

export const matchMicros: readonly Micro[] = [44, 200].map((offers) => ({
  name: `offers/match: rank ${offers} offers in all four orders`,
  prepare: () => {
    const tables = compileMatchTables(generateCatalog(200, offers), personalLoans);
    const borrowers = drawVectors(calls, 5);
    return {
      calls,
      run: () => {
        let total = 0;
        for (const borrower of borrowers) total += rankOffers(tables, borrower, today).total;
        return total;
      },
    };
  },
}));

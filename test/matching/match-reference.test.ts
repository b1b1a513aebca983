import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { compareWithReference, draws } from './compare-with-reference.ts';

/**
 * Compares the matcher with the reference rules for random borrowers and catalogs: totals, all four orders, and the view of
 * each ranked offer. The default number of borrowers takes a few seconds; `make match-test` sets 100,000.
 */
const borrowersInAll = Number(process.env.MATCH_BORROWERS ?? 1_000);
const borrowersOfCatalog = 20;

for (const { vertical, share } of [
  { vertical: personalLoans, share: 0.8 },
  { vertical: equipmentLeases, share: 0.2 },
]) {
  test(`ranks ${vertical.segment} in the same order as the reference rules`, { timeout: 3_600_000 }, async () => {
    let compared = 0;
    const numRuns = Math.ceil((borrowersInAll * share) / borrowersOfCatalog);
    await fc.assert(
      fc.asyncProperty(draws, async (draw) => {
        compared += await compareWithReference(rankLoans, vertical, draw, borrowersOfCatalog);
      }),
      { numRuns },
    );
    // Fewer than this would mean that most borrowers match nothing, and little was compared.
    assert.ok(compared > borrowersInAll * share * 3, `only ${compared} matches were compared`);
  });
}

import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { compareWithReference, draws } from './compare-with-reference.ts';

/**
 * Checks that the comparison with the plain rules finds errors: each mutant breaks one line in a copy of the sources. Part of
 * `make match-test`, not of `make test`.
 */
const mutantsByFile: Readonly<Record<string, readonly (readonly [error: string, from: string, to: string])[]>> = {
  'matching/range-index.ts': [
    ['a value in the bucket after its own', 'cuts[middle]! <= value', 'cuts[middle]! < value'],
    ['an offer at a bucket edge that is not compared', 'if (min > start || max + 1 < end)', 'if (max + 1 < end)'],
  ],
  'verticals/personal-loans/rank-loans.ts': [
    [
      'the revenue of another credit band',
      'tables.expectedRevenueMicros[rowOf(tables, offer, applicant.creditBand)]!',
      'tables.expectedRevenueMicros[offer]!',
    ],
    ['an order by APR without the upper end', '* 4_096 + tables.aprMax[slot]!', '* 4_096'],
    ['an order of equal amounts without the APR', 'aprKey - amountMax * 2 ** 24', '-amountMax'],
    ['the loan term score of another term', 'termFits[tables.slotTerm[slot]!]!', 'termFits[0]!'],
  ],
  'verticals/personal-loans/recommendation-score.ts': [
    ['an amount score above 1', 'Math.min(millionthsMax, ratioInMillionths', 'Math.max(0, ratioInMillionths'],
  ],
  'verticals/personal-loans/price-offer.ts': [
    ['a payment limit a last bit too low', ' * (1 + 4 * Number.EPSILON)', ''],
    [
      'a payment limit from rounded parts',
      '(share * annualIncome - paymentUnitsPerUsd * monthlyDebt)',
      '((share / debtToIncomeScale) * (annualIncome / 12) - monthlyDebt) * paymentUnitsPerUsd',
    ],
    ['a minimum amount of a state that is not applied', 'amount < amountMin || amount', 'amount'],
    ['an APR cap of a state that is not applied', 'tables.aprMaxPercent[slot]! > aprCapPercent ||', ''],
    [
      'unknown debts treated as none',
      'if (applicant.annualIncome < 0 || applicant.monthlyDebt < 0) return',
      'if (applicant.annualIncome < 0) return',
    ],
    ['a requested term that is not quoted', 'openTerms === 0 || term === applicant.term', 'openTerms === 0'],
    ['the lowest payment factor of a wrong term', 'if (factor < minFactor) minFactor', 'minFactor'],
  ],
  'matching/match-tables.ts': [
    [
      'a minimum age that is a year too high',
      'completedYearsBetween(value, today)',
      'completedYearsBetween(value, today) - 1',
    ],
  ],
  'matching/pricing-ranker.ts': [
    ['unavailable offers in the ranking', 'if (hasOffer(unavailable, offers[at]!)) continue;', ''],
    ['too few available offers among the best', 'if (found < wanted) return false;', ''],
  ],
  'matching/select-lowest.ts': [
    ['ties in the order of arrival', 'if (key >= limit) continue;', 'if (key > limit) continue;'],
    ['a limit that excludes some of the lowest keys', '(bucket + 2) /', 'bucket /'],
  ],
};

const mutants = Object.entries(mutantsByFile).flatMap(([file, changes]) =>
  changes.map((change) => [file, ...change] as const),
);

const folder = temporaryFolder();

/** Returns the ranking function of a copy of the sources with one text replaced. */
async function loadMutant(name: string, file: string, from: string, to: string): Promise<typeof rankLoans> {
  const copy = join(folder, name);
  cpSync(fileURLToPath(new URL('../../src', import.meta.url)), join(copy, 'src'), { recursive: true });
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  const path = join(copy, 'src', file);
  const text = readFileSync(path, 'utf8');
  assert.equal(text.split(from).length, 2, `${file} must hold exactly once: ${from}`);
  writeFileSync(path, text.replace(from, to));
  const mutant = await import(pathToFileURL(join(copy, 'src/verticals/personal-loans/rank-loans.ts')).href);
  return mutant.rankLoans;
}

/** A seed that finds all mutants early. */
const seed = 1;

for (const [index, [file, error, from, to]] of mutants.entries()) {
  test(`the comparison with the reference matcher detects ${error}`, async () => {
    const rank = await loadMutant(String(index), file, from, to);
    const result = await fc.check(
      fc.asyncProperty(draws, async (draw) => void (await compareWithReference(rank, personalLoans, draw, 20))),
      { numRuns: 400, seed, endOnFailure: true },
    );
    assert.ok(result.failed, `no difference in ${result.numRuns} catalogs`);
  });
}

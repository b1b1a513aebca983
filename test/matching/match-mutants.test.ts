import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { LoanRanker } from '../../src/verticals/personal-loans/rank-loans.ts';
import { compareWithReference, draws } from './compare-with-reference.ts';

/**
 * Checks that the comparison with the plain rules finds errors: each mutant breaks one line in a copy of the sources. Part of
 * `make match-test`, not of `make test`.
 */
const mutantsByFile: Readonly<Record<string, readonly (readonly [error: string, from: string, to: string])[]>> = {
  'matching/range-index.ts': [
    ['a value in the bucket after its own', 'cuts[middle]! <= value', 'cuts[middle]! < value'],
    ['an offer at a bucket edge that is not compared', 'if (min > start || max + 1 < end)', 'if (max + 1 < end)'],
    ['a range that ends too early', 'max < start', 'max <= start'],
  ],
  'verticals/personal-loans/match-index.ts': [
    [
      'default slots closed only for borrowers who request no term',
      '(terms[offer]! & bit) !== 0 ? (price.openTerms & bit) === 0 : defaultClosed',
      'defaultClosed',
    ],
    ['the lowest payment factor of a wrong term', 'Math.min(minPaymentFactor[offer]!', 'Math.max(0'],
    [
      'best scores that are too low',
      'best[offer] = score(tables, offer, applicant, price)',
      'best[offer] = score(tables, offer, applicant, price) - 50_000',
    ],
    ['a wrong order by APR', 'aprSortKey(tables, defaultSlot[offer]!)', 'defaultSlot[offer]!'],
    ['a wrong order by amount', '-amountMax[offer]!', 'amountMax[offer]!'],
    ['offers with a debt limit in the order by amount', '!hasOffer(this.debtLimited, offer)', 'offer >= 0'],
    [
      'the revenue of another credit band',
      'revenueSortKey(tables, offer * bandCount + band)',
      'revenueSortKey(tables, offer * bandCount)',
    ],
  ],
  'verticals/personal-loans/select-eligible.ts': [
    ['amounts that are not filtered', '.amounts.filterOffers(eligible, applicant.amount)', ''],
    [
      'a minimum amount of a state that is not applied',
      'if (applicant.amount >= highestRaisedMinimum) return;',
      'return;',
    ],
  ],
  'verticals/personal-loans/rank-loans.ts': [
    ['a state that closes no default term', 'if (nonDefault !== undefined)', 'if (nonDefault === eligible)'],
    ['debts that exclude offers with another affordable term', '* minPaymentFactor[offer]! > room)', '> 0)'],
    ['debts that leave an offer at its default term', 'removeOffer(defaultTermOffers, offer);', ''],
    ['unknown debts treated as none', 'annualIncome >= 0 && monthlyDebt >= 0', 'annualIncome >= 0'],
    [
      'offers of exactly the needed amount left out',
      'amountMax[offer]! >= amountNeeded',
      'amountMax[offer]! > amountNeeded',
    ],
    [
      'offers with a debt limit ranked by the requested amount only',
      '>= amountNeeded * paymentUnitsPerUsd',
      '>= 2 * amountNeeded * paymentUnitsPerUsd',
    ],
    [
      'a search by score that stops too early',
      '<= recommended.highestAcceptedSortKey',
      '< recommended.highestAcceptedSortKey',
    ],
    ['offers ranked by revenue that debts exclude', 'if (!hasOffer(eligible, offer)) continue;', ''],
  ],
  'verticals/personal-loans/price-offer.ts': [
    ['a payment limit a last bit too low', ' * (1 + 4 * Number.EPSILON)', ''],
    [
      'a payment limit from rounded parts',
      '(share * annualIncome - paymentUnitsPerUsd * monthlyDebt)',
      '((share / debtToIncomeScale) * (annualIncome / 12) - monthlyDebt) * paymentUnitsPerUsd',
    ],
  ],
  'matching/criteria-index.ts': [
    [
      'a minimum age that is a year too high',
      '(years === 0 ? absentValue : years)',
      '(years === 0 ? absentValue : years + 1)',
    ],
  ],
  'matching/best-offers.ts': [
    ['unavailable offers in the total', 'subtractOffers(eligible, unavailable);', ''],
    ['too few available offers among the best', 'if (found < wanted) return false;', ''],
  ],
  'matching/top-offers.ts': [
    ['ties in the order of arrival', '|| (key === keys[index]! && offer > offers[index]!)', '|| key === keys[index]!'],
  ],
};

const mutants = Object.entries(mutantsByFile).flatMap(([file, changes]) =>
  changes.map((change) => [file, ...change] as const),
);

const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
after(() => rmSync(folder, { recursive: true }));

/** Returns the ranking function of a copy of the sources with one text replaced. */
async function loadMutant(name: string, file: string, from: string, to: string): Promise<LoanRanker> {
  const copy = join(folder, name);
  cpSync(fileURLToPath(new URL('../../src', import.meta.url)), join(copy, 'src'), { recursive: true });
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  const path = join(copy, 'src', file);
  const text = readFileSync(path, 'utf8');
  assert.equal(text.split(from).length, 2, `${file} must hold exactly once: ${from}`);
  writeFileSync(path, text.replace(from, to));
  const { rankLoans } = await import(pathToFileURL(join(copy, 'src/verticals/personal-loans/rank-loans.ts')).href);
  return rankLoans;
}

/** A seed that finds all mutants early. Other seeds needed hundreds of catalogs for the range that ends too early. */
const seed = 1;

for (const [index, [file, error, from, to]] of mutants.entries()) {
  test(`the comparison with the reference matcher detects ${error}`, async () => {
    const rank = await loadMutant(String(index), file, from, to);
    const result = fc.check(
      fc.property(draws, (draw) => void compareWithReference(rank, personalLoans, draw, 20)),
      { numRuns: 400, seed, endOnFailure: true },
    );
    assert.ok(result.failed, `no difference in ${result.numRuns} catalogs`);
  });
}

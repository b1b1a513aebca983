import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { RankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { compareWithReference, draws } from './compare-with-reference.ts';

/**
 * What the comparison with the plain rules is worth: each of these breaks one index in a copy of the sources, and the
 * comparison must find it out.
 */
const mutants: readonly (readonly [what: string, file: string, from: string, to: string])[] = [
  ['a value beside the wrong cut', 'range-index.ts', 'cuts[middle]! <= value', 'cuts[middle]! < value'],
  ['a boundary offer taken unseen', 'range-index.ts', 'if (min > least || max + 1 < end)', 'if (max + 1 < end)'],
  ['a range that ends early', 'range-index.ts', 'max < least', 'max <= least'],
  ['an age a year off', 'match-index.ts', '(years === 0 ? absent : years)', '(years === 0 ? absent : years + 1)'],
  ['amounts unheard of', 'eligible-offers.ts', '.amounts.narrow(eligible, applicant.amount)', ''],
  ['closed offers counted as open', 'match.ts', 'leaveOut(eligible, closed);', ''],
  ['too few open offers among the best', 'match.ts', 'if (found < wanted) return false;', ''],
  [
    'a least amount of a state not raised',
    'eligible-offers.ts',
    'if (applicant.amount >= raisedToHighest) return;',
    'return;',
  ],
  ['a state that closes no usual term', 'match.ts', 'if (unusual !== undefined)', 'if (unusual === usual)'],
  [
    'unusual terms only of those who ask for none',
    'match-index.ts',
    '(terms[offer]! & bit) !== 0 ? (price.openTerms & bit) === 0 : usualClosed',
    'usualClosed',
  ],
  ['debts by the shortest of terms', 'match-index.ts', 'Math.min(leastFactor[offer]!', 'Math.max(0'],
  ['debts that strike out whoever must take another term', 'match.ts', '* leastFactor[offer]! > room)', '> 0)'],
  ['debts that leave usual what is not', 'match.ts', 'removeOffer(usual, offer);', ''],
  ['unknown debts taken for none', 'match.ts', 'annualIncome >= 0 && monthlyDebt >= 0', 'annualIncome >= 0'],
  ['room a last bit too small', 'payment-room.ts', ' * (1 + 4 * Number.EPSILON)', ''],
  [
    'room by rounded parts',
    'payment-room.ts',
    '(share * annualIncome - roomUnitsOfUsd * monthlyDebt)',
    '((share / debtShareUnit) * (annualIncome / 12) - monthlyDebt) * roomUnitsOfUsd',
  ],
  ['room for more taken for none', 'match.ts', 'amountMax[offer]! >= amountNeeded', 'amountMax[offer]! > amountNeeded'],
  [
    'limited offers judged by the amount alone',
    'match.ts',
    '>= amountNeeded * roomUnitsOfUsd',
    '>= 2 * amountNeeded * roomUnitsOfUsd',
  ],
  ['a walk that ends too early', 'match.ts', '<= recommended.limit', '< recommended.limit'],
  [
    'best scores that others beat',
    'match-index.ts',
    'best[offer] = score(tables, offer, applicant, price)',
    'best[offer] = score(tables, offer, applicant, price) - 50_000',
  ],
  ['rates before their order', 'match-index.ts', 'aprKey(tables, usualSlot[offer]!)', 'usualSlot[offer]!'],
  ['amounts before their order', 'match-index.ts', '-amountMax[offer]!', 'amountMax[offer]!'],
  ['limited offers among the unlimited', 'match-index.ts', '!hasOffer(this.limited, offer)', 'offer >= 0'],
  [
    'revenue of the wrong band',
    'match-index.ts',
    'revenueKey(tables, offer * bandCount + band)',
    'revenueKey(tables, offer * bandCount)',
  ],
  ['revenue walked past who is closed by debts', 'match.ts', 'if (!hasOffer(eligible, offer)) continue;', ''],
  ['ties by arrival', 'best-offers.ts', '|| (key === keys[at]! && offer > offers[at]!)', '|| key === keys[at]!'],
];

const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
after(() => rmSync(folder, { recursive: true }));

/** The ranking of a copy of the sources in which one text is replaced. */
async function mutant(name: string, file: string, from: string, to: string): Promise<RankLoans> {
  const copy = join(folder, name);
  for (const part of ['bounds.ts', 'domain', 'offers', 'verticals']) {
    cpSync(fileURLToPath(new URL(`../../src/${part}`, import.meta.url)), join(copy, 'src', part), { recursive: true });
  }
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  const path = join(copy, 'src/offers', file);
  const text = readFileSync(path, 'utf8');
  assert.equal(text.split(from).length, 2, `${file} no longer holds, or holds twice: ${from}`);
  writeFileSync(path, text.replace(from, to));
  const { rankOffers } = await import(pathToFileURL(join(copy, 'src/matching/ranker.ts')).href);
  return rankOffers;
}

/** By this one all are found soon; by others a range that ends early took hundreds of catalogs, and half a minute. */
const seed = 1;

for (const [at, [what, file, from, to]] of mutants.entries()) {
  test(`the comparison finds ${what}`, async () => {
    const rank = await mutant(String(at), file, from, to);
    const found = fc.check(
      fc.property(draws, (draw) => void compareWithReference(rank, personalLoans, draw, 20)),
      { numRuns: 400, seed, endOnFailure: true },
    );
    assert.ok(found.failed, `${found.numRuns} catalogs, and no difference`);
  });
}

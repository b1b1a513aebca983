import { type Borrower, drawBorrower } from '../../bench/population/borrower.ts';
import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

/** What POST /inputs says of the fields a session holds. */
export interface Readiness {
  readonly match_readiness: string;
  readonly missing_required: readonly string[];
  readonly missing_conditional: readonly string[];
}

/** Some of a borrower's fields, all of them often enough for offers; now and then a field is cleared. */
export function drawMerge(random: Random): Fields {
  const borrower: Fields = { ...drawBorrower(random) } satisfies Partial<Borrower>;
  const isWhole = chance(random, 0.5);
  const merge: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(borrower)) {
    if (isWhole || chance(random, 0.4)) merge[name] = chance(random, 0.02) ? null : value;
  }
  // The amount shows in every payment, so it tells the merges of a session apart, and their order.
  if (!isWhole) merge.loan_amount = wholeNumber(random, 1_000, 100_000);
  return merge;
}

/** The rule of docs/contract.md#submitting-fields: later values replace earlier ones, null clears. */
export function mergeFields(fields: Fields, merge: Fields): Fields {
  return Object.fromEntries(Object.entries({ ...fields, ...merge }).filter(([, value]) => value !== null));
}

/** The rule of docs/contract.md#match-readiness, from the contract suite's own table. */
export function readinessOf(fields: Fields): Readiness {
  const { required, conditional } = personalLoansFixture;
  const missingRequired = required.filter((name) => !(name in fields));
  const missingConditional = conditional
    .filter(({ when, field }) => !(field in fields) && Object.entries(when).every(([name, is]) => fields[name] === is))
    .map(({ field }) => field);
  return {
    match_readiness: missingRequired.length > 0 ? 'insufficient' : missingConditional.length > 0 ? 'partial' : 'high',
    missing_required: missingRequired,
    missing_conditional: missingConditional,
  };
}

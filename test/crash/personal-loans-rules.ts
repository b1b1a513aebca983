import { type Borrower, createRandomBorrower } from '../../bench/population/borrower.ts';
import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import type { ApiKeyMode, OfferView } from '../../src/index.ts';
import { type Fields, findListedOffer } from '../support/vertical-fixture.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

/** Part of the answer of POST /inputs. */
export interface Readiness {
  readonly match_readiness: string;
  readonly missing_required: readonly string[];
  readonly missing_conditional: readonly string[];
}

/** Draws some or all fields of a borrower. Few fields are cleared. */
export function drawMerge(random: Random): Fields {
  const borrower: Fields = { ...createRandomBorrower(random) } satisfies Partial<Borrower>;
  const isWhole = chance(random, 0.5);
  const merge: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(borrower)) {
    if (isWhole || chance(random, 0.4)) merge[name] = chance(random, 0.02) ? null : value;
  }
  // Every payment depends on the amount, so it distinguishes the merges of a session and their order.
  if (!isWhole) merge.loan_amount = wholeNumber(random, 1_000, 100_000);
  return merge;
}

/** Merges fields (docs/contract.md#submitting-fields): later values replace earlier values, and null removes a value. */
export function mergeFields(fields: Fields, merge: Fields): Fields {
  return Object.fromEntries(Object.entries({ ...fields, ...merge }).filter(([, value]) => value !== null));
}

/** Returns the readiness (docs/contract.md#match-readiness) according to the table of the contract tests. */
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

/** A click URL, and the value of its first click. */
export interface Link {
  readonly offerId: string;
  /** Path and query. The port changes with every start. */
  readonly path: string;
  readonly micros: number;
}

export function offerLink(
  { svc_offer_id: offerId, click_url }: OfferView,
  mode: ApiKeyMode,
  creditBand: unknown,
): Link {
  const { pathname, search } = new URL(click_url);
  return { offerId, path: pathname + search, micros: mode === 'test' ? 0 : clickMicros(offerId, String(creditBand)) };
}

/** Remembers the results of a function, because a lookup searches the catalog. */
function memoize<Key extends string, Result>(compute: (offerId: string, key: Key) => Result): typeof compute {
  const results = new Map<string, Result>();
  return (offerId, key) => {
    const name = `${offerId} ${key}`;
    if (!results.has(name)) results.set(name, compute(offerId, key));
    return results.get(name)!;
  };
}

export const lenderOf = memoize(
  (offerId, mode: ApiKeyMode) => findListedOffer(personalLoansFixture, offerId, mode).lender,
);

/** Returns the value of the first click on a live offer (docs/contract.md#click-revenue). */
const clickMicros = memoize((offerId, creditBand) =>
  personalLoansFixture.clickMicros(findListedOffer(personalLoansFixture, offerId).offer, creditBand),
);

/** Whether a session has the fields that offers require. */
export function isReady({ fields }: { readonly fields: Fields }): boolean {
  return readinessOf(fields).match_readiness !== 'insufficient';
}

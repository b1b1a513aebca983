import { type Borrower, drawBorrower } from '../../bench/population/borrower.ts';
import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import type { Mode, OfferView } from '../../src/index.ts';
import { personalLoansFixture } from '../support/personal-loans-fixture.ts';
import { type Fields, listedOffer } from '../support/vertical-fixture.ts';

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

/** A click URL from an answer, and what its first click books. */
export interface Link {
  readonly offerId: string;
  /** Path and query, since the port changes with every start. */
  readonly path: string;
  readonly micros: number;
}

/** What an answer's offer gives to click on, for a borrower of this credit band. */
export function offerLink({ svc_offer_id: offerId, click_url }: OfferView, mode: Mode, creditBand: unknown): Link {
  const { pathname, search } = new URL(click_url);
  return { offerId, path: pathname + search, micros: mode === 'test' ? 0 : worthMicros(offerId, String(creditBand)) };
}

/** Who makes an offer. */
export function lenderOf(offerId: string, mode: Mode): string {
  const name = `${mode} ${offerId}`;
  let lender = lenders.get(name);
  if (lender === undefined) {
    ({ lender } = listedOffer(personalLoansFixture, offerId, mode));
    lenders.set(name, lender);
  }
  return lender;
}

const lenders = new Map<string, string>();

/** By name of offer and band: looking one up takes a walk through the catalog. */
const worths = new Map<string, number>();

/** What the first click on a live offer books (docs/contract.md#click-revenue). */
function worthMicros(offerId: string, creditBand: string): number {
  const name = `${offerId} ${creditBand}`;
  let micros = worths.get(name);
  if (micros === undefined) {
    micros = personalLoansFixture.clickMicros(listedOffer(personalLoansFixture, offerId).offer, creditBand);
    worths.set(name, micros);
  }
  return micros;
}

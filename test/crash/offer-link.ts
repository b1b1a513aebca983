import type { Mode, OfferView } from '../../src/index.ts';
import { listedOffer } from '../support/vertical-fixture.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

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

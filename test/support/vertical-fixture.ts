import type { CatalogSource, Mode, Vertical } from '../../src/index.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Values for one pocket field, and what is said of those that are refused (docs/contract.md#field-values). */
export interface FieldCases {
  readonly name: string;
  readonly valid: readonly unknown[];
  readonly invalid: readonly (readonly [value: unknown, code: string])[];
  /** Members that every refusal of this code carries besides field, code and message. */
  readonly hints: Readonly<Record<string, Fields>>;
}

/** All that differs between verticals for the contract suite: what to submit, and what to expect of it. */
export interface VerticalFixture {
  readonly vertical: Vertical;
  readonly catalogs: readonly CatalogSource[];
  readonly catalogFiles: Readonly<Record<Mode, LoanCatalog>>;
  /** Required and conditional fields, in the order of `missing_required`; more than 20 live offers match. */
  readonly complete: Fields;
  /** As complete, and no live offer matches. */
  readonly unmatched: Fields;
  /** In the order of `missing_required`. */
  readonly required: readonly string[];
  readonly conditional: readonly {
    readonly when: Fields;
    readonly unless: Fields;
    readonly field: string;
    readonly value: unknown;
  }[];
  readonly fields: readonly FieldCases[];
  /** Name of the field that holds the credit band, the amount, the term. */
  readonly creditBand: string;
  readonly amount: string;
  readonly term: string;
  /** A term that some offers matching `complete` have and others do not. */
  readonly someTerm: number;
  /** What a click on an offer by a borrower of this band is worth to us, in micro-dollars (docs/contract.md#click-revenue). */
  clickMicros(offer: LoanOffer, band: string): number;
}

interface ListedOffer {
  readonly lender: string;
  readonly logo: string;
  readonly offer: LoanOffer;
}

/** The offer of this id as its catalog file has it. */
export function listedOffer(fixture: VerticalFixture, id: string, mode: Mode = 'live'): ListedOffer {
  for (const { name, logo, offers } of fixture.catalogFiles[mode].lenders) {
    const offer = offers.find((candidate) => candidate.id === id);
    if (offer !== undefined) return { lender: name, logo, offer };
  }
  throw new Error(`${id} is not in the ${mode} catalog`);
}

/** What the clicks of a complete borrower on these offers are worth, in micro-dollars. */
export function worthMicros(fixture: VerticalFixture, offerIds: readonly string[]): number {
  const band = fixture.complete[fixture.creditBand] as string;
  let micros = 0;
  for (const id of offerIds) micros += fixture.clickMicros(listedOffer(fixture, id).offer, band);
  return micros;
}

/** The same in dollars as an answer has it: to the cent, half up. */
export function worthUsd(fixture: VerticalFixture, offerIds: readonly string[]): number {
  return Math.floor((worthMicros(fixture, offerIds) + 5_000) / 10_000) / 100;
}

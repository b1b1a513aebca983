import type { ApiKeyMode, CatalogSource, Vertical } from '../../src/index.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Valid and invalid values for one pocket field, with the expected error codes (docs/contract.md#field-values). */
export interface FieldCases {
  readonly name: string;
  readonly valid: readonly unknown[];
  readonly invalid: readonly (readonly [value: unknown, code: string])[];
  /** Additional members of an error by its code, besides field, code and message. */
  readonly hints: Readonly<Record<string, Fields>>;
}

/** Differences between verticals that the contract suite uses: the fields to submit and the expected results. */
export interface VerticalFixture {
  readonly vertical: Vertical;
  readonly catalogs: readonly CatalogSource[];
  readonly catalogFiles: Readonly<Record<ApiKeyMode, LoanCatalog>>;
  /** Values of all required and conditional fields, in the order of `missing_required`. More than 20 live offers match. */
  readonly complete: Fields;
  /** As `complete`, but no live offer matches. */
  readonly unmatched: Fields;
  /** Names of the required fields, in the order of `missing_required`. */
  readonly required: readonly string[];
  readonly conditional: readonly {
    readonly when: Fields;
    readonly unless: Fields;
    readonly field: string;
    readonly value: unknown;
  }[];
  readonly fields: readonly FieldCases[];
  /** Name of the pocket field for the credit band. `amount` and `term` name the fields for amount and term. */
  readonly creditBand: string;
  readonly amount: string;
  readonly term: string;
  /** A term that some of the offers that match `complete` accept and others do not. */
  readonly someTerm: number;
  /** Returns the value of a click on an offer for a credit band, in micro-dollars (docs/contract.md#click-revenue). */
  clickMicros(offer: LoanOffer, band: string): number;
}

interface ListedOffer {
  readonly lender: string;
  readonly logo: string;
  readonly offer: LoanOffer;
}

/** Returns the offer with this id from the catalog file. */
export function findListedOffer(fixture: VerticalFixture, id: string, mode: ApiKeyMode = 'live'): ListedOffer {
  for (const { name, logo, offers } of fixture.catalogFiles[mode].lenders) {
    const offer = offers.find((candidate) => candidate.id === id);
    if (offer !== undefined) return { lender: name, logo, offer };
  }
  throw new Error(`${id} is not in the ${mode} catalog`);
}

/** Returns the total value of the clicks of a complete borrower on these offers, in micro-dollars. */
export function totalClickMicros(fixture: VerticalFixture, offerIds: readonly string[]): number {
  const band = fixture.complete[fixture.creditBand] as string;
  let micros = 0;
  for (const id of offerIds) micros += fixture.clickMicros(findListedOffer(fixture, id).offer, band);
  return micros;
}

/** Returns the total value of the clicks on these offers in dollars, rounded half up to the cent as in responses. */
export function totalClickUsd(fixture: VerticalFixture, offerIds: readonly string[]): number {
  return totalClickMicros(fixture, offerIds) / 1_000_000;
}

/** Returns the invalid values of a field with their error codes. */
export function invalidValues(byCode: Readonly<Record<string, readonly unknown[]>>): FieldCases['invalid'] {
  return Object.entries(byCode).flatMap(([code, values]) => values.map((value) => [value, code] as const));
}

/** Cases for an integer between two bounds, without type coercion (docs/contract.md#field-values). */
export function integerCases(name: string, min: number, max: number): FieldCases {
  return {
    name,
    valid: [min, max, min + 1],
    invalid: invalidValues({
      range: [min - 1, max + 1, -1e15, 1e300],
      type: [min + 0.5, String(min), '', true, [min], {}],
    }),
    hints: { range: { min, max } },
  };
}

export function choiceCases(name: string, values: readonly string[]): FieldCases {
  const first = values[0] as string;
  const otherCase = first === first.toUpperCase() ? first.toLowerCase() : first.toUpperCase();
  const refused = invalidValues({
    enum: [`${first} `, `${first}\n`, otherCase, '', '__proto__'],
    type: [0, false, [first], {}],
  });
  return {
    name,
    valid: values,
    // Excludes upper-case variants that equal a valid value, such as a band written in digits.
    invalid: refused.filter(([value]) => !values.includes(value as string)),
    hints: { enum: { allowed: values } },
  };
}

export function integerChoiceCases(name: string, values: readonly number[]): FieldCases {
  const first = values[0] as number;
  return {
    name,
    valid: values,
    invalid: invalidValues({ enum: [first + 1, 0, -first], type: [first + 0.5, String(first), true, [first]] }),
    hints: { enum: { allowed: values } },
  };
}

export function flagCases(name: string): FieldCases {
  return {
    name,
    valid: [true, false],
    invalid: invalidValues({ type: ['true', 1, 0, '', []] }),
    hints: {},
  };
}

/** Cases for an age from 18 to 120 years, on the day when the clock of the tests starts. */
export function birthdateCases(name: string): FieldCases {
  return {
    name,
    valid: ['1980-02-29', '2008-05-20', '1906-05-20', '2000-02-29'],
    invalid: invalidValues({
      min_age: ['2008-05-21', '2026-05-20'],
      range: ['2026-05-21', '1905-05-20'],
      format: ['1981-02-29', '1980-13-01', '1980-1-1', '1980-01-01T00:00:00Z', ' 1980-01-01', ''],
      type: [19800101, true, {}],
    }),
    hints: { min_age: { min: 18 } },
  };
}

import type { TProperties, TSchema } from 'typebox';
import type { CatalogErrors, CatalogPath } from '../catalogs/catalog-errors.ts';
import type { CatalogFile, CatalogLender, CatalogOffer } from '../catalogs/catalog-schema.ts';
import type { AddMismatch } from '../matching/explain-offers.ts';
import type { MatchTables } from '../matching/match-tables.ts';
import type { RankedOffers } from '../matching/matcher.ts';
import type { FieldVector } from './field-vector.ts';
import { installmentLoan } from './personal-loans/installment-loan.ts';
import type { LoanTables } from './personal-loans/loan-tables.ts';
import type { CompiledOffer, OfferFragments } from './personal-loans/offer-view.ts';
import type { ProductName, Vertical } from './vertical.ts';

/** The members that the catalog files of a product have besides those of every catalog file (`catalogSchema`). */
export interface ProductSchema {
  readonly fileMembers: TProperties;
  readonly lenderMembers: TProperties;
  /** All members of an offer, with `offerMembers`. */
  readonly offer: TSchema;
}

/**
 * The rules of one kind of product: what its offers hold, what they cost a borrower and how they rank. Several verticals may sell the
 * same product. A vertical names its product, because functions cannot be sent to the threads that get the vertical.
 *
 * Methods get catalogs that passed `schema`, offers likewise, and tables that `compileTables` of the same product made.
 */
export interface VerticalProduct {
  readonly schema: ProductSchema;
  /** Reports what no schema can express: contradicting limits, values that the vertical does not have. */
  validateOffer(offer: CatalogOffer, path: CatalogPath, vertical: Vertical, errors: CatalogErrors): void;
  /** Reports what is wrong with all offers of a catalog together. */
  validateOffers(offers: readonly CatalogOffer[], errors: CatalogErrors): void;
  compileTables(catalog: CatalogFile, vertical: Vertical): ProductTables;
  compileOffer(lender: CatalogLender, offer: CatalogOffer): CompiledOffer;
  createOfferFragments(...args: ConstructorParameters<typeof OfferFragments>): OfferFragments;
  /** Builds the slowest indexes in advance, so that the first borrowers need not wait for them. */
  prepareRanking(tables: MatchTables): void;
  /** `unavailable` has a bit for each offer that is at its daily cap (`UnavailableOffers`). */
  rank(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
    today: number,
    unavailable: Int32Array | null,
  ): RankedOffers;
  /** Returns a test for offers that the filters admit: whether the borrower can get one. Null when no offer can be priced. */
  priceTest(tables: MatchTables, borrower: Readonly<FieldVector>): ((offer: number) => boolean) | null;
  /** Returns a function that reports every reason, besides the filters, why the borrower cannot get an offer. */
  mismatchFinder(tables: MatchTables, borrower: Readonly<FieldVector>): (offer: number, add: AddMismatch) => void;
}

const products: Readonly<Record<ProductName, VerticalProduct>> = { installment_loan: installmentLoan };

export const productNames = Object.keys(products) as readonly ProductName[];

export type { CompiledOffer, OfferFragments };

/** Compiled tables of any product; `product` tells which. */
export type ProductTables = LoanTables;

/** The product of a vertical, or the one that tables were compiled for. */
export function productOf({ product = 'installment_loan' }: { readonly product?: ProductName }): VerticalProduct {
  return products[product];
}

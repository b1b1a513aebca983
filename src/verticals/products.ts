import type { TProperties, TSchema } from 'typebox';
import type { CatalogErrors, CatalogPath } from '../catalogs/catalog-errors.ts';
import type { CatalogFile, CatalogLender, CatalogOffer } from '../catalogs/catalog-schema.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { AddMismatch } from '../matching/explain-offers.ts';
import type { MatchTables } from '../matching/match-tables.ts';
import type { RankedOffers } from '../matching/matcher.ts';
import type { FieldVector } from './field-vector.ts';
import { installmentLoan } from './personal-loans/installment-loan.ts';
import type { LoanTables } from './personal-loans/loan-tables.ts';
import type { CompiledOffer, OfferFragments, OfferList, OfferView, PricedOffer } from './personal-loans/offer-view.ts';
import type { ProductName, Vertical } from './vertical.ts';

/** Members that only the catalog files of one product have. `catalogSchema` has the members of every catalog file. */
export interface ProductSchema {
  readonly fileMembers: TProperties;
  readonly lenderMembers: TProperties;
  /** Schema of a complete offer, including `offerMembers`. */
  readonly offer: TSchema;
}

/**
 * Rules of one kind of product: the members of its offers, the price for a borrower, and the ranking. Several verticals may sell the
 * same product. A vertical refers to its product by name, because functions cannot be sent to the threads that receive the vertical.
 *
 * Methods receive only catalogs and offers that passed `schema`, and tables that `compileTables` of the same product created.
 */
export interface VerticalProduct {
  readonly schema: ProductSchema;
  /** Reports errors that a schema cannot express: contradicting limits, and values that the vertical does not have. */
  validateOffer(offer: CatalogOffer, path: CatalogPath, vertical: Vertical, errors: CatalogErrors): void;
  /** Reports errors that concern all offers of a catalog together. */
  validateOffers(offers: readonly CatalogOffer[], errors: CatalogErrors): void;
  compileTables(catalog: CatalogFile, vertical: Vertical): ProductTables;
  compileOffer(lender: CatalogLender, offer: CatalogOffer): CompiledOffer;
  createOfferFragments(...args: ConstructorParameters<typeof OfferFragments>): OfferFragments;
  /** Builds the slowest indexes in advance, so that the first borrowers need not wait for them. */
  prepareRanking(tables: MatchTables): void;
  /** @param unavailable bit set of the offers that are at their daily cap (`UnavailableOffers`) */
  rank(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
    today: number,
    unavailable: Int32Array | null,
  ): RankedOffers;
  /** Prices offers for a borrower. `indexes` are from a ranking of this catalog version for this borrower. */
  priceRankedOffers(
    catalog: CompiledCatalog,
    indexes: ArrayLike<number>,
    borrower: Readonly<FieldVector>,
  ): PricedOffer[];
  /** Builds the offers of a response as objects. `clickUrlPrefix` is the start of each click URL, up to the sub_id. */
  toOfferViews(list: OfferList, clickUrlPrefix: string): OfferView[];
  /** Returns a function that tests whether the borrower can get an offer that passed the filters. Null if no offer can be priced. */
  priceTest(tables: MatchTables, borrower: Readonly<FieldVector>): ((offer: number) => boolean) | null;
  /** Returns a function that reports every reason, except the filters, why the borrower cannot get an offer. */
  mismatchFinder(tables: MatchTables, borrower: Readonly<FieldVector>): (offer: number, add: AddMismatch) => void;
}

const products: Readonly<Record<ProductName, VerticalProduct>> = { installment_loan: installmentLoan };

export const productNames = Object.keys(products) as readonly ProductName[];

export type { CompiledOffer, OfferFragments, OfferList, OfferView };

/** Compiled tables of any product. The member `product` identifies the product. */
export type ProductTables = LoanTables;

/** Returns the product of a vertical, or the product that tables were compiled for. */
export function productOf({ product = 'installment_loan' }: { readonly product?: ProductName }): VerticalProduct {
  return products[product];
}

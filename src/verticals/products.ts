import type { TProperties, TSchema } from 'typebox';
import type { CatalogErrors, CatalogValuePath } from '../catalogs/catalog-errors.ts';
import type { CatalogFile, CatalogLender, CatalogOffer } from '../catalogs/catalog-schema.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { MismatchCallback } from '../matching/explain-offers.ts';
import type { MatchTables } from '../matching/match-tables.ts';
import type { RankedOffers } from '../matching/matcher.ts';
import type { FieldVector } from './field-vector.ts';
import { installmentLoan } from './personal-loans/installment-loan.ts';
import type { LoanTables } from './personal-loans/loan-tables.ts';
import type {
  CompiledOffer,
  OfferList,
  OfferRenderer,
  OfferUrls,
  OfferView,
  PricedOffer,
} from './personal-loans/offer-view.ts';
import type { ProductName, Vertical } from './vertical.ts';

/** Schemas of the catalog properties that only one product has. `catalogSchema` contains the properties that all products have. */
export interface ProductSchema {
  readonly fileMembers: TProperties;
  readonly lenderMembers: TProperties;
  /** Schema of a complete offer, including the properties that all products have. */
  readonly offer: TSchema;
}

/**
 * Rules of one kind of product: the properties and prices of its offers, and their ranking. Several verticals may share a product. A
 * vertical contains the name of its product instead of the product's functions, because functions cannot be sent to threads.
 *
 * Catalogs and offers must match `schema`. The functions of a product accept only tables that its `compileCatalogTables` created.
 */
export interface VerticalProduct {
  readonly schema: ProductSchema;
  /** Reports errors of one offer that a schema cannot detect, such as contradictory limits or unknown field values. */
  validateOffer(offer: CatalogOffer, path: CatalogValuePath, vertical: Vertical, errors: CatalogErrors): void;
  /** Reports errors that depend on several offers of a catalog, such as too many different loan terms. */
  validateOffers(offers: readonly CatalogOffer[], errors: CatalogErrors): void;
  compileCatalogTables(catalog: CatalogFile, vertical: Vertical): ProductCatalogTables;
  compileOffer(lender: CatalogLender, offer: CatalogOffer): CompiledOffer;
  createOfferRenderer(...args: ConstructorParameters<typeof OfferRenderer>): OfferRenderer;
  /** Builds the slowest indexes in advance, so that the first requests are not slow. */
  buildRankingIndexes(tables: MatchTables): void;
  /** @param unavailable bit set of the unavailable offers (`UnavailableOffers`) */
  rankOffers(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
    today: number,
    unavailable: Int32Array | null,
  ): RankedOffers;
  /** Prices offers for a borrower. `indexes` must be a result of `rankOffers` for the same catalog version and borrower. */
  calculateOfferPrices(
    catalog: CompiledCatalog,
    indexes: ArrayLike<number>,
    borrower: Readonly<FieldVector>,
  ): PricedOffer[];
  /** Creates the offers in a JSON response. */
  createOfferViews(list: OfferList, urls: OfferUrls): OfferView[];
  /** Returns a function that checks whether the borrower meets an offer's price rules, or null if the borrower lacks required fields. */
  createAvailabilityCheck(tables: MatchTables, borrower: Readonly<FieldVector>): ((offer: number) => boolean) | null;
  /** Returns a function that reports each price rule of an offer that the borrower does not meet. */
  createMismatchFinder(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
  ): (offer: number, add: MismatchCallback) => void;
}

const products: Readonly<Record<ProductName, VerticalProduct>> = { installment_loan: installmentLoan };

export const productNames = Object.keys(products) as readonly ProductName[];

export type { CompiledOffer, OfferList, OfferRenderer, OfferUrls, OfferView };

/** Compiled tables of a catalog of any product type. The property `product` contains the name of the product type. */
export type ProductCatalogTables = LoanTables;

/** Returns the functions for the product type of a vertical, or for the product type of compiled catalog tables. */
export function getVerticalProduct({
  product = 'installment_loan',
}: {
  readonly product?: ProductName;
}): VerticalProduct {
  return products[product];
}

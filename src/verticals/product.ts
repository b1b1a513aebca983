import type { TProperties, TSchema } from 'typebox';
import type { CatalogErrors, CatalogValuePath } from '../catalogs/catalog-errors.ts';
import type { CatalogFile, CatalogOffer } from '../catalogs/catalog-schema.ts';
import type { CatalogStatistics } from '../catalogs/catalog-statistics.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { MismatchCallback } from '../matching/explain-offers.ts';
import type { MatchTables } from '../matching/match-tables.ts';
import type { RankedOffers, SortOrder } from '../matching/matcher.ts';
import type { FieldVector } from './field-vector.ts';
import type { OfferRenderer, OfferRendererOptions, OfferView, PricedOffer } from './offer-view.ts';
import type { FieldRoles, Vertical } from './vertical.ts';

/** Name of the product of all verticals without the property `product`. */
export const defaultProductName = 'installment_loan';

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
  /** Whether the product is credit, so that offers must not depend on age beyond the capacity to contract. Default: false. */
  readonly isCredit?: boolean;
  /** Roles for which a vertical with this product must name a field. */
  readonly requiredRoles: readonly (keyof FieldRoles)[];
  readonly schema: ProductSchema;
  /** Reports errors of one offer that a schema cannot detect, such as contradictory limits or unknown field values. */
  validateOffer(
    offer: CatalogOffer,
    path: CatalogValuePath,
    vertical: Vertical,
    errors: CatalogErrors,
    /** Lender of the offer. The lender possibly does not match the schema, so its name can be a value other than a string. */
    lender: { readonly name: unknown },
  ): void;
  /** Reports errors that depend on several offers of a catalog, such as too many different loan terms. */
  validateOffers?(offers: readonly CatalogOffer[], errors: CatalogErrors): void;
  compileCatalogTables(catalog: CatalogFile, vertical: Vertical): MatchTables;
  /** Computes the statistics that `marketplace catalog stats` prints. */
  computeStatistics(catalog: CatalogFile, vertical: Vertical): CatalogStatistics;
  /** Whether the product's offer views need the offers of the catalog file (`CompiledOffer.source`). */
  readonly needsOfferSource: boolean;
  createOfferRenderer(...options: OfferRendererOptions): OfferRenderer;
  /** Schema of the object that the product adds to each offer view. The key is the name of the member, such as `card`. Empty for loans. */
  readonly offerViewMembers: TProperties;
  /** Members of an offer view that have no meaning for the product, so that they are always null. */
  readonly nullOfferMembers: readonly (keyof OfferView)[];
  /** Meaning of each sort order, as a phrase for the OpenAPI document. A vertical may allow only some of the sort orders. */
  readonly sortOrderDescriptions: Readonly<Partial<Record<SortOrder, string>>>;
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
  priceOffers(
    catalog: CompiledCatalog,
    indexes: ArrayLike<number>,
    borrower: Readonly<FieldVector>,
  ): readonly PricedOffer[];
  /** Returns a function that checks whether the borrower meets an offer's price rules, or null if the borrower lacks required fields. */
  createAvailabilityCheck(tables: MatchTables, borrower: Readonly<FieldVector>): ((offer: number) => boolean) | null;
  /** Returns a function that reports each price rule of an offer that the borrower does not meet. */
  createMismatchFinder(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
  ): (offer: number, add: MismatchCallback) => void;
  /**
   * Returns the names of fields whose combination of values is impossible, with the most likely cause first, and the rule that the fields
   * break, such as `must be less than property_value`; null if the combination is possible. A rule does not apply if one of its fields has
   * no value.
   */
  findConflictingFields?(
    vertical: Vertical,
    fields: Readonly<FieldVector>,
  ): { readonly names: readonly string[]; readonly rule: string } | null;
}

import type { TProperties, TSchema } from 'typebox';
import type { FieldVector } from '../domain/field-vector.ts';
import type { FieldConflictRule } from '../domain/pocket-fields.ts';
import type { FieldRoles, SortOrder, Vertical } from '../domain/vertical.ts';
import type { MatchTables } from '../matching/match-tables.ts';
import type { ProductRanking } from '../matching/product-ranking.ts';
import type { CatalogErrors, CatalogValuePath } from './catalog-errors.ts';
import type { CatalogFile, CatalogOffer } from './catalog-schema.ts';
import type { CatalogStatistics } from './catalog-statistics.ts';
import type { CompiledCatalogData, OfferRenderer, OfferRendererOptions, OfferView, PricedOffer } from './offer-view.ts';

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
export interface VerticalProduct extends ProductRanking, FieldConflictRule {
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
  /** Prices offers for a borrower. `indexes` must be a result of `rankOffers` for the same catalog version and borrower. */
  priceOffers(
    catalog: CompiledCatalogData,
    indexes: ArrayLike<number>,
    borrower: Readonly<FieldVector>,
  ): readonly PricedOffer[];
}

/** A vertical and the product of its offers. */
export interface VerticalWithProduct {
  readonly vertical: Vertical;
  readonly product: VerticalProduct;
}

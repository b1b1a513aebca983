import type { ApiKeyMode } from '../domain/mode.ts';
import type { Vertical } from '../domain/vertical.ts';
import { exampleLandingPath } from './catalog-schema.ts';
import { type CompiledCatalog, computeClickValueRange } from './compile-catalog.ts';
import type { CompiledCatalogData, OfferBudget } from './offer-view.ts';

/** What the service needs to know about an offer of a replaced catalog before the first click on one of its offers. */
export interface OfferSummary {
  readonly id: string;
  readonly lenderName: string;
  readonly logo: string;
  readonly dailyCap: number | null;
  readonly budget: OfferBudget | null;
  /** Smallest and largest revenue of a click on the offer, see `computeClickValueRange`. */
  readonly clickMicros: { readonly minMicros: number; readonly maxMicros: number };
  /** Whether clicks on the offer lead to the built-in example page. */
  readonly isExample: boolean;
}

/** Part of a catalog that a start reads instead of compiling the catalog. The archive stores it as JSON. */
export interface CatalogSummary {
  readonly format: typeof catalogSummaryFormat;
  /** Path segment of the vertical. */
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  readonly offers: readonly OfferSummary[];
}

/** Format of `CatalogSummary`. Increment it whenever `CatalogSummary` changes; a start then compiles the catalog. */
export const catalogSummaryFormat = 1;

export function summarizeCatalog(
  { offers, tables }: CompiledCatalogData,
  vertical: { readonly segment: string },
  mode: ApiKeyMode,
): CatalogSummary {
  const summaries = offers.map((offer, index): OfferSummary => {
    const { id, lenderName, logo, dailyCap, budget } = offer;
    const clickMicros = computeClickValueRange(tables, index);
    return { id, lenderName, logo, dailyCap, budget, clickMicros, isExample: hasExamplePage(offer) };
  });
  return { format: catalogSummaryFormat, vertical: vertical.segment, mode, offers: summaries };
}

export function hasExamplePage({ landingUrlParts }: { readonly landingUrlParts: readonly string[] }): boolean {
  return landingUrlParts[0]?.startsWith(exampleLandingPath) === true;
}

export interface ReplacedSummary {
  readonly replacedMs: number;
  readonly summary: CatalogSummary;
}

/** A catalog that was replaced less than 28 hours ago. */
export interface ReplacedCatalog {
  readonly version: string;
  readonly replacedMs: number;
  /** Size of the archived catalog file. */
  readonly bytes: number;
  readonly vertical: Vertical;
  readonly mode: ApiKeyMode;
  /** Null for a catalog that was compiled before it was replaced. */
  readonly summary: CatalogSummary | null;
  /** Null until the first click on an offer of a catalog that was replaced before the last start. */
  compiled: CompiledCatalog | null;
  /** The compilation in progress, if any. */
  compiling: Promise<CompiledCatalog | null> | null;
}

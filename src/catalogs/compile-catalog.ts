import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Vertical } from '../domain/vertical.ts';
import { listClickRevenueMicros, listOffersSortedById, type MatchTables, rowOf } from '../matching/match-tables.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { computeCatalogVersion } from './catalog-version.ts';
import { type CompiledCatalogData, type CompiledOffer, compileOffer, type OfferRenderer } from './offer-view.ts';
import type { VerticalProduct, VerticalWithProduct } from './product.ts';

/**
 * Returns a copy of a value in which all typed arrays use shared memory, so that other threads can use the arrays without copying. Accepts
 * plain objects, arrays, maps and typed arrays. Throws a TypeError for an instance of any other class, because a message to a thread loses
 * the class of an object.
 */
export function copyToSharedMemory<Value>(value: Value): Value;
export function copyToSharedMemory(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return copyToSharedBuffer(value as NumericArray);
  if (Array.isArray(value)) return value.map(copyToSharedMemory);
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, copyToSharedMemory(member)]));
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`${value.constructor.name} cannot be sent to another thread`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyToSharedMemory(member)]));
}

type NumericArray = Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

function copyToSharedBuffer(numbers: NumericArray): NumericArray {
  const OfKind = numbers.constructor as new (buffer: SharedArrayBuffer) => NumericArray;
  const copy = new OfKind(new SharedArrayBuffer(numbers.byteLength));
  copy.set(numbers);
  return copy;
}

/** One version of a catalog, compiled for matching, responses and clicks. A compiled catalog is immutable except for its logo hashes. */
export class CompiledCatalog implements CompiledCatalogData {
  readonly version: string;
  readonly vertical: Vertical;
  readonly product: VerticalProduct;
  /** Mode of the API keys that get the offers of the catalog (docs/contract.md#test-keys-and-the-sandbox). */
  readonly mode: ApiKeyMode;
  readonly disclosure: string;
  readonly offers: readonly CompiledOffer[];
  readonly maxAgeDays: number | null;
  readonly tables: MatchTables;
  #logoHashes: ReadonlyMap<string, string> = new Map();
  #offerRenderer: OfferRenderer | null = null;
  readonly #indexById: ReadonlyMap<string, number>;

  constructor(
    { version, disclosure, offers, maxAgeDays, tables }: CompiledCatalogData,
    { vertical, product }: VerticalWithProduct,
    { mode }: Pick<CompiledCatalog, 'mode'>,
  ) {
    this.version = version;
    this.vertical = vertical;
    this.product = product;
    this.mode = mode;
    this.disclosure = disclosure;
    this.offers = offers;
    this.maxAgeDays = maxAgeDays;
    this.tables = tables;
    this.#indexById = new Map(offers.map(({ id }, index) => [id, index]));
  }

  /** Returns the renderer of the offers. `logosUrl` is the base URL of the logos and must be the same in every call. */
  offerRenderer(logosUrl: string): OfferRenderer {
    this.#offerRenderer ??= this.product.createOfferRenderer(this, logosUrl, this.#logoHashes);
    return this.#offerRenderer;
  }

  get lenders(): { name: string; logo: string }[] {
    const logos = new Map(this.offers.map(({ lenderName, logo }) => [lenderName, logo]));
    return [...logos].map(([name, logo]) => ({ name, logo }));
  }

  /** Sets the logo hash of each lender name, and discards the rendered offers, which contain the old logo hashes. */
  setLogoHashes(hashes: ReadonlyMap<string, string>): void {
    this.#logoHashes = hashes;
    this.#offerRenderer = null;
  }

  /** Returns the index of an offer in `offers`, or -1 for an offer that is not in the catalog. */
  findOfferIndex(id: string): number {
    return this.#indexById.get(id) ?? -1;
  }

  landingUrl(offerIndex: number, clickId: string): string {
    return this.offers[offerIndex]!.landingUrlParts.join(encodeURIComponent(clickId));
  }

  /**
   * Returns the preliminary revenue of a click in micro-dollars (docs/contract.md#click-revenue). In a test catalog, this amount counts only
   * towards the budget of the offer.
   */
  clickValueMicros(offerIndex: number, creditBand: number): number {
    return this.tables.expectedRevenueMicros[rowOf(this.tables, offerIndex, creditBand)]!;
  }

  /**
   * Returns the smallest and the largest revenue of a click on an offer in micro-dollars, over the credit bands in which a click has
   * revenue. Returns 0 for both if no click on the offer has revenue.
   */
  computeClickValueRange(offerIndex: number): { readonly minMicros: number; readonly maxMicros: number } {
    return computeClickValueRange(this.tables, offerIndex);
  }
}

/** See `CompiledCatalog.computeClickValueRange`. */
export function computeClickValueRange(tables: MatchTables, offerIndex: number) {
  let [minMicros, maxMicros] = [0, 0];
  for (const micros of listClickRevenueMicros(tables, offerIndex)) {
    if (micros > 0 && (minMicros === 0 || micros < minMicros)) minMicros = micros;
    maxMicros = Math.max(maxMicros, micros);
  }
  return { minMicros, maxMicros };
}

/** Compiles a catalog that `parseCatalog` accepted for the vertical. */
export function compileCatalog(
  catalog: CatalogFile,
  vertical: VerticalWithProduct,
  options: Pick<CompiledCatalog, 'mode'>,
): CompiledCatalog {
  return new CompiledCatalog(compileCatalogData(catalog, vertical, options.mode), vertical, options);
}

export function compileCatalogData(
  catalog: CatalogFile,
  { vertical, product }: VerticalWithProduct,
  mode: ApiKeyMode,
): CompiledCatalogData {
  const { max_age_days: maxAgeDays = bounds.offerAgeDaysDefault } = catalog;
  return {
    version: computeCatalogVersion(catalog, mode),
    disclosure: catalog.disclosure,
    offers: listOffersSortedById(catalog).map(({ lender, offer }) =>
      compileOffer(lender, offer, vertical, product.needsOfferSource),
    ),
    maxAgeDays,
    // All matching threads share the memory of the tables, so a new thread needs no copy of the tables.
    tables: copyToSharedMemory(product.compileCatalogTables(catalog, vertical)),
  };
}

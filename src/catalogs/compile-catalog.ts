import type { Mode } from '../domain/mode.ts';
import { offersById } from '../matching/match-tables.ts';
import { type CompiledOffer, type OfferFragments, type ProductTables, productOf } from '../verticals/products.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { catalogVersion } from './identifiers.ts';

/**
 * The same value with every array of numbers in memory that threads share, so that sending it to another thread copies no
 * numbers. For plain objects, arrays, maps and typed arrays; anything else would arrive as something else, and is refused.
 */
export function shareTypedArrays<Value>(value: Value): Value {
  return toShared(value) as Value;
}

type NumericArray = Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

function toShared(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return copyToSharedBuffer(value as NumericArray);
  if (Array.isArray(value)) return value.map(toShared);
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, toShared(member)]));
  if (Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`${value.constructor.name} cannot go to another thread`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toShared(member)]));
}

function copyToSharedBuffer(numbers: NumericArray): NumericArray {
  const OfKind = numbers.constructor as new (buffer: SharedArrayBuffer) => NumericArray;
  const copy = new OfKind(new SharedArrayBuffer(numbers.byteLength));
  copy.set(numbers);
  return copy;
}

interface CompileCatalogOptions {
  /** A test catalog books no revenue whatever its payouts say (docs/contract.md#test-keys-and-the-sandbox). */
  readonly mode: Mode;
  /**
   * Address of the image host, without a slash at its end; logo file names and hashes are appended to it. Asked for when the first
   * answer is written, since it may follow from a port that is bound after the catalogs are ready.
   */
  readonly cdnUrl: () => string;
}

/** What compiling makes of a catalog: plain values, so that another thread may make them. */
export interface CompiledCatalogData {
  readonly version: string;
  /** The short advertiser disclosure. */
  readonly disclosure: string;
  /** In the order of their ids; a ranking names an offer by its place here. */
  readonly offers: readonly CompiledOffer[];
  readonly tables: ProductTables;
}

/** One version of a catalog, ready to be matched, answered from, and clicked on. Immutable but for its logos. */
export class CompiledCatalog implements CompiledCatalogData {
  readonly version: string;
  readonly vertical: Vertical;
  readonly mode: Mode;
  readonly disclosure: string;
  readonly offers: readonly CompiledOffer[];
  readonly tables: ProductTables;
  /** By offer id: booked clicks in a UTC day, of the offers that have such a cap (docs/contract.md#daily-caps). */
  readonly dailyCaps: ReadonlyMap<string, number>;
  readonly #cdnUrl: () => string;
  #logoHashes: ReadonlyMap<string, string> = new Map();
  #fragments: OfferFragments | null = null;
  readonly #indexById: ReadonlyMap<string, number>;

  constructor(
    { version, disclosure, offers, tables }: CompiledCatalogData,
    vertical: Vertical,
    options: CompileCatalogOptions,
  ) {
    this.version = version;
    this.vertical = vertical;
    this.mode = options.mode;
    this.disclosure = disclosure;
    this.offers = offers;
    this.tables = tables;
    this.dailyCaps = new Map(offers.flatMap(({ id, dailyCap }) => (dailyCap === null ? [] : [[id, dailyCap]])));
    this.#cdnUrl = options.cdnUrl;
    this.#indexById = new Map(offers.map(({ id }, index) => [id, index]));
  }

  /** What answers are put together from. */
  get offerFragments(): OfferFragments {
    this.#fragments ??= productOf(this.vertical).createOfferFragments(this, this.#cdnUrl(), this.#logoHashes);
    return this.#fragments;
  }

  /** Who makes the offers, each lender once, with the file name of its logo. */
  get lenders(): { name: string; logo: string }[] {
    const logos = new Map(this.offers.map(({ lenderName, logo }) => [lenderName, logo]));
    return [...logos].map(([name, logo]) => ({ name, logo }));
  }

  /**
   * Takes the hashes of the logos, by the lender's name. A logo is no part of a version: when one changes, what answers are put
   * together from is written anew, slot by slot as it is needed, and everything else stays.
   */
  setLogoHashes(hashes: ReadonlyMap<string, string>): void {
    this.#logoHashes = hashes;
    this.#fragments = null;
  }

  /** Place of an offer in `offers`, or -1. */
  offerIndex(id: string): number {
    return this.#indexById.get(id) ?? -1;
  }

  /** Where a click on the offer goes, with its click id filled in. */
  landingUrl(offerIndex: number, clickId: string): string {
    return this.offers[offerIndex]!.landingUrlParts.join(encodeURIComponent(clickId));
  }

  /** Preliminary revenue of a click in a credit band, in micro-dollars (docs/contract.md#click-revenue); 0 in a test catalog. */
  clickValueMicros(offerIndex: number, creditBand: number): number {
    if (this.mode === 'test') return 0;
    return this.tables.expectedRevenueMicros[offerIndex * this.tables.bandCount + creditBand]!;
  }
}

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileCatalog(
  catalog: CatalogFile,
  vertical: Vertical,
  options: CompileCatalogOptions,
): CompiledCatalog {
  return new CompiledCatalog(compileCatalogData(catalog, vertical, options.mode), vertical, options);
}

export function compileCatalogData(catalog: CatalogFile, vertical: Vertical, mode: Mode): CompiledCatalogData {
  const product = productOf(vertical);
  return {
    version: catalogVersion(catalog, mode),
    disclosure: catalog.disclosure,
    offers: offersById(catalog).map(({ lender, offer }) => product.compileOffer(lender, offer)),
    // Every matching thread reads the same numbers, and one that is started late gets them without a copy.
    tables: shareTypedArrays(product.compileTables(catalog, vertical)),
  };
}

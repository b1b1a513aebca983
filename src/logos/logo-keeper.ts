import { bounds } from '../bounds.ts';
import type { Lender } from './logo.ts';
import { LogoShelf } from './logo-shelf.ts';
import { type LogoSet, readLogos } from './read-logos.ts';

/** A catalog, as far as logos are concerned. */
export interface BrandedCatalog {
  readonly lenders: readonly Lender[];
  /** Takes the hash of each lender's logo, by the lender's name, for the addresses it gives out from now on. */
  useLogos(hashes: ReadonlyMap<string, string>): void;
}

/** Where catalogs that replace one another have their logos. */
export interface LogoPlace {
  readonly key: string;
  /** Null for catalogs that are no files: their lenders get monograms. */
  readonly folder: string | null;
}

/**
 * Has the logos follow the catalogs. A catalog's logos are read before it comes into use (`prepare`) and can be asked for from
 * the moment it does (`adopt`); `refresh` reads those of the catalog in use again. A logo that changed alone makes no new
 * catalog version: it changes neither what is offered nor what a click is worth, only the addresses in answers.
 */
export class LogoKeeper {
  readonly shelf = new LogoShelf();
  readonly #read = new WeakMap<BrandedCatalog, LogoSet>();
  readonly #inUse = new Map<string, BrandedCatalog>();
  #lastRefresh: Promise<void> = Promise.resolve();
  #closed = false;

  /** Reads the logos of a catalog that is to come into use. */
  async prepare({ folder }: LogoPlace, catalog: BrandedCatalog): Promise<void> {
    this.#give(catalog, await readLogos(folder, catalog.lenders));
  }

  /** A catalog that was prepared is in use from now on. */
  adopt({ key }: LogoPlace, catalog: BrandedCatalog): void {
    const set = this.#read.get(catalog);
    if (set === undefined) throw new Error('the logos of a catalog come into use before they were read');
    this.#inUse.set(key, catalog);
    this.shelf.put(key, set.logos.values());
  }

  /** Reads the logos of a replaced catalog that no catalog in use has, as far as there is room for them. */
  async keep({ folder }: LogoPlace, { lenders }: BrandedCatalog): Promise<void> {
    const gone = lenders.filter(({ logo }) => !this.shelf.has(logo)).slice(0, bounds.logosLeftMax);
    if (gone.length > 0) this.shelf.keep((await readLogos(folder, gone)).logos.values());
  }

  /** Reads the logos of the catalog in use again. Refreshes happen one after the other, and never fail. */
  refresh(place: LogoPlace): Promise<void> {
    this.#lastRefresh = this.#lastRefresh.then(() => this.#refresh(place));
    return this.#lastRefresh;
  }

  /** Lenders of the catalogs in use whose logo file cannot be shown. */
  get problems(): LogoSet['problems'] {
    return [...this.#inUse.values()].flatMap((catalog) => this.#read.get(catalog)?.problems ?? []);
  }

  /** Waits for a refresh that is under way; further ones do nothing. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#lastRefresh;
  }

  async #refresh({ key, folder }: LogoPlace): Promise<void> {
    const catalog = this.#inUse.get(key);
    if (catalog === undefined || this.#closed) return;
    const set = await readLogos(folder, catalog.lenders);
    // Another may have come into use meanwhile, with logos that were read later than these.
    if (this.#inUse.get(key) !== catalog) return;
    const before = this.#read.get(catalog)?.logos;
    this.#read.set(catalog, set);
    if ([...set.logos].every(([lender, { hash }]) => before?.get(lender)?.hash === hash)) return;
    this.#give(catalog, set);
    this.adopt({ key, folder }, catalog);
  }

  #give(catalog: BrandedCatalog, set: LogoSet): void {
    this.#read.set(catalog, set);
    catalog.useLogos(new Map([...set.logos].map(([lender, { hash }]) => [lender, hash])));
  }
}

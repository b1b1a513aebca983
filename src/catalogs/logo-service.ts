import { bounds } from '../bounds.ts';
import type { Lender } from './logo-cache.ts';
import { LogoCache } from './logo-cache.ts';
import { type LogoSet, readLogos } from './read-logos.ts';

/** A catalog, as far as logos are concerned. */
export interface LogoCatalog {
  readonly lenders: readonly Lender[];
  /** Takes the hash of each lender's logo, by the lender's name, for the addresses it gives out from now on. */
  setLogoHashes(hashes: ReadonlyMap<string, string>): void;
}

/** Where catalogs that replace one another have their logos. */
export interface LogoSource {
  readonly key: string;
  /** Null for catalogs that are no files: their lenders get monograms. */
  readonly folder: string | null;
}

/**
 * Has the logos follow the catalogs. A catalog's logos are read before it comes into use (`prepare`) and can be asked for from
 * the moment it does (`adopt`); `refresh` reads those of the catalog in use again. A logo that changed alone makes no new
 * catalog version: it changes neither what is offered nor what a click is worth, only the addresses in answers.
 */
export class LogoService {
  readonly cache = new LogoCache();
  readonly #logosByCatalog = new WeakMap<LogoCatalog, LogoSet>();
  readonly #activeCatalogs = new Map<string, LogoCatalog>();
  #lastRefresh: Promise<void> = Promise.resolve();
  #closed = false;

  /** Reads the logos of a catalog that is to come into use. */
  async prepare({ folder }: LogoSource, catalog: LogoCatalog): Promise<void> {
    this.#applyLogos(catalog, await readLogos(folder, catalog.lenders));
  }

  /** A catalog that was prepared is in use from now on. */
  activate({ key }: LogoSource, catalog: LogoCatalog): void {
    const set = this.#logosByCatalog.get(catalog);
    if (set === undefined) throw new Error('the logos of a catalog come into use before they were read');
    this.#activeCatalogs.set(key, catalog);
    this.cache.replaceCatalog(key, set.logos.values());
  }

  /** Reads the logos of a replaced catalog that no catalog in use has, as far as there is room for them. */
  async retainReplaced({ folder }: LogoSource, { lenders }: LogoCatalog): Promise<void> {
    const gone = lenders.filter(({ logo }) => !this.cache.has(logo)).slice(0, bounds.unusedLogoNamesMax);
    if (gone.length > 0) this.cache.addRetained((await readLogos(folder, gone)).logos.values());
  }

  /** Reads the logos of the catalog in use again. Refreshes happen one after the other, and never fail. */
  refresh(place: LogoSource): Promise<void> {
    this.#lastRefresh = this.#lastRefresh.then(() => this.#refreshCatalog(place));
    return this.#lastRefresh;
  }

  /** Lenders of the catalogs in use whose logo file cannot be shown. */
  get problems(): LogoSet['problems'] {
    return [...this.#activeCatalogs.values()].flatMap((catalog) => this.#logosByCatalog.get(catalog)?.problems ?? []);
  }

  /** Waits for a refresh that is under way; further ones do nothing. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#lastRefresh;
  }

  async #refreshCatalog({ key, folder }: LogoSource): Promise<void> {
    const catalog = this.#activeCatalogs.get(key);
    if (catalog === undefined || this.#closed) return;
    const set = await readLogos(folder, catalog.lenders);
    // Another may have come into use meanwhile, with logos that were read later than these.
    if (this.#activeCatalogs.get(key) !== catalog) return;
    const before = this.#logosByCatalog.get(catalog)?.logos;
    this.#logosByCatalog.set(catalog, set);
    if ([...set.logos].every(([lender, { hash }]) => before?.get(lender)?.hash === hash)) return;
    this.#applyLogos(catalog, set);
    this.activate({ key, folder }, catalog);
  }

  #applyLogos(catalog: LogoCatalog, set: LogoSet): void {
    this.#logosByCatalog.set(catalog, set);
    catalog.setLogoHashes(new Map([...set.logos].map(([lender, { hash }]) => [lender, hash])));
  }
}

import { bounds } from '../bounds.ts';
import type { Lender } from './logo-cache.ts';
import { LogoCache } from './logo-cache.ts';
import { type LogoSet, readLogos } from './read-logos.ts';

export interface LogoCatalog {
  readonly lenders: readonly Lender[];
  /** Sets the hash of each lender's logo, by lender name, for the URLs rendered from now on. */
  setLogoHashes(hashes: ReadonlyMap<string, string>): void;
}

/** Source of the logos of a catalog and of those that replace it. */
export interface LogoSource {
  readonly key: string;
  /** Null for catalogs that are not files: their lenders get monograms. */
  readonly folder: string | null;
}

/**
 * Loads the logos of catalogs: `prepare` reads them before a catalog comes into use, `activate` serves them, and `refresh` reads those
 * of a catalog in use again. A changed logo changes only URLs in responses, not the catalog version.
 */
export class LogoService {
  readonly cache = new LogoCache();
  readonly #logosByCatalog = new WeakMap<LogoCatalog, LogoSet>();
  readonly #activeCatalogs = new Map<string, LogoCatalog>();
  #lastRefresh: Promise<void> = Promise.resolve();
  #closed = false;

  async prepare({ folder }: LogoSource, catalog: LogoCatalog): Promise<void> {
    this.#applyLogos(catalog, await readLogos(folder, catalog.lenders));
  }

  /** Serves the logos of a prepared catalog. */
  activate({ key }: LogoSource, catalog: LogoCatalog): void {
    const set = this.#logosByCatalog.get(catalog);
    if (set === undefined) throw new Error('a catalog must be prepared before its logos are activated');
    this.#activeCatalogs.set(key, catalog);
    this.cache.replaceCatalog(key, set.logos.values());
  }

  /** Reads the logos of a replaced catalog that no catalog in use has, up to `bounds.unusedLogoNamesMax`. */
  async retainReplaced({ folder }: LogoSource, { lenders }: LogoCatalog): Promise<void> {
    const missing = lenders.filter(({ logo }) => !this.cache.has(logo)).slice(0, bounds.unusedLogoNamesMax);
    if (missing.length > 0) this.cache.addRetained((await readLogos(folder, missing)).logos.values());
  }

  /** Reads the logos of the catalog in use again. Refreshes run one after the other and never reject. */
  refresh(source: LogoSource): Promise<void> {
    this.#lastRefresh = this.#lastRefresh.then(() => this.#refreshCatalog(source));
    return this.#lastRefresh;
  }

  /** Lenders of the catalogs in use with a missing or invalid logo file. */
  get problems(): LogoSet['problems'] {
    return [...this.#activeCatalogs.values()].flatMap((catalog) => this.#logosByCatalog.get(catalog)?.problems ?? []);
  }

  /** Waits for a refresh in progress. Later ones do nothing. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#lastRefresh;
  }

  async #refreshCatalog({ key, folder }: LogoSource): Promise<void> {
    const catalog = this.#activeCatalogs.get(key);
    if (catalog === undefined || this.#closed) return;
    const set = await readLogos(folder, catalog.lenders);
    // Another catalog may have come into use meanwhile, with newer logos.
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

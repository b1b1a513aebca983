import { bounds } from '../bounds.ts';
import type { Lender } from './logo-cache.ts';
import { LogoCache } from './logo-cache.ts';
import { type LogoSet, readLogos } from './read-logos.ts';

export interface LogoCatalog {
  readonly lenders: readonly Lender[];
  /** Sets the hashes of the logos by lender name. URLs that are rendered afterwards contain these hashes. */
  setLogoHashes(hashes: ReadonlyMap<string, string>): void;
}

/** Source of the logos of a catalog and of the catalogs that replace it. */
export interface LogoSource {
  readonly key: string;
  /** Folder of the logo files; null if the catalog is not a file. Without a folder, lenders get monograms. */
  readonly folder: string | null;
}

/**
 * Loads the logos of catalogs: `prepare` reads them before a catalog is activated, `activate` serves them, and `refresh` reads the logos
 * of an active catalog again. A changed logo changes only URLs in responses, not the catalog version.
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

  /** Reads the logos that only a replaced catalog has, up to `bounds.unusedLogoNamesMax`. */
  async retainReplaced({ folder }: LogoSource, { lenders }: LogoCatalog): Promise<void> {
    const missing = lenders.filter(({ logo }) => !this.cache.has(logo)).slice(0, bounds.unusedLogoNamesMax);
    if (missing.length > 0) this.cache.addRetained((await readLogos(folder, missing)).logos.values());
  }

  /** Reads the logos of the active catalog again. Refreshes run one after the other and never reject. */
  refresh(source: LogoSource): Promise<void> {
    this.#lastRefresh = this.#lastRefresh.then(() => this.#refreshCatalog(source));
    return this.#lastRefresh;
  }

  /** Lenders of the active catalogs whose logo file is missing or invalid. */
  get problems(): LogoSet['problems'] {
    return [...this.#activeCatalogs.values()].flatMap((catalog) => this.#logosByCatalog.get(catalog)?.problems ?? []);
  }

  /** Waits for a refresh in progress. Later refreshes have no effect. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#lastRefresh;
  }

  async #refreshCatalog({ key, folder }: LogoSource): Promise<void> {
    const catalog = this.#activeCatalogs.get(key);
    if (catalog === undefined || this.#closed) return;
    const set = await readLogos(folder, catalog.lenders);
    // Meanwhile another catalog with newer logos may have been activated.
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

import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { type Lender, type Logo, type LogoSet, readLogos } from './read-logos.ts';

export interface CatalogWithLogos {
  readonly lenders: readonly Lender[];
  /** Sets the logo hash of each lender name. Logo URLs in later responses contain the new hashes. */
  setLogoHashes(hashes: ReadonlyMap<string, string>): void;
}

/** Source of the logos for a catalog and for all later versions of that catalog. */
export interface LogoSource {
  readonly key: string;
  /** Folder of the logo files; null if the catalog was not read from a file. Without a logo folder, all lenders get monograms. */
  readonly folder: string | null;
}

/**
 * Loads the logos of catalogs: `loadLogos` reads the logo files before a catalog is activated, `publishLogos` makes the logos available to
 * clients, and `reloadLogos` reads the logo files of an active catalog again. A changed logo changes the logo URLs in responses, but not
 * the catalog version.
 */
export class LogoService {
  readonly cache = new LogoCache();
  readonly #logosByCatalog = new WeakMap<CatalogWithLogos, LogoSet>();
  readonly #activeCatalogs = new Map<string, CatalogWithLogos>();
  #lastRefresh: Promise<void> = Promise.resolve();
  #closed = false;

  async loadLogos({ folder }: LogoSource, catalog: CatalogWithLogos): Promise<void> {
    this.#setLogos(catalog, await readLogos(folder, catalog.lenders));
  }

  /** Makes the logos of a catalog available to clients. `loadLogos` must be called before `publishLogos`. */
  publishLogos({ key }: LogoSource, catalog: CatalogWithLogos): void {
    const set = this.#logosByCatalog.get(catalog);
    if (set === undefined) throw new Error('loadLogos must be called before publishLogos');
    this.#activeCatalogs.set(key, catalog);
    this.cache.replaceCatalog(key, set.logos.values());
  }

  /** Adds the missing logos of a replaced catalog to the cache, at most `bounds.unusedLogoNamesMax` logos. */
  async loadOldLogos({ folder }: LogoSource, lenders: readonly Lender[]): Promise<void> {
    const missing = lenders.filter(({ logo }) => !this.cache.has(logo)).slice(0, bounds.unusedLogoNamesMax);
    if (missing.length > 0) this.cache.keepPreviousLogos((await readLogos(folder, missing)).logos.values());
  }

  /** Reloads the logo files of an active catalog. Concurrent calls run one after the other, and the returned promise never rejects. */
  reloadLogos(source: LogoSource): Promise<void> {
    this.#lastRefresh = this.#lastRefresh.then(() => this.#reloadLogosOfCatalog(source));
    return this.#lastRefresh;
  }

  /** Lenders in the active catalogs with a missing or invalid logo file. */
  get logoProblems(): LogoSet['problems'] {
    return [...this.#activeCatalogs.values()].flatMap((catalog) => this.#logosByCatalog.get(catalog)?.problems ?? []);
  }

  /** Waits until the running reload of logos ends, if any. After `close`, `reloadLogos` has no effect. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#lastRefresh;
  }

  async #reloadLogosOfCatalog({ key, folder }: LogoSource): Promise<void> {
    const catalog = this.#activeCatalogs.get(key);
    if (catalog === undefined || this.#closed) return;
    const set = await readLogos(folder, catalog.lenders);
    // The logos are discarded if a newer version of the catalog was activated while the files were read.
    if (this.#activeCatalogs.get(key) !== catalog) return;
    const before = this.#logosByCatalog.get(catalog)?.logos;
    this.#logosByCatalog.set(catalog, set);
    if ([...set.logos].every(([lender, { hash }]) => before?.get(lender)?.hash === hash)) return;
    this.#setLogos(catalog, set);
    this.publishLogos({ key, folder }, catalog);
  }

  #setLogos(catalog: CatalogWithLogos, set: LogoSet): void {
    this.#logosByCatalog.set(catalog, set);
    catalog.setLogoHashes(new Map([...set.logos].map(([lender, { hash }]) => [lender, hash])));
  }
}

/**
 * In-memory cache of the logos of the catalogs in use, and of some logos of replaced catalogs, because open pages may still show them. A
 * file name can have several logos, because each catalog has its own logo folder.
 */
export class LogoCache {
  /** Logos of each catalog in use, by `LogoSource.key`. */
  readonly #catalogs = new Map<string, readonly Logo[]>();
  #active: ReadonlyMap<string, readonly Logo[]> = new Map();
  /** Logos of replaced catalogs by file name. */
  readonly #retained = new LRUCache<string, readonly Logo[]>({ max: bounds.unusedLogoNamesMax });

  /** Replaces the cached logos of a catalog, which is identified by its `LogoSource.key`. */
  replaceCatalog(key: string, logos: Iterable<Logo>): void {
    this.#catalogs.set(key, [...logos]);
    const before = this.#active;
    this.#active = groupByFile([...this.#catalogs.values()].flat());
    for (const [file, unused] of before) if (!this.#active.has(file)) this.#retained.set(file, unused);
    for (const file of this.#active.keys()) this.#retained.delete(file);
  }

  /** Adds logos of a replaced catalog to the cache, except logos whose file names are already in the cache. */
  keepPreviousLogos(logos: Iterable<Logo>): void {
    for (const [file, retained] of groupByFile(logos)) if (!this.has(file)) this.#retained.set(file, retained);
  }

  has(file: string): boolean {
    return this.#active.has(file) || this.#retained.has(file);
  }

  /** Finds a logo by file name and hash, or only by file name if the hash is unknown. Returns null if the file name is unknown. */
  findFile(file: string, hash: string | undefined): Logo | null {
    const logos = this.#active.get(file) ?? this.#retained.peek(file);
    if (logos === undefined) return null;
    return logos.find((logo) => logo.hash === hash) ?? logos[0] ?? null;
  }
}

/** Groups logos by file name. Drops a logo whose group already contains a logo with the same content. */
function groupByFile(logos: Iterable<Logo>): Map<string, Logo[]> {
  const files = new Map<string, Logo[]>();
  for (const logo of logos) {
    const same = files.get(logo.file);
    if (same === undefined) files.set(logo.file, [logo]);
    else if (!same.some(({ hash }) => hash === logo.hash)) same.push(logo);
  }
  return files;
}

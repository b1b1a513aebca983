import type { CatalogFigures } from '../metrics/watched.ts';
import type { CatalogChange, CatalogLibrary, CatalogSource } from '../offers/catalog-library.ts';
import type { ServiceOptions } from './service.ts';

/** What an operator wants to know of the catalogs: which are in use since when, and whether a change of one was refused. */
export class CatalogWatch {
  readonly #sources: readonly CatalogSource[];
  readonly #catalogs: CatalogLibrary;
  readonly #sinceMs = new Map<string, number>();
  readonly #faulty = new Set<CatalogSource>();

  constructor({ catalogs: sources, clock }: ServiceOptions, catalogs: CatalogLibrary) {
    this.#sources = sources;
    this.#catalogs = catalogs;
    for (const version of catalogs.currentVersions) this.#sinceMs.set(version, clock.wallMs());
    catalogs.onUse(({ version }) => {
      this.#sinceMs.set(version, clock.wallMs());
      const inUse = new Set(catalogs.currentVersions);
      for (const known of this.#sinceMs.keys()) if (!inUse.has(known)) this.#sinceMs.delete(known);
    });
  }

  /** Notes what came of reading a source again. Returns whether the source was faulty before and is valid now. */
  changed(source: CatalogSource, { ok }: CatalogChange): boolean {
    if (ok) return this.#faulty.delete(source);
    this.#faulty.add(source);
    return false;
  }

  figures(): CatalogFigures[] {
    return this.#sources.map((source) => {
      const { version, offers } = this.#catalogs.current(source.vertical.number, source.mode);
      return {
        vertical: source.vertical.segment,
        mode: source.mode,
        version,
        offers: offers.length,
        sinceMs: this.#sinceMs.get(version)!,
        faulty: this.#faulty.has(source),
      };
    });
  }
}

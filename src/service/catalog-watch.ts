import type { CatalogStatus } from '../metrics/watched.ts';
import type { CatalogChange, CatalogStore, CatalogSource } from '../offers/catalog-library.ts';
import type { ServiceOptions } from './service.ts';

/** What an operator wants to know of the catalogs: which are in use since when, and whether a change of one was refused. */
export class CatalogStatusTracker {
  readonly #sources: readonly CatalogSource[];
  readonly #catalogs: CatalogStore;
  readonly #activatedMs = new Map<string, number>();
  readonly #failedSources = new Set<CatalogSource>();

  constructor({ catalogs: sources, clock }: ServiceOptions, catalogs: CatalogStore) {
    this.#sources = sources;
    this.#catalogs = catalogs;
    for (const version of catalogs.currentVersions) this.#activatedMs.set(version, clock.wallMs());
    catalogs.onActivate(({ version }) => {
      this.#activatedMs.set(version, clock.wallMs());
      const inUse = new Set(catalogs.currentVersions);
      for (const known of this.#activatedMs.keys()) if (!inUse.has(known)) this.#activatedMs.delete(known);
    });
  }

  /** Notes what came of reading a source again. Returns whether the source was faulty before and is valid now. */
  recordReload(source: CatalogSource, { ok }: CatalogChange): boolean {
    if (ok) return this.#failedSources.delete(source);
    this.#failedSources.add(source);
    return false;
  }

  statuses(): CatalogStatus[] {
    return this.#sources.map((source) => {
      const { version, offers } = this.#catalogs.current(source.vertical.number, source.mode);
      return {
        vertical: source.vertical.segment,
        mode: source.mode,
        version,
        offers: offers.length,
        activatedMs: this.#activatedMs.get(version)!,
        reloadFailed: this.#failedSources.has(source),
      };
    });
  }
}

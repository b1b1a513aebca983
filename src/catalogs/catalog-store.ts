import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import { CatalogArchive } from './catalog-archive.ts';
import { CompiledCatalog, compileCatalog } from './compile-catalog.ts';
import {
  type CatalogCompileJob,
  type CatalogCompileResult,
  compileCatalogInThread,
} from './compile-catalog-in-thread.ts';
import type { CompiledOffer } from './offer-view.ts';
import type { CatalogSource } from './parse-catalog.ts';
import { readArchivedCatalog } from './read-archived-catalog.ts';
import type { VerticalRegistry } from './vertical-registry.ts';

interface CatalogStoreOptions {
  /** Folder of the `CatalogArchive`. The store creates the archive folder if the folder does not exist. */
  readonly archiveFolder: string;
  readonly registry: VerticalRegistry;
  readonly clock: Clock;
  /** Sources of the catalogs, one for each vertical and mode served. */
  readonly catalogs: readonly CatalogSource[];
  /** Function that compiles a catalog during a reload. Default: `compileCatalogInThread`. */
  readonly compile?: (job: CatalogCompileJob, stop: AbortSignal) => Promise<CatalogCompileResult>;
  /** Logs that an archived catalog cannot be read. Clicks on the offers of an unreadable catalog return 404. */
  readonly onArchiveError?: (problem: string) => void;
  /** Called for the first successful reload of a source after a failed reload. */
  readonly onReloadRecovered?: (source: CatalogSource) => void;
  /** Called for each loaded catalog with warnings. A catalog whose reload does not change the version is not reported again. */
  readonly onWarnings?: (source: CatalogSource, warnings: readonly string[]) => void;
}

/** Result of a reload: the version now in use, or the errors (one line each) if the old catalog stays in use. */
export type CatalogReloadResult =
  | {
      readonly ok: true;
      readonly version: string;
      readonly changed: boolean;
      /** Warnings of a changed catalog, one line each. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Result of the reload of a catalog file, with the catalog that the file is for. */
export type CatalogFileReload = CatalogReloadResult & {
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  readonly file: string;
};

type PrepareCatalog = (compiled: CompiledCatalog) => Promise<void>;

/** Error for a catalog that is missing or invalid when the service starts. `errors` has one line for each error. */
export class InvalidCatalogError extends Error {
  override readonly name = 'InvalidCatalogError';
  readonly errors: readonly string[];
  /** Path of the catalog file; null if the catalog was not read from a file. */
  readonly file: string | null;

  constructor(source: CatalogSource, errors: readonly string[]) {
    const { mode, vertical } = source;
    super(`the ${mode} catalog of ${vertical.segment} cannot be used:\n${errors.join('\n')}`);
    this.errors = errors;
    this.file = 'file' in source ? source.file : null;
  }
}

export interface ReplacedCatalog {
  readonly compiled: CompiledCatalog;
  readonly replacedMs: number;
}

interface PreviousCatalog {
  readonly version: string;
  readonly replacedMs: number;
}

interface ServedCatalog {
  readonly source: CatalogSource;
  current: CompiledCatalog;
  /** Time at which the store activated `current`, in milliseconds since the Unix epoch. */
  activatedMs: number;
  /** Version that `current` replaced, which stays in the archive; null if it is unknown. */
  previous: PreviousCatalog | null;
  /** Errors of the last reload, one line each; empty if the last reload succeeded. */
  reloadErrors: readonly string[];
}

/**
 * Store of the compiled catalogs of all verticals and modes: catalogs in use, and catalogs replaced less than 28 hours ago
 * (docs/contract.md#replaced-catalogs). After a restart, the store loads the replaced catalogs from the archive folder.
 */
export class CatalogStore {
  readonly archive: CatalogArchive;
  readonly #options: CatalogStoreOptions;
  readonly #served: ServedCatalog[] = [];
  readonly #replaced = new Map<string, ReplacedCatalog>();
  readonly #beforeActivateHooks: PrepareCatalog[] = [];
  readonly #activateHooks: ((compiled: CompiledCatalog) => void)[] = [];
  readonly #abortController = new AbortController();
  #lastChange: Promise<unknown> = Promise.resolve();

  /** Loads all catalogs. Throws `InvalidCatalogError`, or the error of the system call if the archive folder cannot be written. */
  constructor(options: CatalogStoreOptions) {
    const { registry } = options;
    const verticals = [...new Set(options.catalogs.map(({ vertical }) => vertical))];
    this.#options = options;
    this.archive = new CatalogArchive(
      options.archiveFolder,
      verticals.map((vertical) => registry.withProduct(vertical)),
    );
    this.archive.createFolder();
    for (const source of options.catalogs) {
      const latestAsOf = this.#findLatestAsOf(source);
      const vertical = registry.withProduct(source.vertical);
      const read = this.archive.parseSource(source, vertical, source.mode, latestAsOf);
      if (!read.ok) throw new InvalidCatalogError(source, read.errors);
      if (read.warnings.length > 0) options.onWarnings?.(source, read.warnings);
      const current = compileCatalog(read.catalog, vertical, source);
      this.archive.storeCatalog(current.version, { ...source, catalog: read.catalog });
      this.archive.markCatalogAsCurrent(current.version);
      this.#served.push({ source, current, activatedMs: options.clock.wallMs(), previous: null, reloadErrors: [] });
    }
    this.#loadReplacedCatalogs();
  }

  /** Returns the catalog in use. Throws if no catalog is served for the vertical and mode. */
  currentCatalog(vertical: number, mode: ApiKeyMode): CompiledCatalog {
    return this.#findServedCatalog(vertical, mode).current;
  }

  /** Finds a catalog by version. Returns null if the version is unknown or was replaced more than 28 hours ago. */
  findCatalogByVersion(version: string): CompiledCatalog | null {
    for (const { current } of this.#served) if (current.version === version) return current;
    const replaced = this.#replaced.get(version);
    return replaced !== undefined && this.#isCatalogRetained(replaced.replacedMs) ? replaced.compiled : null;
  }

  get currentCatalogVersions(): string[] {
    return this.#served.map(({ current }) => current.version);
  }

  get currentCatalogs(): CompiledCatalog[] {
    return this.#served.map(({ current }) => current);
  }

  /** Catalogs in use with their sources, in the order of the option `catalogs`. */
  get servedCatalogs(): readonly Readonly<ServedCatalog>[] {
    return this.#served;
  }

  /** Returns the catalogs of a vertical and mode that were replaced in the last 28 hours, oldest replacement first. */
  listReplacedCatalogs(vertical: number, mode: ApiKeyMode): ReplacedCatalog[] {
    return [...this.#replaced.values()]
      .filter(({ compiled }) => compiled.vertical.number === vertical && compiled.mode === mode)
      .sort((one, other) => one.replacedMs - other.replacedMs);
  }

  /** Finds the lender of an offer as `findOffer` does. */
  findLenderName(vertical: number, mode: ApiKeyMode, offerId: string): string | null {
    return this.findOffer(vertical, mode, offerId)?.lenderName ?? null;
  }

  /** Finds an offer in the catalogs in use, then in the replaced catalogs. Returns null if no catalog has the offer. */
  findOffer(vertical: number, mode: ApiKeyMode, offerId: string): CompiledOffer | null {
    const catalogs = [...this.currentCatalogs, ...[...this.#replaced.values()].map(({ compiled }) => compiled)];
    for (const catalog of catalogs) {
      if (catalog.vertical.number !== vertical || catalog.mode !== mode) continue;
      const offer = catalog.offers[catalog.findOfferIndex(offerId)];
      if (offer !== undefined) return offer;
    }
    return null;
  }

  /** Registers a function that the store calls and awaits before it activates a new catalog. */
  onBeforeActivate(prepare: PrepareCatalog): void {
    this.#beforeActivateHooks.push(prepare);
  }

  onCatalogActivated(hook: (compiled: CompiledCatalog) => void): void {
    this.#activateHooks.push(hook);
  }

  /**
   * Reloads the catalog of a vertical and mode from its source. The old catalog stays in use until the new catalog is compiled.
   * If the reload fails, also by an exception, the old catalog stays in use. Reloads run one after the other.
   */
  reloadCatalog(vertical: number, mode: ApiKeyMode): Promise<CatalogReloadResult> {
    const served = this.#findServedCatalog(vertical, mode);
    const turn = this.#lastChange
      .then(() => this.#compileAndActivate(served))
      .catch((error: unknown): CatalogReloadResult => {
        const reason = error instanceof Error ? error.message : String(error);
        return { ok: false, errors: [`catalog: cannot be activated: ${reason}`] };
      })
      .then((result) => {
        if (result.ok && served.reloadErrors.length > 0) this.#options.onReloadRecovered?.(served.source);
        served.reloadErrors = result.ok ? [] : result.errors;
        return result;
      });
    this.#lastChange = turn;
    return turn;
  }

  /** Aborts the current reload, if any. All later reloads fail. */
  async close(): Promise<void> {
    this.#abortController.abort();
    await this.#lastChange;
  }

  #findServedCatalog(vertical: number, mode: ApiKeyMode): ServedCatalog {
    for (const served of this.#served) {
      if (served.source.vertical.number === vertical && served.source.mode === mode) return served;
    }
    throw new Error(`no ${mode} catalog for vertical ${vertical}`);
  }

  /**
   * Returns the last day that may be the `as_of` of an offer: the current UTC day. A built-in catalog may have any dates, so that a service
   * whose clock is behind starts.
   */
  #findLatestAsOf(source: CatalogSource): number | undefined {
    if ('file' in source && this.#options.registry.isBuiltInCatalogFile(source.vertical, source.file)) return undefined;
    return daysSinceEpoch(this.#options.clock.wallMs());
  }

  async #compileAndActivate(served: ServedCatalog): Promise<CatalogReloadResult> {
    const { source, current: old } = served;
    const { vertical, mode } = source;
    const { compile = compileCatalogInThread } = this.#options;
    const compiled = await compile(
      {
        source: 'text' in source ? { text: source.text } : { file: source.file },
        vertical,
        mode,
        today: this.#findLatestAsOf(source),
        currentVersion: old.version,
        archiveFolder: this.archive.folder,
      },
      this.#abortController.signal,
    );
    if (compiled.kind === 'invalid') return { ok: false, errors: compiled.errors };
    if (compiled.kind === 'unchanged') return { ok: true, version: old.version, changed: false, warnings: [] };
    const { parts, warnings } = compiled;
    return await this.#activateCatalog(served, new CompiledCatalog(parts, old, { mode }), warnings);
  }

  /** Activates a catalog that is already in the archive. If the activation fails, removes the new catalog from the archive. */
  async #activateCatalog(
    served: ServedCatalog,
    compiled: CompiledCatalog,
    warnings: readonly string[],
  ): Promise<CatalogReloadResult> {
    const { version } = compiled;
    const old = served.current;
    const replacedMs = this.#options.clock.wallMs();
    try {
      this.#deleteExpiredCatalogs(version);
      // A replaced catalog that becomes current again no longer counts as replaced.
      if (this.#replaced.size - Number(this.#replaced.has(version)) >= bounds.replacedCatalogsMax) {
        throw new Error(`${this.#replaced.size} replaced catalogs are still retained; try again later`);
      }
      for (const prepare of this.#beforeActivateHooks) await prepare(compiled);
      this.archive.markCatalogReplaced(old.version, replacedMs);
      this.archive.markCatalogAsCurrent(version);
    } catch (error) {
      const isNeeded = this.#replaced.has(version) || this.#isPreviousCatalog(version);
      if (!isNeeded && !this.currentCatalogVersions.includes(version)) this.archive.removeCatalog(version);
      throw error;
    }
    this.#replacePreviousCatalog(served, { version: old.version, replacedMs }, version);
    served.current = compiled;
    served.activatedMs = this.#options.clock.wallMs();
    this.#replaced.delete(version);
    this.#replaced.set(old.version, { compiled: old, replacedMs });
    for (const hook of this.#activateHooks) hook(compiled);
    if (warnings.length > 0) this.#options.onWarnings?.(served.source, warnings);
    return { ok: true, version, changed: true, warnings };
  }

  /** Sets the version that the catalog in use replaced, and deletes the version before it from the archive if nothing else needs it. */
  #replacePreviousCatalog(served: ServedCatalog, previous: PreviousCatalog, activated: string): void {
    const version = served.previous?.version;
    served.previous = previous;
    if (version === undefined || version === activated || version === previous.version) return;
    if (this.#replaced.has(version)) return;
    try {
      this.archive.removeCatalog(version);
    } catch {
      // The next start deletes the file.
    }
  }

  #isPreviousCatalog(version: string): boolean {
    return this.#served.some(({ previous }) => previous?.version === version);
  }

  #isCatalogRetained(replacedMs: number): boolean {
    return this.#options.clock.wallMs() - replacedMs < bounds.replacedCatalogRetentionMs;
  }

  /** @param activated version of the catalog that is activated next, whose archive file must not be deleted */
  #deleteExpiredCatalogs(activated: string): void {
    for (const [version, { replacedMs }] of this.#replaced) {
      if (version === activated || this.#isCatalogRetained(replacedMs)) continue;
      this.#replaced.delete(version);
      if (!this.#isPreviousCatalog(version)) this.archive.removeCatalog(version);
    }
  }

  #loadReplacedCatalogs(): void {
    const nowMs = this.#options.clock.wallMs();
    this.#findPreviousCatalogs(nowMs);
    for (const { version, replacedMs: markedMs } of this.archive.listCatalogVersions()) {
      if (this.currentCatalogVersions.includes(version)) continue;
      // A version without a replacement time was in use when the service last stopped, and is replaced by the configured catalog now.
      const replacedMs = markedMs ?? nowMs;
      if (!this.#isCatalogRetained(replacedMs)) {
        if (!this.#isPreviousCatalog(version)) this.archive.removeCatalog(version);
        continue;
      }
      if (markedMs === null) this.archive.markCatalogReplaced(version, replacedMs);
      try {
        const archived = this.archive.loadCatalog(version);
        this.#replaced.set(version, { compiled: compileCatalog(archived.catalog, archived, archived), replacedMs });
      } catch (error) {
        this.#options.onArchiveError?.((error as Error).message);
      }
    }
  }

  /** Finds the version that each catalog in use replaced: the archived version of the vertical and mode with the latest replacement. */
  #findPreviousCatalogs(nowMs: number): void {
    for (const { version, replacedMs } of this.archive.listCatalogVersions()) {
      if (this.currentCatalogVersions.includes(version)) continue;
      const served = this.#findCatalogOfArchive(version);
      const previous = { version, replacedMs: replacedMs ?? nowMs };
      if (served !== undefined && previous.replacedMs >= (served.previous?.replacedMs ?? 0)) served.previous = previous;
    }
  }

  /** Finds the catalog in use of the vertical and mode of an archived catalog; undefined if there is none, or the file is damaged. */
  #findCatalogOfArchive(version: string): ServedCatalog | undefined {
    try {
      const { vertical, mode } = readArchivedCatalog(this.archive.folder, version);
      return this.#served.find(({ source }) => source.vertical.segment === vertical && source.mode === mode);
    } catch {
      return undefined; // `#loadReplacedCatalogs` reports a damaged file.
    }
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { SharedTimeout } from '../domain/async.ts';
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
import type { CatalogSource } from './parse-catalog.ts';
import { readArchivedCatalog } from './read-archived-catalog.ts';
import {
  hasExamplePage,
  type OfferSummary,
  type ReplacedCatalog,
  type ReplacedSummary,
  summarizeCatalog,
} from './replaced-catalog.ts';
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
 * (docs/contract.md#replaced-catalogs). After a restart, the store has only the summaries of the replaced catalogs. It compiles a replaced
 * catalog in the catalog thread when a click on one of its offers needs the catalog.
 */
export class CatalogStore {
  readonly archive: CatalogArchive;
  readonly #options: CatalogStoreOptions;
  readonly #served: ServedCatalog[] = [];
  readonly #replaced = new Map<string, ReplacedCatalog>();
  readonly #beforeActivateHooks: PrepareCatalog[] = [];
  readonly #activateHooks: ((compiled: CompiledCatalog) => void)[] = [];
  readonly #abortController = new AbortController();
  readonly #compileTimeout = new SharedTimeout(bounds.replacedCatalogWaitMs, bounds.deadlineCheckIntervalMs);
  /** Number of clicks that wait until a replaced catalog is compiled. */
  #waitingClicks = 0;
  #lastChange: Promise<unknown> = Promise.resolve();
  #lastCompilation: Promise<unknown> = Promise.resolve();

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
      this.archive.storeSummary(current.version, summarizeCatalog(current, current.vertical, current.mode));
      this.archive.markCatalogAsCurrent(current.version);
      this.#served.push({ source, current, activatedMs: options.clock.wallMs(), previous: null, reloadErrors: [] });
    }
    this.#loadReplacedCatalogs();
  }

  /** Returns the catalog in use. Throws if no catalog is served for the vertical and mode. */
  currentCatalog(vertical: number, mode: ApiKeyMode): CompiledCatalog {
    return this.#findServedCatalog(vertical, mode).current;
  }

  /** Finds a catalog by version as `loadCatalogByVersion` does. Returns null also if the catalog is not compiled. */
  findCatalogByVersion(version: string): CompiledCatalog | null {
    for (const { current } of this.#served) if (current.version === version) return current;
    return this.#findReplacedCatalog(version)?.compiled ?? null;
  }

  /**
   * Finds a catalog by version, and compiles it if necessary. Returns null if the version is unknown or was replaced more than 28 hours ago.
   * The promise never rejects. It resolves with `busy` if the catalog is not compiled in time, or if too many clicks wait.
   */
  loadCatalogByVersion(version: string): CompiledCatalog | null | Promise<CompiledCatalog | null | 'busy'> {
    const found = this.findCatalogByVersion(version);
    const replaced = found === null ? this.#findReplacedCatalog(version) : null;
    return replaced === null ? found : this.#waitForReplacedCatalog(replaced);
  }

  #findReplacedCatalog(version: string): ReplacedCatalog | null {
    const replaced = this.#replaced.get(version);
    return replaced !== undefined && this.#isCatalogRetained(replaced.replacedMs) ? replaced : null;
  }

  async #waitForReplacedCatalog(replaced: ReplacedCatalog): Promise<CompiledCatalog | null | 'busy'> {
    if (this.#waitingClicks >= bounds.replacedCatalogWaitingClicksMax) return 'busy';
    this.#waitingClicks++;
    try {
      replaced.compiling ??= this.#compileReplacedCatalog(replaced);
      const compiled = await this.#compileTimeout.wait(replaced.compiling);
      return compiled === 'timeout' ? 'busy' : compiled;
    } finally {
      this.#waitingClicks--;
    }
  }

  /** Compiles a replaced catalog. Only one is compiled at a time. Resolves with null if the archive has no such catalog. Never rejects. */
  #compileReplacedCatalog(replaced: ReplacedCatalog): Promise<CompiledCatalog | null> {
    const { version, vertical, mode } = replaced;
    const { source } = this.#findServedCatalog(vertical.number, mode);
    const compiling = this.#lastCompilation.then(async () => {
      try {
        const result = await this.#compile(source, version);
        if (result.kind !== 'compiled') throw new Error(result.kind === 'invalid' ? result.errors[0] : result.kind);
        replaced.compiled = new CompiledCatalog(result.parts, this.#options.registry.withProduct(vertical), { mode });
      } catch (error) {
        if (this.#abortController.signal.aborted) return null;
        this.#replaced.delete(version);
        this.#options.onArchiveError?.((error as Error).message);
      }
      return replaced.compiled;
    });
    this.#lastCompilation = compiling;
    return compiling;
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

  /** Returns the summaries of the catalogs of a vertical and mode that were replaced in the last 28 hours, oldest replacement first. */
  listReplacedCatalogs(vertical: number, mode: ApiKeyMode): ReplacedSummary[] {
    return [...this.#replaced.values()]
      .filter((each) => each.vertical.number === vertical && each.mode === mode)
      .sort((one, other) => one.replacedMs - other.replacedMs)
      .map(({ replacedMs, summary, compiled }) => {
        return { replacedMs, summary: summary ?? summarizeCatalog(compiled!, compiled!.vertical, mode) };
      });
  }

  /** Finds the lender of an offer as `findOffer` does. */
  findLenderName(vertical: number, mode: ApiKeyMode, offerId: string): string | null {
    return this.findOffer(vertical, mode, offerId)?.lenderName ?? null;
  }

  /** Finds an offer in the catalogs in use, then in the replaced catalogs. Returns null if no catalog has the offer. */
  findOffer(
    vertical: number,
    mode: ApiKeyMode,
    offerId: string,
  ): Pick<OfferSummary, 'lenderName' | 'isExample'> | null {
    const isOfKey = (each: Pick<ReplacedCatalog, 'vertical' | 'mode'>) =>
      each.vertical.number === vertical && each.mode === mode;
    const served = this.#served.find(({ source }) => isOfKey(source));
    const replaced = [...this.#replaced.values()].filter(isOfKey);
    for (const { compiled, summary } of [{ compiled: served?.current ?? null, summary: null }, ...replaced]) {
      const offer = compiled?.offers[compiled.findOfferIndex(offerId)];
      if (offer !== undefined) return { lenderName: offer.lenderName, isExample: hasExamplePage(offer) };
      const found = compiled === null ? summary?.offers.find(({ id }) => id === offerId) : undefined;
      if (found !== undefined) return { lenderName: found.lenderName, isExample: found.isExample };
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

  /** Aborts the current compilation, if any. All later reloads fail. */
  async close(): Promise<void> {
    this.#abortController.abort();
    await Promise.all([this.#lastChange, this.#lastCompilation]);
    this.#compileTimeout.close();
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
    const { mode } = source;
    const compiled = await this.#compile(source, null);
    if (compiled.kind === 'invalid') return { ok: false, errors: compiled.errors };
    if (compiled.kind === 'unchanged') return { ok: true, version: old.version, changed: false, warnings: [] };
    const { parts, warnings } = compiled;
    return await this.#activateCatalog(served, new CompiledCatalog(parts, old, { mode }), warnings);
  }

  /** Compiles the source of a catalog, or an archived version of the catalog. */
  #compile(source: CatalogSource, archivedVersion: string | null): Promise<CatalogCompileResult> {
    const { vertical, mode } = source;
    const { compile = compileCatalogInThread } = this.#options;
    return compile(
      {
        source: 'text' in source ? { text: source.text } : { file: source.file },
        archivedVersion,
        vertical,
        mode,
        today: this.#findLatestAsOf(source),
        currentVersion: this.currentCatalog(vertical.number, mode).version,
        archiveFolder: this.archive.folder,
      },
      this.#abortController.signal,
    );
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
      this.#assertRoomForReplacedCatalog(old.version, version);
      for (const prepare of this.#beforeActivateHooks) {
        await prepare(compiled);
        // Each step takes milliseconds for a large catalog, so requests are answered between two steps.
        await nextTurn();
      }
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
    this.#addReplacedCatalog(old.version, replacedMs, { ...served.source, summary: null, compiled: old });
    for (const hook of this.#activateHooks) hook(compiled);
    if (warnings.length > 0) this.#options.onWarnings?.(served.source, warnings);
    return { ok: true, version, changed: true, warnings };
  }

  /** Throws if too many replaced catalogs would be stored when the version `activated` replaces the version `replaced`. */
  #assertRoomForReplacedCatalog(replaced: string, activated: string): void {
    // A replaced catalog that becomes current again no longer counts as replaced.
    const retained = [...this.#replaced.values()].filter(({ version }) => version !== activated);
    const bytes = retained.reduce((sum, each) => sum + each.bytes, this.archive.readCatalogSize(replaced));
    if (retained.length < bounds.replacedCatalogsMax && bytes <= bounds.replacedCatalogsBytesMax) return;
    throw new Error(
      `${retained.length} replaced catalogs (${Math.ceil(bytes / 2 ** 20)} MiB with the catalog in use) are still retained; try again later`,
    );
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

  /** Adds a replaced catalog with its archived summary. Compiles the catalog if the archive has no summary. Throws `CatalogArchiveError`. */
  #loadReplacedCatalog(version: string, replacedMs: number): void {
    const summary = this.archive.readSummary(version);
    const served = summary === null ? undefined : this.#findCatalogOfArchive(summary);
    if (served !== undefined) {
      this.#addReplacedCatalog(version, replacedMs, { ...served.source, summary, compiled: null });
      return;
    }
    const archived = this.archive.loadCatalog(version);
    const compiled = compileCatalog(archived.catalog, archived, archived);
    this.archive.storeSummary(version, summarizeCatalog(compiled, compiled.vertical, compiled.mode));
    this.#addReplacedCatalog(version, replacedMs, { ...compiled, summary: null, compiled });
  }

  #addReplacedCatalog(
    version: string,
    replacedMs: number,
    { vertical, mode, summary, compiled }: Pick<ReplacedCatalog, 'vertical' | 'mode' | 'summary' | 'compiled'>,
  ): void {
    const bytes = this.archive.readCatalogSize(version);
    this.#replaced.set(version, { version, replacedMs, bytes, vertical, mode, summary, compiled, compiling: null });
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
        this.#loadReplacedCatalog(version, replacedMs);
      } catch (error) {
        this.#options.onArchiveError?.((error as Error).message);
      }
    }
  }

  /** Finds the version that each catalog in use replaced: the archived version of the vertical and mode with the latest replacement. */
  #findPreviousCatalogs(nowMs: number): void {
    for (const { version, replacedMs } of this.archive.listCatalogVersions()) {
      if (this.currentCatalogVersions.includes(version)) continue;
      const served = this.#findCatalogOfVersion(version);
      const previous = { version, replacedMs: replacedMs ?? nowMs };
      if (served !== undefined && previous.replacedMs >= (served.previous?.replacedMs ?? 0)) served.previous = previous;
    }
  }

  /** Returns undefined if no such catalog is in use, or if the archived file is damaged. */
  #findCatalogOfVersion(version: string): ServedCatalog | undefined {
    try {
      return this.#findCatalogOfArchive(
        this.archive.readSummary(version) ?? readArchivedCatalog(this.archive.folder, version),
      );
    } catch {
      return undefined; // `#loadReplacedCatalogs` reports a damaged file.
    }
  }

  /** Finds the catalog in use of the vertical and mode of an archived catalog. Returns undefined if there is none. */
  #findCatalogOfArchive({ vertical, mode }: { readonly vertical: string; readonly mode: string }) {
    return this.#served.find(({ source }) => source.vertical.segment === vertical && source.mode === mode);
  }
}

import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CatalogArchive } from './catalog-archive.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { CompiledCatalog, compileCatalog } from './compile-catalog.ts';
import { compileCatalogInThread } from './compile-catalog-in-thread.ts';
import { parseCatalog, readCatalogText } from './parse-catalog.ts';

/** Where the catalog of one vertical and mode comes from. */
export type CatalogSource = { readonly vertical: Vertical; readonly mode: Mode } & (
  | { readonly text: string }
  | { readonly file: string }
);

interface CatalogStoreOptions {
  /** Folder of the versions that may still be asked for; created when missing. */
  readonly archiveFolder: string;
  readonly clock: Clock;
  /** Address of the image host, without a slash at its end; asked for when the first answer is written. */
  readonly cdnUrl: () => string;
  /** One for each vertical and mode served. */
  readonly catalogs: readonly CatalogSource[];
  /** An archived catalog could not be read, so clicks on its offers find nothing: for the log. */
  readonly onArchiveError?: (problem: string) => void;
}

/** What came of a change: the version in use now, or why the old one stays, a line each. */
export type CatalogChange =
  | { readonly ok: true; readonly version: string; readonly changed: boolean }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Makes a catalog ready wherever it will be needed. The library waits for it before the catalog comes into use. */
type PrepareCatalog = (compiled: CompiledCatalog) => Promise<void>;

/** A catalog given at the start is missing or not valid; `faults` names everything wrong with it. */
export class InvalidCatalogError extends Error {
  override readonly name = 'InvalidCatalogError';
  readonly errors: readonly string[];

  constructor({ mode, vertical }: CatalogSource, errors: readonly string[]) {
    super(`the ${mode} catalog of ${vertical.segment} cannot be used:\n${errors.join('\n')}`);
    this.errors = errors;
  }
}

/** A catalog that another took the place of, at that wall time. */
export interface ReplacedCatalog {
  readonly compiled: CompiledCatalog;
  readonly replacedMs: number;
}

interface CatalogSlot {
  readonly source: CatalogSource;
  current: CompiledCatalog;
}

/**
 * Every catalog version the service may be asked about: for each vertical and mode the one in use, and those replaced less
 * than 28 hours ago (docs/contract.md#replaced-catalogs). Replaced ones survive a restart in the archive folder.
 */
export class CatalogStore {
  readonly archive: CatalogArchive;
  readonly #options: CatalogStoreOptions;
  readonly #slots: CatalogSlot[] = [];
  readonly #currentVersions = new Map<string, CompiledCatalog>();
  readonly #replaced = new Map<string, ReplacedCatalog>();
  readonly #beforeActivateHooks: PrepareCatalog[] = [];
  readonly #activateHooks: ((compiled: CompiledCatalog) => void)[] = [];
  readonly #abortController = new AbortController();
  #lastChange: Promise<unknown> = Promise.resolve();

  /** Throws `InvalidCatalogError`, or the error of a folder that cannot be written. */
  constructor(options: CatalogStoreOptions) {
    const verticals = [...new Set(options.catalogs.map(({ vertical }) => vertical))];
    this.#options = options;
    this.archive = new CatalogArchive(options.archiveFolder, verticals);
    this.archive.createFolder();
    for (const source of options.catalogs) {
      const read = this.#parseSource(source);
      if (!read.ok) throw new InvalidCatalogError(source, read.faults);
      const current = this.#compileCatalog(read.catalog, source);
      this.archive.store(current.version, { ...source, catalog: read.catalog });
      this.archive.markCurrent(current.version);
      this.#slots.push({ source, current });
      this.#currentVersions.set(current.version, current);
    }
    this.#restoreReplaced();
  }

  /** The catalog in use. Throws for a vertical and mode that were not given at the start. */
  current(vertical: number, mode: Mode): CompiledCatalog {
    return this.#slotOf(vertical, mode).current;
  }

  /** A catalog in use, or replaced less than 28 hours ago; null for any other. */
  findByVersion(version: string): CompiledCatalog | null {
    const current = this.#currentVersions.get(version);
    if (current !== undefined) return current;
    const replaced = this.#replaced.get(version);
    return replaced !== undefined && this.#isRetained(replaced.replacedMs) ? replaced.compiled : null;
  }

  /** The versions in use. */
  get currentVersions(): string[] {
    return [...this.#currentVersions.keys()];
  }

  /** The catalogs in use. */
  get currentCatalogs(): CompiledCatalog[] {
    return [...this.#currentVersions.values()];
  }

  /** The catalogs of a vertical and mode that are kept though replaced, in the order in which they were. */
  replacedCatalogs(vertical: number, mode: Mode): ReplacedCatalog[] {
    return [...this.#replaced.values()]
      .filter(({ compiled }) => compiled.vertical.number === vertical && compiled.mode === mode)
      .sort((one, other) => one.replacedMs - other.replacedMs);
  }

  /** The lender that makes an offer, by the catalog in use or else by a replaced one that has it; null when none does. */
  findLenderName(vertical: number, mode: Mode, offerId: string): string | null {
    const catalogs = [
      ...this.#slots.map(({ current }) => current),
      ...[...this.#replaced.values()].map(({ compiled }) => compiled),
    ];
    for (const catalog of catalogs) {
      if (catalog.vertical.number !== vertical || catalog.mode !== mode) continue;
      const offer = catalog.offers[catalog.offerIndex(offerId)];
      if (offer !== undefined) return offer.lenderName;
    }
    return null;
  }

  /** Has `prepare` called, and waited for, with each catalog before it comes into use. */
  onBeforeActivate(prepare: PrepareCatalog): void {
    this.#beforeActivateHooks.push(prepare);
  }

  /** Has `follow` called with each catalog at the moment it comes into use. */
  onActivate(follow: (compiled: CompiledCatalog) => void): void {
    this.#activateHooks.push(follow);
  }

  /**
   * Reads the file of a vertical and mode again. Whatever goes wrong, the old one stays, and it answers until the new one is
   * ready everywhere. Changes happen one after the other.
   */
  reload(vertical: number, mode: Mode): Promise<CatalogChange> {
    return this.#runSerially(() => this.#reloadSlot(this.#slotOf(vertical, mode)));
  }

  /** Gives up a change that is under way; further ones fail. */
  async close(): Promise<void> {
    this.#abortController.abort();
    await this.#lastChange;
  }

  #slotOf(vertical: number, mode: Mode): CatalogSlot {
    for (const shelf of this.#slots) {
      if (shelf.source.vertical.number === vertical && shelf.source.mode === mode) return shelf;
    }
    throw new Error(`no ${mode} catalog for vertical ${vertical}`);
  }

  /** Nothing a catalog file does may end a running service, so even what nobody foresaw is a fault of the change. */
  #runSerially(change: () => Promise<CatalogChange>): Promise<CatalogChange> {
    const turn = this.#lastChange.then(change).catch((error: unknown): CatalogChange => {
      const reason = error instanceof Error ? error.message : String(error);
      return { ok: false, faults: [`catalog: could not be put in use: ${reason}`] };
    });
    this.#lastChange = turn;
    return turn;
  }

  async #reloadSlot(shelf: CatalogSlot): Promise<CatalogChange> {
    const { source, current: old } = shelf;
    const { vertical, mode } = source;
    const compiled = await compileCatalogInThread(
      {
        source: 'text' in source ? { text: source.text } : { file: source.file },
        vertical,
        mode,
        currentVersion: old.version,
        archiveFolder: this.archive.folder,
      },
      this.#abortController.signal,
    );
    if (compiled.kind === 'faulty') return { ok: false, faults: compiled.faults };
    if (compiled.kind === 'unchanged') return { ok: true, version: old.version, changed: false };
    const { cdnUrl } = this.#options;
    return await this.#activate(shelf, new CompiledCatalog(compiled.parts, vertical, { mode, cdnUrl }));
  }

  /** The catalog is in the archive already; it goes from there again when it does not come into use. */
  async #activate(shelf: CatalogSlot, compiled: CompiledCatalog): Promise<CatalogChange> {
    const { version } = compiled;
    const old = shelf.current;
    const replacedMs = this.#options.clock.wallMs();
    try {
      this.#deleteExpired();
      if (this.#replaced.size >= bounds.replacedCatalogsMax) {
        throw new Error(`${this.#replaced.size} replaced catalogs are still kept; try again later`);
      }
      for (const prepare of this.#beforeActivateHooks) await prepare(compiled);
      this.archive.markReplaced(old.version, replacedMs);
      this.archive.markCurrent(version);
    } catch (fault) {
      if (!this.#replaced.has(version) && !this.#currentVersions.has(version)) this.archive.remove(version);
      throw fault;
    }
    shelf.current = compiled;
    this.#currentVersions.delete(old.version);
    this.#currentVersions.set(version, compiled);
    this.#replaced.delete(version);
    this.#replaced.set(old.version, { compiled: old, replacedMs });
    for (const follow of this.#activateHooks) follow(compiled);
    return { ok: true, version, changed: true };
  }

  #parseSource(source: CatalogSource): ReturnType<typeof parseCatalog> {
    const text = readSourceText(source);
    return text.ok ? parseCatalog(text.text, source.vertical) : text;
  }

  #compileCatalog(catalog: CatalogFile, { vertical, mode }: { vertical: Vertical; mode: Mode }): CompiledCatalog {
    return compileCatalog(catalog, vertical, { mode, cdnUrl: this.#options.cdnUrl });
  }

  #isRetained(replacedMs: number): boolean {
    return this.#options.clock.wallMs() - replacedMs < bounds.replacedCatalogRetentionMs;
  }

  #deleteExpired(): void {
    for (const [version, { replacedMs }] of this.#replaced) {
      if (this.#isRetained(replacedMs)) continue;
      this.#replaced.delete(version);
      this.archive.remove(version);
    }
  }

  #restoreReplaced(): void {
    const nowMs = this.#options.clock.wallMs();
    for (const { version, replacedMs: markedMs } of this.archive.listVersions()) {
      if (this.#currentVersions.has(version)) continue;
      // Without a mark it was in use when the service last stopped: it is replaced now.
      const replacedMs = markedMs ?? nowMs;
      if (!this.#isRetained(replacedMs)) {
        this.archive.remove(version);
        continue;
      }
      if (markedMs === null) this.archive.markReplaced(version, replacedMs);
      try {
        const archived = this.archive.load(version);
        this.#replaced.set(version, { compiled: this.#compileCatalog(archived.catalog, archived), replacedMs });
      } catch (error) {
        this.#options.onArchiveError?.((error as Error).message);
      }
    }
  }
}

function readSourceText(source: CatalogSource): { ok: true; text: string } | { ok: false; faults: readonly string[] } {
  if ('text' in source) return { ok: true, text: source.text };
  const read = readCatalogText(source.file);
  return read.ok ? read : { ok: false, faults: [`catalog: ${read.problem}`] };
}

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiKeyMode } from '../domain/mode.ts';
import { createFolderDurably, writeFileDurably } from '../files/durable-files.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { canonicalJson, catalogVersionPattern, computeCatalogVersion } from './catalog-version.ts';
import { type CatalogText, type ParsedCatalog, parseCatalog, parseCatalogSource } from './parse-catalog.ts';
import type { VerticalWithProduct } from './product.ts';
import { type CatalogSummary, catalogSummaryFormat } from './replaced-catalog.ts';

interface ArchivedCatalog extends VerticalWithProduct {
  readonly mode: ApiKeyMode;
  readonly catalog: CatalogFile;
}

/** Error for an archived catalog that is missing or damaged, or whose content does not match the version in the file name. */
class CatalogArchiveError extends Error {
  override readonly name = 'CatalogArchiveError';
}

/**
 * Archive folder with the catalog versions that are in use or were replaced recently, and with the version before each catalog in use. The
 * file `<version>.json` contains a catalog, and `<version>.summary` its `CatalogSummary`. For a replaced version, the file
 * `<version>.replaced` contains the Unix time of the replacement in milliseconds.
 */
export class CatalogArchive {
  readonly folder: string;
  readonly #verticals: readonly VerticalWithProduct[];

  constructor(folder: string, verticals: readonly VerticalWithProduct[]) {
    this.folder = folder;
    this.#verticals = verticals;
  }

  createFolder(): void {
    createFolderDurably(this.folder);
  }

  /** Lists the archived versions. `replacedMs` is null if the version was not replaced or its replacement time is unknown. */
  listCatalogVersions(): { version: string; replacedMs: number | null }[] {
    const names = new Set(readdirSync(this.folder));
    return [...names]
      .filter((name) => name.endsWith('.json') && catalogVersionPattern.test(name.slice(0, -'.json'.length)))
      .map((name) => {
        const version = name.slice(0, -'.json'.length);
        const replaced = names.has(`${version}.replaced`);
        return { version, replacedMs: replaced ? this.#readReplacedAt(version) : null };
      });
  }

  /**
   * Parses the source of a catalog. A catalog that is already in the archive was accepted by this version or an earlier version of the
   * service, so rules that only later versions have cause warnings instead of errors.
   *
   * @param today current UTC day in days since the Unix epoch; undefined if offers may have an `as_of` in the future
   */
  parseSource(
    source: CatalogText,
    vertical: VerticalWithProduct,
    mode: ApiKeyMode,
    today: number | undefined,
  ): ParsedCatalog {
    const parsed = parseCatalogSource(source, vertical, today);
    if (parsed.ok) return parsed;
    const stored = parseCatalogSource(source, vertical, today, true);
    const isStored = stored.ok && existsSync(this.#catalogFilePath(computeCatalogVersion(stored.catalog, mode)));
    return isStored ? stored : parsed;
  }

  storeCatalog(version: string, { vertical, mode, catalog }: Omit<ArchivedCatalog, 'product'>): void {
    const text = canonicalJson({ vertical: vertical.segment, mode, catalog });
    if (this.#readCatalogText(version) !== text) writeFileDurably(this.#catalogFilePath(version), text);
  }

  /** Stores the summary of an archived catalog, unless the archive has it. */
  storeSummary(version: string, summary: CatalogSummary): void {
    if (this.readSummary(version) === null) writeFileDurably(this.#summaryPath(version), JSON.stringify(summary));
  }

  /** Returns null if the summary is missing, damaged or of another release. */
  readSummary(version: string): CatalogSummary | null {
    try {
      const summary: CatalogSummary = JSON.parse(readFileSync(this.#summaryPath(version), 'utf8'));
      return summary.format === catalogSummaryFormat ? summary : null;
    } catch {
      return null;
    }
  }

  /** Returns the size of an archived catalog in bytes; 0 if its file is missing. */
  readCatalogSize(version: string): number {
    return statSync(this.#catalogFilePath(version), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Loads an archived catalog. Throws `CatalogArchiveError` if the archived catalog is missing or damaged. */
  loadCatalog(version: string): ArchivedCatalog {
    if (!catalogVersionPattern.test(version)) throw new CatalogArchiveError('not a catalog version');
    let file: { vertical?: unknown; mode?: unknown; catalog?: unknown };
    try {
      file = JSON.parse(readFileSync(this.#catalogFilePath(version), 'utf8'));
    } catch (error) {
      throw new CatalogArchiveError(`catalog ${version} cannot be read: ${(error as Error).message}`);
    }
    const found = this.#verticals.find(({ vertical }) => vertical.segment === file?.vertical);
    const mode = file?.mode;
    if (found === undefined || (mode !== 'live' && mode !== 'test')) {
      throw new CatalogArchiveError(`catalog ${version} is for a vertical or mode that is not served`);
    }
    const parsed = parseCatalog(JSON.stringify(file.catalog), found, undefined, true);
    if (!parsed.ok) throw new CatalogArchiveError(`catalog ${version} is not valid: ${parsed.errors[0]}`);
    if (computeCatalogVersion(parsed.catalog, mode) !== version) {
      throw new CatalogArchiveError(`catalog ${version} is damaged: its content has another version`);
    }
    return { ...found, mode, catalog: parsed.catalog };
  }

  markCatalogReplaced(version: string, wallMs: number): void {
    writeFileDurably(join(this.folder, `${version}.replaced`), String(wallMs));
  }

  markCatalogAsCurrent(version: string): void {
    rmSync(join(this.folder, `${version}.replaced`), { force: true });
  }

  removeCatalog(version: string): void {
    rmSync(this.#catalogFilePath(version), { force: true });
    rmSync(this.#summaryPath(version), { force: true });
    this.markCatalogAsCurrent(version);
  }

  #summaryPath(version: string): string {
    return join(this.folder, `${version}.summary`);
  }

  #catalogFilePath(version: string): string {
    return join(this.folder, `${version}.json`);
  }

  #readCatalogText(version: string): string | null {
    try {
      return readFileSync(this.#catalogFilePath(version), 'utf8');
    } catch {
      return null;
    }
  }

  /** Reads the Unix time (in ms) at which a catalog version was replaced. Returns null if the `.replaced` file contains no time. */
  #readReplacedAt(version: string): number | null {
    const text = readFileSync(join(this.folder, `${version}.replaced`), 'utf8');
    return /^\d{1,16}$/.test(text) ? Number(text) : null;
  }
}

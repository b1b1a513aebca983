import { bounds } from '../bounds.ts';
import { contentHash } from '../domain/content-hash.ts';

export interface Lender {
  readonly name: string;
  /** File name of the lender's logo. */
  readonly logo: string;
}

/** Logo as the server sends it. Files with the same name but different content are different logos. */
export interface Logo {
  readonly file: string;
  /** First characters of the SHA-256 of the content, in hexadecimal. */
  readonly hash: string;
  readonly svg: Uint8Array;
}

export function createLogo(file: string, svg: Uint8Array): Logo {
  return { file, hash: contentHash(svg), svg };
}

/**
 * In-memory cache of the logos that can be requested: those of the catalogs in use, and some that only previously rendered pages still
 * show. A file name may have several images, because each catalog has its own folder.
 */
export class LogoCache {
  /** Logos of each catalog in use, by the key of the catalog's source. */
  readonly #catalogs = new Map<string, readonly Logo[]>();
  #active: ReadonlyMap<string, readonly Logo[]> = new Map();
  /** Logos that only replaced catalogs have, by file name, oldest entry first. */
  readonly #retained = new Map<string, readonly Logo[]>();

  /** Replaces the logos of the catalog that has this key. */
  replaceCatalog(key: string, logos: Iterable<Logo>): void {
    this.#catalogs.set(key, [...logos]);
    const before = this.#active;
    this.#active = groupByFile([...this.#catalogs.values()].flat());
    for (const [file, unused] of before) if (!this.#active.has(file)) this.#retain(file, unused);
    for (const file of this.#retained.keys()) if (this.#active.has(file)) this.#retained.delete(file);
  }

  /** Adds logos that only a replaced catalog has. */
  addRetained(logos: Iterable<Logo>): void {
    for (const [file, retained] of groupByFile(logos)) if (!this.has(file)) this.#retain(file, retained);
  }

  has(file: string): boolean {
    return this.#active.has(file) || this.#retained.has(file);
  }

  /** Finds the logo with this file name and hash, otherwise the current logo with this name. Returns null for an unknown name. */
  find(file: string, hash: string | undefined): Logo | null {
    const logos = this.#active.get(file) ?? this.#retained.get(file);
    if (logos === undefined) return null;
    return logos.find((logo) => logo.hash === hash) ?? logos[0] ?? null;
  }

  #retain(file: string, logos: readonly Logo[]): void {
    this.#retained.delete(file);
    this.#retained.set(file, logos);
    if (this.#retained.size <= bounds.unusedLogoNamesMax) return;
    for (const oldest of this.#retained.keys()) return void this.#retained.delete(oldest);
  }
}

/** Groups logos by file name and drops logos with repeated content. */
function groupByFile(logos: Iterable<Logo>): Map<string, Logo[]> {
  const files = new Map<string, Logo[]>();
  for (const logo of logos) {
    const same = files.get(logo.file);
    if (same === undefined) files.set(logo.file, [logo]);
    else if (!same.some(({ hash }) => hash === logo.hash)) same.push(logo);
  }
  return files;
}

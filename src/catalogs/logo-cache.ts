import { bounds } from '../bounds.ts';
import { contentHash } from '../domain/content-hash.ts';

export interface Lender {
  readonly name: string;
  /** File name. */
  readonly logo: string;
}

/** An image as it is sent. Another content with the same file name is another logo. */
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
 * The logos that can be requested, in memory: those of the catalogs in use, and some that only pages rendered earlier still show. A
 * file name may have several images, because each catalog has a folder of its own.
 */
export class LogoCache {
  /** The logos of each catalog in use, by the key of its source. */
  readonly #catalogs = new Map<string, readonly Logo[]>();
  #active: ReadonlyMap<string, readonly Logo[]> = new Map();
  /** Oldest first. */
  readonly #retained = new Map<string, readonly Logo[]>();

  /** Replaces the logos of the catalog with that key. */
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

  /** The logo with that file name and hash, or else the current one with that name; null for an unknown name. */
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

/** Groups logos by file name, each content once. */
function groupByFile(logos: Iterable<Logo>): Map<string, Logo[]> {
  const files = new Map<string, Logo[]>();
  for (const logo of logos) {
    const same = files.get(logo.file);
    if (same === undefined) files.set(logo.file, [logo]);
    else if (!same.some(({ hash }) => hash === logo.hash)) same.push(logo);
  }
  return files;
}

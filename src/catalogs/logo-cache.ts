import { bounds } from '../bounds.ts';
import { contentHash } from '../domain/content-hash.ts';

/** Whoever stands behind offers: the name borrowers read, and the name of its logo's file. */
export interface Lender {
  readonly name: string;
  readonly logo: string;
}

/** One image as it is sent. Immutable: another content under the same file name is another logo. */
export interface Logo {
  readonly file: string;
  /** Names the content: the head of its SHA-256, in hexadecimal. */
  readonly hash: string;
  readonly svg: Uint8Array;
}

export function createLogo(file: string, svg: Uint8Array): Logo {
  return { file, hash: contentHash(svg), svg };
}

/**
 * The logos that can be asked for, in memory: those of the catalogs in use, and some that no catalog in use names any more but
 * a page somewhere may still show. Two catalogs may mean different images by one file name, so a name may have several.
 */
export class LogoCache {
  /** Of each catalog in use, by the place it has. */
  readonly #catalogs = new Map<string, readonly Logo[]>();
  #active: ReadonlyMap<string, readonly Logo[]> = new Map();
  /** Oldest first. */
  readonly #retained = new Map<string, readonly Logo[]>();

  /** Puts the logos of a catalog in the place of those it replaces. */
  replaceCatalog(place: string, logos: Iterable<Logo>): void {
    this.#catalogs.set(place, [...logos]);
    const before = this.#active;
    this.#active = groupByFile([...this.#catalogs.values()].flat());
    for (const [file, gone] of before) if (!this.#active.has(file)) this.#retain(file, gone);
    for (const file of this.#retained.keys()) if (this.#active.has(file)) this.#retained.delete(file);
  }

  /** Keeps logos that only a replaced catalog names. */
  addRetained(logos: Iterable<Logo>): void {
    for (const [file, kept] of groupByFile(logos)) if (!this.has(file)) this.#retain(file, kept);
  }

  has(file: string): boolean {
    return this.#active.has(file) || this.#retained.has(file);
  }

  /** The logo of that file name with this hash, or else the one in use by that name; null for a name nobody has. */
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

/** Each content once, in the order given. */
function groupByFile(logos: Iterable<Logo>): Map<string, Logo[]> {
  const files = new Map<string, Logo[]>();
  for (const logo of logos) {
    const same = files.get(logo.file);
    if (same === undefined) files.set(logo.file, [logo]);
    else if (!same.some(({ hash }) => hash === logo.hash)) same.push(logo);
  }
  return files;
}

import { bounds } from '../bounds.ts';
import type { Logo } from './logo.ts';

/**
 * The logos that can be asked for, in memory: those of the catalogs in use, and some that no catalog in use names any more but
 * a page somewhere may still show. Two catalogs may mean different images by one file name, so a name may have several.
 */
export class LogoShelf {
  /** Of each catalog in use, by the place it has. */
  readonly #catalogs = new Map<string, readonly Logo[]>();
  #inUse: ReadonlyMap<string, readonly Logo[]> = new Map();
  /** Oldest first. */
  readonly #left = new Map<string, readonly Logo[]>();

  /** Puts the logos of a catalog in the place of those it replaces. */
  put(place: string, logos: Iterable<Logo>): void {
    this.#catalogs.set(place, [...logos]);
    const before = this.#inUse;
    this.#inUse = byFile([...this.#catalogs.values()].flat());
    for (const [file, gone] of before) if (!this.#inUse.has(file)) this.#leave(file, gone);
    for (const file of this.#left.keys()) if (this.#inUse.has(file)) this.#left.delete(file);
  }

  /** Keeps logos that only a replaced catalog names. */
  keep(logos: Iterable<Logo>): void {
    for (const [file, kept] of byFile(logos)) if (!this.has(file)) this.#leave(file, kept);
  }

  has(file: string): boolean {
    return this.#inUse.has(file) || this.#left.has(file);
  }

  /** The logo of that file name with this hash, or else the one in use by that name; null for a name nobody has. */
  find(file: string, hash: string | undefined): Logo | null {
    const logos = this.#inUse.get(file) ?? this.#left.get(file);
    if (logos === undefined) return null;
    return logos.find((logo) => logo.hash === hash) ?? logos[0] ?? null;
  }

  #leave(file: string, logos: readonly Logo[]): void {
    this.#left.delete(file);
    this.#left.set(file, logos);
    if (this.#left.size <= bounds.logosLeftMax) return;
    for (const oldest of this.#left.keys()) return void this.#left.delete(oldest);
  }
}

/** Each content once, in the order given. */
function byFile(logos: Iterable<Logo>): Map<string, Logo[]> {
  const files = new Map<string, Logo[]>();
  for (const logo of logos) {
    const same = files.get(logo.file);
    if (same === undefined) files.set(logo.file, [logo]);
    else if (!same.some(({ hash }) => hash === logo.hash)) same.push(logo);
  }
  return files;
}

import type { Link } from './offer-link.ts';

/** Which offers a session is known to have been shown, as far as a crash lets anybody know. */
export class ShownOffers {
  readonly #certain = new Set<string>();
  readonly #possible = new Set<string>();
  /** False from the first showing on whose answer never came. */
  #isWhole = true;

  /** A showing that the ledger has; without links it is not known what it showed. */
  add(links: readonly Link[]): void {
    for (const { offerId } of links) this.#certain.add(offerId);
    if (links.length === 0) this.#isWhole = false;
  }

  /** A showing that the ledger may have. */
  addPossible(links: readonly Link[]): void {
    for (const { offerId } of links) this.#possible.add(offerId);
    if (links.length === 0) this.#isWhole = false;
  }

  /** Null where nobody can know. */
  has(offerId: string): boolean | null {
    if (this.#certain.has(offerId)) return true;
    return this.#isWhole && !this.#possible.has(offerId) ? false : null;
  }
}

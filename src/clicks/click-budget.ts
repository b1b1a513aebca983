import { LRUCache } from 'lru-cache';

/**
 * Counts the clicks recorded for each link, so that a leaked one cannot fill the log (D9: clicks cost no key limit, they are
 * bounded). It counts by session and offer, since repeats of one link must not use up the first click of another. The links
 * clicked least recently are forgotten first.
 */
export class ClickBudget {
  readonly #recorded: LRUCache<string, number>;
  readonly #perLinkMax: number;

  constructor(perLinkMax: number, linksMax: number) {
    this.#perLinkMax = perLinkMax;
    this.#recorded = new LRUCache({ max: linksMax });
  }

  /** True, and counted, while the link has clicks left to record; what comes after them could only be repeats. */
  spend(subId: string, offerId: string): boolean {
    const link = subId + offerId;
    const recorded = this.#recorded.get(link) ?? 0;
    if (recorded >= this.#perLinkMax) return false;
    this.#recorded.set(link, recorded + 1);
    return true;
  }
}

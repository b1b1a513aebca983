import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { SessionClickCounts } from './session-click-counts.ts';

/**
 * Decides which clicks are recorded, so that no link fills the ledger (docs/contract.md#recorded-clicks; clicks use no key limit, they are
 * bounded): at most `clicksRecordedPerSessionMax` of one session, on whichever offers, and at most `clicksRecordedPerLinkMax` of one
 * session on one offer. Other clicks redirect without a record.
 *
 * The bound for a session always applies, also after a restart (`restore`). The one for a link keeps repeats of it from using up
 * the session's clicks; beyond `clickCountersMax` links it is forgotten for the links clicked least recently.
 */
export class ClickBudget {
  readonly #perLinkMax: number;
  readonly #ofLinks: LRUCache<string, number>;
  readonly #ofSessions: SessionClickCounts;

  constructor({
    clicksRecordedPerLinkMax,
    clickCountersMax,
    clicksRecordedPerSessionMax,
    sessionClickCells,
  }: ClickBounds = bounds) {
    this.#perLinkMax = clicksRecordedPerLinkMax;
    this.#ofLinks = new LRUCache({ max: clickCountersMax });
    this.#ofSessions = new SessionClickCounts(clicksRecordedPerSessionMax, sessionClickCells);
  }

  /** True, and counted, for a click that is to be recorded. `sub` is the bytes of `subId`. */
  spend(subId: string, sub: Uint8Array, offerId: string): boolean {
    const link = subId + offerId;
    const recorded = this.#ofLinks.get(link) ?? 0;
    if (recorded >= this.#perLinkMax || !this.#ofSessions.add(sub)) return false;
    this.#ofLinks.set(link, recorded + 1);
    return true;
  }

  /** Counts a click that was recorded before a restart. */
  restore(sub: Uint8Array): void {
    this.#ofSessions.add(sub);
  }
}

type ClickBounds = {
  readonly [Bound in
    | 'clicksRecordedPerLinkMax'
    | 'clickCountersMax'
    | 'clicksRecordedPerSessionMax'
    | 'sessionClickCells']: number;
};

import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { SessionClickSketch } from './session-click-counts.ts';

/**
 * Decides which clicks are recorded, so that no link fills the ledger (docs/contract.md#recorded-clicks; clicks use no key limit, they are
 * bounded): at most `clicksRecordedPerSessionMax` of one session, on whichever offers, and at most `clicksRecordedPerLinkMax` of one
 * session on one offer. Other clicks redirect without a record.
 *
 * The bound for a session always applies, also after a restart (`restore`). The one for a link keeps repeats of it from using up
 * the session's clicks; beyond `clickCountersMax` links it is forgotten for the links clicked least recently.
 */
export class ClickRecordLimiter {
  readonly #perLinkMax: number;
  readonly #clicksPerLink: LRUCache<string, number>;
  readonly #clicksPerSession: SessionClickSketch;

  constructor({
    clicksRecordedPerLinkMax,
    clickCountersMax,
    clicksRecordedPerSessionMax,
    sessionClickCells,
  }: ClickLimits = bounds) {
    this.#perLinkMax = clicksRecordedPerLinkMax;
    this.#clicksPerLink = new LRUCache({ max: clickCountersMax });
    this.#clicksPerSession = new SessionClickSketch(clicksRecordedPerSessionMax, sessionClickCells);
  }

  /** True, and counted, for a click that is to be recorded. `sub` is the bytes of `subIdSchema`. */
  tryConsume(subId: string, sub: Uint8Array, offerId: string): boolean {
    const link = subId + offerId;
    const recorded = this.#clicksPerLink.get(link) ?? 0;
    if (recorded >= this.#perLinkMax || !this.#clicksPerSession.tryAdd(sub)) return false;
    this.#clicksPerLink.set(link, recorded + 1);
    return true;
  }

  /** Counts a click that was recorded before a restart. */
  restoreClick(sub: Uint8Array): void {
    this.#clicksPerSession.tryAdd(sub);
  }
}

type ClickLimits = {
  readonly [Bound in
    | 'clicksRecordedPerLinkMax'
    | 'clickCountersMax'
    | 'clicksRecordedPerSessionMax'
    | 'sessionClickCells']: number;
};

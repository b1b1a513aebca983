import { LRUCache } from 'lru-cache';

/**
 * Counts the clicks recorded for each session, so that one leaked link cannot fill the log (D9: clicks cost no key limit,
 * they are bounded per session). The least recently clicked sessions are forgotten first.
 */
export class ClickBudget {
  readonly #recorded: LRUCache<string, number>;
  readonly #perSessionMax: number;

  constructor(perSessionMax: number, sessionsMax: number) {
    this.#perSessionMax = perSessionMax;
    this.#recorded = new LRUCache({ max: sessionsMax });
  }

  /** True, and counted, while the session has clicks left to record. */
  spend(subId: string): boolean {
    const recorded = this.#recorded.get(subId) ?? 0;
    if (recorded >= this.#perSessionMax) return false;
    this.#recorded.set(subId, recorded + 1);
    return true;
  }
}

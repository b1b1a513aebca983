import type { Mode } from '../../src/index.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { addFigures, type Figures, noFigures, sameFigures } from './figures.ts';

/** A click URL from an answer, and what its first click books. */
export interface Link {
  readonly offerId: string;
  /** Path and query, since the port changes with every start. */
  readonly path: string;
  readonly micros: number;
}

/** A view, or a click that will count, which a crash may still take back. */
interface OpenEvent {
  readonly adds: Figures;
  /** What a view gave to click on. */
  readonly links: readonly Link[];
  /** Of a click. */
  readonly offerId: string | null;
  /** Infinity when no answer came. */
  readonly answeredAt: number;
}

/** Links kept to click on; older ones are forgotten. */
const linksKept = 40;

/**
 * What is known on the caller's side of one session. Only one request for it is under way at a time (or the same one
 * twice), so its events stand in the ledger in the order in which they are noted here, and what a crash leaves of them is
 * a beginning of that order: never less than what was durable before its answer, or had something durable behind it.
 */
export class SessionRecord {
  readonly subId: string;
  readonly tag: string;
  readonly mode: Mode;
  fields: Fields = {};
  /** Sent, and what became of it is not known. */
  pendingMerge: Fields | null = null;
  /** A server that lives on has left a request open: nothing more is asked until a restart shows what became of it. */
  isFrozen = false;
  #settled = noFigures;
  #settledLinks: Link[] = [];
  #lostLink: Link | null = null;
  #open: OpenEvent[] = [];
  /** Offers of the settled views, as far as their answers came. */
  readonly #shown = new Set<string>();
  #isShownKnown = true;
  /** Offers whose click counts. */
  readonly #counted = new Set<string>();

  constructor(subId: string, tag: string, mode: Mode) {
    this.subId = subId;
    this.tag = tag;
    this.mode = mode;
  }

  get links(): Link[] {
    return [...this.#settledLinks, ...this.#open.flatMap(({ links }) => links)].slice(-linksKept);
  }

  /** On an offer that was shown in vain, since the last crash took back its only view: a click on it counts nothing. */
  get lostLink(): Link | null {
    return this.#lostLink;
  }

  /** All that was answered and all that was not: what it amounts to while the server lives. */
  get figures(): Figures {
    return this.#open.reduce((sum, { adds }) => addFigures(sum, adds), this.#settled);
  }

  /** An answer that showed offers; when none came, `answeredAt` is Infinity. Without links it is not known what it showed. */
  viewed(links: readonly Link[], answeredAt: number): void {
    this.#open.push({ adds: { ...noFigures, views: 1 }, links, offerId: null, answeredAt });
  }

  /**
   * A click on one of its links. `durable`: answered as D10 wants it, after its record; `late`: answered so slowly that
   * the redirect may not have waited for the record; `lost`: not answered. False for a repeat, which counts nothing.
   */
  clicked({ offerId, micros }: Link, outcome: 'durable' | 'late' | 'lost', answeredAt: number): boolean {
    if (this.#counted.has(offerId)) return false;
    this.#counted.add(offerId);
    const adds = { views: 0, clicks: 1, attributedMicros: micros };
    this.#open.push({
      adds,
      links: [],
      offerId,
      answeredAt: outcome === 'lost' ? Number.POSITIVE_INFINITY : answeredAt,
    });
    if (outcome === 'durable') this.settleAll();
    return true;
  }

  /** Everything noted so far is known to be in the ledger. */
  settleAll(): void {
    this.#settle(this.#open.length);
  }

  /**
   * Takes what a restarted server says of the session, and forgets what did not survive.
   *
   * @param barrier everything answered before this moment was durable
   * @throws when the figures cannot have come from what was asked and answered
   */
  settle(found: Figures, barrier: number): void {
    const certain = this.#open.findLastIndex(({ answeredAt }) => answeredAt < barrier) + 1;
    let sum = this.#settled;
    const possible: Figures[] = [];
    for (let survivors = 0; survivors <= this.#open.length; survivors++) {
      if (survivors > 0) sum = addFigures(sum, this.#open[survivors - 1]!.adds);
      if (survivors < certain) continue;
      if (sameFigures(sum, found)) {
        this.#settle(survivors);
        return;
      }
      possible.push(sum);
    }
    throw new Error(
      `${this.subId} (tag ${this.tag}) has ${JSON.stringify(found)}, where it may have ${JSON.stringify(possible)}`,
    );
  }

  #settle(survivors: number): void {
    const lost: Link[] = [];
    for (const [index, { adds, links, offerId }] of this.#open.entries()) {
      if (index < survivors) {
        this.#settled = addFigures(this.#settled, adds);
        this.#settledLinks.push(...links);
        for (const link of links) this.#shown.add(link.offerId);
        if (adds.views > 0 && links.length === 0) this.#isShownKnown = false;
      } else {
        lost.push(...links);
        if (offerId !== null) this.#counted.delete(offerId);
      }
    }
    this.#settledLinks = this.#settledLinks.slice(-linksKept);
    this.#lostLink = (this.#isShownKnown && lost.find((link) => !this.#shown.has(link.offerId))) || null;
    this.#open = [];
  }
}

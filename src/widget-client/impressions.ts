import { limits } from './limits.ts';

/**
 * Tells which offers have been seen: half of the card in sight for a second, while the page is in the foreground; each
 * offer once, however often its card is drawn again.
 */
export class Impressions {
  readonly #onSeen: (offerId: string) => void;
  readonly #offers = new Map<Element, string>();
  readonly #timers = new Map<Element, ReturnType<typeof setTimeout>>();
  readonly #inSight = new Set<Element>();
  readonly #seen = new Set<string>();
  readonly #observer = new IntersectionObserver((entries) => this.#look(entries), {
    threshold: limits.impressionShare,
  });

  constructor(onSeen: (offerId: string) => void, ended: AbortSignal) {
    this.#onSeen = onSeen;
    document.addEventListener(
      'visibilitychange',
      () => {
        for (const card of this.#inSight) this.#stop(card);
        if (document.visibilityState === 'visible') for (const card of this.#inSight) this.#start(card);
      },
      { signal: ended },
    );
    ended.addEventListener('abort', () => this.watch(new Map()));
  }

  /** Watches these cards, and no others any more. */
  watch(cards: ReadonlyMap<Element, string>): void {
    this.#observer.disconnect();
    for (const card of this.#inSight) this.#stop(card);
    this.#inSight.clear();
    this.#offers.clear();
    for (const [card, offerId] of cards) {
      if (this.#seen.has(offerId)) continue;
      this.#offers.set(card, offerId);
      this.#observer.observe(card);
    }
  }

  #look(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, intersectionRatio } of entries) {
      this.#stop(target);
      this.#inSight.delete(target);
      if (!isIntersecting || intersectionRatio < limits.impressionShare) continue;
      this.#inSight.add(target);
      if (document.visibilityState === 'visible') this.#start(target);
    }
  }

  #start(card: Element): void {
    this.#timers.set(
      card,
      setTimeout(() => {
        const offerId = this.#offers.get(card);
        this.#observer.unobserve(card);
        this.#inSight.delete(card);
        this.#timers.delete(card);
        if (offerId === undefined || this.#seen.has(offerId)) return;
        this.#seen.add(offerId);
        this.#onSeen(offerId);
      }, limits.impressionMs),
    );
  }

  #stop(card: Element): void {
    clearTimeout(this.#timers.get(card));
    this.#timers.delete(card);
  }
}

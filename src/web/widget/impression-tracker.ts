import * as widgetLimits from './limits.ts';

/** Calls `onSeen` once for each offer, when half of the offer card has been visible for one second. */
export class ImpressionTracker {
  readonly #onSeen: (offerId: string) => void;
  readonly #offerIdByCard = new Map<Element, string>();
  readonly #timers = new Map<Element, ReturnType<typeof setTimeout>>();
  readonly #visibleCards = new Set<Element>();
  readonly #seenOfferIds = new Set<string>();
  readonly #observer = new IntersectionObserver((entries) => this.#onIntersection(entries), {
    threshold: widgetLimits.impressionRatio,
  });

  constructor(onSeen: (offerId: string) => void, ended: AbortSignal) {
    this.#onSeen = onSeen;
    document.addEventListener(
      'visibilitychange',
      () => {
        for (const card of this.#visibleCards) this.#stopTimer(card);
        if (document.visibilityState === 'visible') for (const card of this.#visibleCards) this.#startTimer(card);
      },
      { signal: ended },
    );
    ended.addEventListener('abort', () => this.observeOfferCards(new Map()));
  }

  /** Replaces the observed offer cards with the cards in `cards`, a map from card element to offer ID. */
  observeOfferCards(cards: ReadonlyMap<Element, string>): void {
    this.#observer.disconnect();
    for (const card of this.#visibleCards) this.#stopTimer(card);
    this.#visibleCards.clear();
    this.#offerIdByCard.clear();
    for (const [card, offerId] of cards) {
      if (this.#seenOfferIds.has(offerId)) continue;
      this.#offerIdByCard.set(card, offerId);
      this.#observer.observe(card);
    }
  }

  #onIntersection(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, intersectionRatio } of entries) {
      this.#stopTimer(target);
      this.#visibleCards.delete(target);
      if (!isIntersecting || intersectionRatio < widgetLimits.impressionRatio) continue;
      this.#visibleCards.add(target);
      if (document.visibilityState === 'visible') this.#startTimer(target);
    }
  }

  #startTimer(card: Element): void {
    this.#timers.set(
      card,
      setTimeout(() => {
        const offerId = this.#offerIdByCard.get(card);
        this.#observer.unobserve(card);
        this.#visibleCards.delete(card);
        this.#timers.delete(card);
        if (offerId === undefined || this.#seenOfferIds.has(offerId)) return;
        this.#seenOfferIds.add(offerId);
        this.#onSeen(offerId);
      }, widgetLimits.impressionDurationMs),
    );
  }

  #stopTimer(card: Element): void {
    clearTimeout(this.#timers.get(card));
    this.#timers.delete(card);
  }
}

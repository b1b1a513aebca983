import { complain } from './complain.ts';
import type { Envelope, Offer } from './envelope.ts';
import { EventQueue } from './event-queue.ts';
import { Expiry } from './expiry.ts';
import { Impressions } from './impressions.ts';
import { limits } from './limits.ts';
import { newLoadId } from './load-id.ts';
import { OffersClient } from './offers-client.ts';
import { reportHeight } from './report-height.ts';
import type { Settings } from './settings.ts';
import { type SortOrder, sortLabels } from './sort-orders.ts';
import { wholeDollars } from './text/money.ts';
import { troubleOf } from './text/trouble.ts';
import { offerCard } from './view/offer-card.ts';
import { webAddress } from './view/web-address.ts';
import { WidgetView } from './view/widget-view.ts';

/** What a widget tells the one that had the container before: scripts that run twice share nothing else. */
const takenOver = 'svc-offers-taken-over';

/**
 * One load of the widget in one container, until another takes it. It asks for offers once by itself, and again only when
 * the borrower chooses another order or tries again: a page that comes back from the browser's memory is as it was, and
 * counts no second view.
 *
 *     coming ──> offers <──> reordering        a failed reordering keeps the offers
 *       │  ▲       │
 *       ▼  │       ▼
 *     trouble    trouble (expired)
 */
export class OffersWidget {
  readonly #settings: Settings;
  readonly #client: OffersClient;
  readonly #events: EventQueue;
  readonly #impressions: Impressions;
  readonly #expiry: Expiry;
  readonly #view: WidgetView;
  /** The order asked for last, and the one on view; null while no offers are. */
  #wanted: SortOrder;
  #shown: SortOrder | null = null;
  /** Whether offers are missing for want of a connection. */
  #offline = false;

  constructor(settings: Settings, container: Element) {
    const { base, sub, token, sort } = settings;
    const load = newLoadId();
    const ending = new AbortController();
    container.dispatchEvent(new Event(takenOver));
    container.addEventListener(takenOver, () => ending.abort(), { signal: ending.signal });
    this.#settings = settings;
    this.#wanted = sort;
    this.#client = new OffersClient(settings, load, ending.signal);
    this.#events = new EventQueue(`${base}/events?${new URLSearchParams({ sub, token })}`, load, ending.signal);
    this.#impressions = new Impressions((offerId) => this.#events.report('offer_impression', offerId), ending.signal);
    this.#expiry = new Expiry(() => this.#expire(), ending.signal);
    this.#view = new WidgetView(container, settings, {
      sortChosen: (order) => {
        this.#wanted = order;
        void this.#ask();
      },
      disclosureOpened: () => this.#events.report('disclosure_opened'),
      retried: () => void this.#ask(),
    });
    if (settings.fillsPage) reportHeight(this.#view.frame);
    // Whoever was offline need not press anything.
    addEventListener(
      'online',
      () => {
        if (this.#offline) void this.#ask();
      },
      { signal: ending.signal },
    );
    this.#events.report('widget_loaded');
    void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#offline = false;
    const { maxOffers } = this.#settings;
    if (this.#shown === null) this.#view.showComing(Math.min(maxOffers ?? limits.offersDefault, limits.cardsComingMax));
    else this.#view.showReordering();
    const answer = await this.#client.ask(this.#wanted);
    if (answer === null) return;
    if (answer.ok) {
      this.#showOffers(answer.envelope);
      return;
    }
    this.#events.report('widget_error');
    const { title, advice, retry, forPartner } = troubleOf(answer.code, location.origin);
    if (forPartner !== null) complain(forPartner);
    if (this.#shown !== null && retry) {
      this.#wanted = this.#shown;
      this.#view.keepOffers(this.#shown, 'The order could not be changed. Please try again.');
      return;
    }
    this.#showNone();
    this.#offline = answer.code === 'UNREACHABLE';
    this.#view.showMessage(title, advice, retry ? answer.waitMs : null);
  }

  /** Nobody did anything wrong: the page has stood open for as long as offers hold. */
  #expire(): void {
    this.#showNone();
    const { title, advice } = troubleOf('SUB_ID_EXPIRED', location.origin);
    this.#view.showMessage(title, advice, null);
  }

  #showNone(): void {
    this.#shown = null;
    this.#impressions.watch(new Map());
    this.#expiry.forget();
  }

  #showOffers(envelope: Envelope): void {
    const { offers, total_offers: total, loan_amount: amount, disclosure } = envelope;
    const loan = wholeDollars(amount);
    if (offers.length === 0) {
      this.#showNone();
      this.#view.showMessage(
        'No offers match right now',
        `None of our lenders has an offer of ${loan} for these answers today. A smaller amount may change that; so may checking that every answer is right.`,
        null,
      );
      return;
    }
    const cards = new Map<HTMLElement, string>();
    for (const offer of offers) {
      const card = this.#card(offer, amount);
      if (card !== null) cards.set(card, offer.svc_offer_id);
    }
    this.#shown = this.#wanted;
    const count =
      total > cards.size ? `${cards.size} of ${total} offers` : cards.size === 1 ? '1 offer' : `${cards.size} offers`;
    this.#view.showOffers(
      [...cards.keys()],
      `${count} for ${loan}`,
      `${count} for ${loan}, sorted by: ${sortLabels[this.#wanted]}.`,
      disclosure,
    );
    this.#impressions.watch(cards);
    this.#events.report('offers_rendered');
    this.#expiry.watch(envelope.generated_at, envelope.expires_at);
  }

  /** Null for an offer that leads nowhere. */
  #card(offer: Offer, amount: number): HTMLElement | null {
    const link = webAddress(offer.click_url);
    if (link === null) return null;
    return offerCard(offer, link, amount, this.#view.headings, {
      detailsOpened: (offerId) => this.#events.report('offer_details_opened', offerId),
      clicked: (offerId) => {
        this.#events.report('offer_click', offerId);
        this.#events.flush();
      },
    });
  }
}

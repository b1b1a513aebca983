import { parseWebUrl } from './dom.ts';
import { errorMessageFor } from './error-messages.ts';
import { EventQueue } from './event-queue.ts';
import { ExpiryTimer } from './expiry-timer.ts';
import { formatDollars, formatIfPresent } from './format.ts';
import { reportHeight, reportIntegrationError } from './host-page.ts';
import { ImpressionTracker } from './impression-tracker.ts';
import * as widgetLimits from './limits.ts';
import type { Offer } from './offer.ts';
import { createOfferCard } from './offer-card.ts';
import { type OfferSelection, OffersClient, type OffersResponse } from './offers-client.ts';
import { findProductView } from './products/find-product-view.ts';
import type { ProductView } from './products/product-view.ts';
import type { WidgetSettings } from './settings.ts';
import { createWidgetHost } from './widget-host.ts';
import { startWidgetLoad, type WidgetLoad } from './widget-load.ts';
import { WidgetView } from './widget-view.ts';

/** Name of the DOM event by which a new widget stops the previous widget in the same container. */
const replacedEventName = 'svc-offers-replaced';

/**
 * A widget in one container of the page. The widget fetches offers when it starts, and again only when the borrower changes the sort order,
 * asks for more offers or retries. All requests contain the same load ID, so the server counts at most one view. A new widget in the same container replaces the previous widget. If the browser restores the page from its back-forward
 * cache, the widget does not fetch offers again, so the page does not count as a second view. If a change fails,
 * the widget keeps the shown offers.
 *
 * A widget ends when another widget replaces it, or when the page removes its element: it cancels its request for offers and its timers,
 * sends its pending events, and removes all listeners and observers. If the page inserts the element again, a new widget starts in its
 * place. The states of the widget:
 *
 *     placeholders ──> offers <──> changing
 *         │  ▲            │
 *         ▼  │            ▼
 *       message        message (expired)
 */
export class OffersWidget {
  readonly #settings: WidgetSettings;
  readonly #ended: AbortSignal;
  readonly #load: WidgetLoad;
  readonly #product: ProductView;
  readonly #client: OffersClient;
  readonly #events: EventQueue;
  readonly #impressions: ImpressionTracker;
  readonly #expiry: ExpiryTimer;
  readonly #view: WidgetView;
  /** Selection of the last request for offers. */
  #requested: OfferSelection;
  /** Selection of the shown offers; null while no offers are shown. */
  #shown: OfferSelection | null = null;
  /** Whether the widget shows the error message for an unreachable server. */
  #isOffline = false;

  /** @param previousHost element of an ended widget, in whose place the widget starts; by default, the container is emptied */
  constructor(settings: WidgetSettings, container: Element, previousHost?: Element) {
    const { base, sub, token } = settings;
    const lifetime = new AbortController();
    const { signal } = lifetime;
    container.dispatchEvent(new Event(replacedEventName));
    container.addEventListener(replacedEventName, () => lifetime.abort(), { signal });
    this.#settings = settings;
    this.#ended = signal;
    this.#load = startWidgetLoad(sub, signal);
    this.#product = findProductView(settings.vertical);
    this.#requested = settings;
    this.#client = new OffersClient(settings, this.#load.id, signal);
    this.#events = new EventQueue(`${base}/events?${new URLSearchParams({ sub, token })}`, this.#load, signal);
    this.#impressions = new ImpressionTracker((offerId) => this.#events.enqueue('offer_impression', offerId), signal);
    this.#expiry = new ExpiryTimer(() => this.#showExpiryNotice(), signal);
    const host = createWidgetHost((isConnected) => {
      if (!isConnected) lifetime.abort();
      else if (signal.aborted) new OffersWidget(settings, host.parentElement!, host);
    });
    this.#view = new WidgetView(host, container, this.#product, settings, signal, {
      sortChosen: (sort) => void this.#changeOffers({ ...this.#requested, sort }, 'Sorting…'),
      moreChosen: () => {
        void this.#changeOffers({ ...this.#requested, maxOffers: widgetLimits.offersMax }, 'Finding more offers…');
      },
      disclosureOpened: () => this.#events.enqueue('disclosure_opened'),
      retryPressed: () => void this.#loadOffers(),
    });
    if (previousHost === undefined) container.replaceChildren(host);
    else previousHost.replaceWith(host);
    if (settings.isFramePage) reportHeight(this.#view.frame, signal);
    addEventListener(
      'online',
      () => {
        if (this.#isOffline) void this.#loadOffers();
      },
      { signal },
    );
    if (this.#load.eventCount === 0) this.#events.enqueue('widget_loaded');
    void this.#loadOffers();
  }

  /** @param status what the widget is doing, while the shown offers remain */
  #changeOffers(selection: OfferSelection, status: string): Promise<void> {
    this.#requested = selection;
    return this.#loadOffers(status);
  }

  async #loadOffers(status = ''): Promise<void> {
    if (this.#ended.aborted) return;
    this.#isOffline = false;
    const { maxOffers } = this.#settings;
    if (this.#shown === null)
      this.#view.showPlaceholders(Math.min(maxOffers ?? widgetLimits.offersDefault, widgetLimits.placeholderCardsMax));
    else this.#view.showChangeInProgress(status);
    const result = await this.#client.fetchOffers(this.#requested);
    if (result === null) return;
    if (result.ok) {
      this.#showOffers(result.envelope);
      return;
    }
    this.#events.enqueue('widget_error');
    const { title, advice, canRetry, partnerHint } = errorMessageFor(result.code, location.origin);
    if (partnerHint !== null) reportIntegrationError(partnerHint);
    if (this.#shown !== null && canRetry) {
      this.#view.showChangeFailure(this.#shown.sort, this.#shown.sort === this.#requested.sort);
      this.#requested = this.#shown;
      return;
    }
    this.#clearOffers();
    this.#isOffline = result.code === 'UNREACHABLE';
    this.#view.showMessage(title, advice, canRetry ? result.waitMs : null);
  }

  /** Shows the message for expired offers. Logs nothing, because the widget logs only errors that the partner can fix. */
  #showExpiryNotice(): void {
    this.#clearOffers();
    const { title, advice } = errorMessageFor('SUB_ID_EXPIRED', location.origin);
    this.#view.showMessage(title, advice, null);
  }

  #clearOffers(): void {
    this.#shown = null;
    this.#impressions.observeOfferCards(new Map());
    this.#expiry.stop();
  }

  #showOffers(envelope: OffersResponse): void {
    const { offers, total_offers: total, loan_amount: amount, disclosure } = envelope;
    const product = this.#product;
    const loan = formatIfPresent(amount, formatDollars);
    this.#load.isRendered = true;
    if (offers.length === 0) {
      this.#clearOffers();
      this.#view.showMessage('No offers match right now', product.createNoOffersAdvice(loan), null);
      return;
    }
    const cards = new Map<HTMLElement, string>();
    for (const offer of offers) {
      const card = this.#createCard(offer, amount);
      if (card !== null) cards.set(card, offer.svc_offer_id);
    }
    this.#shown = this.#requested;
    const count =
      total > cards.size ? `${cards.size} of ${total} offers` : cards.size === 1 ? '1 offer' : `${cards.size} offers`;
    const heading = loan === null ? count : `${count} for ${loan}`;
    const order = product.sortOrderLabels[this.#shown.sort];
    this.#view.showOffers([...cards.keys()], heading, `${heading}, sorted by: ${order}.`, disclosure);
    const obtainable = Math.min(total, widgetLimits.offersMax);
    this.#view.setMoreButton(
      offers.length >= obtainable
        ? ''
        : obtainable < total
          ? `Show ${obtainable} of ${total} offers`
          : `Show all ${total} offers`,
    );
    this.#impressions.observeOfferCards(cards);
    this.#events.enqueue('offers_rendered');
    this.#expiry.start(envelope.generated_at, envelope.expires_at);
  }

  /** Creates the card of an offer, or returns null if the click URL of the offer is invalid. */
  #createCard(offer: Offer, amount: number | null): HTMLElement | null {
    const link = parseWebUrl(offer.click_url);
    if (link === null) return null;
    return createOfferCard(offer, link, this.#product, amount, this.#view.partHeading, {
      detailsOpened: (offerId) => this.#events.enqueue('offer_details_opened', offerId),
      clicked: (offerId) => {
        this.#events.enqueue('offer_click', offerId);
        this.#events.flush();
      },
    });
  }
}

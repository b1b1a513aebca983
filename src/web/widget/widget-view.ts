import { createElement } from './dom.ts';
import { createPlaceholderCard } from './offer-card.ts';
import type { ProductView } from './products/product-view.ts';
import type { SortOrder, WidgetSettings } from './settings.ts';
import { createStyleSheets } from './style-sheets.ts';

/**
 * Returns the sort orders that the borrower can select. The sort order `svc_revenue` benefits the partner instead of the borrower, so
 * borrowers can select `svc_revenue` only if the partner chose it as the initial sort order.
 */
function selectableSortOrders({ sortOrderLabels }: ProductView, first: SortOrder): SortOrder[] {
  const orders = Object.keys(sortOrderLabels) as SortOrder[];
  return orders.filter((order) => order !== 'svc_revenue' || order === first);
}

function createSortSelect(
  orders: readonly SortOrder[],
  { sortOrderLabels: labels }: ProductView,
  onChosen: (order: SortOrder) => void,
): HTMLSelectElement {
  const options = orders.map((order) => createElement('option', { value: order }, labels[order] ?? order));
  const select = createElement('select', { id: 'sort' }, ...options);
  select.addEventListener('change', () => {
    const order = orders[select.selectedIndex];
    if (order !== undefined) onChosen(order);
  });
  return select;
}

/** Creates the disclosure above the offers, which explains how offers are chosen and what lenders pay for. */
function createDisclosure(
  orders: readonly SortOrder[],
  product: ProductView,
  catalogText: HTMLElement,
  onOpened: () => void,
): HTMLDetailsElement {
  const paragraph = (text: string) => createElement('p', {}, text);
  const node = createElement(
    'details',
    { class: 'disclosure' },
    createElement('summary', {}, 'How offers are chosen'),
    createElement(
      'div',
      { class: 'disclosure-text' },
      ...product.orderDisclosure.map(paragraph),
      orders.includes('svc_revenue')
        ? paragraph('“Sponsored first” goes by what we expect to be paid for an offer.')
        : null,
      paragraph(product.paymentDisclosure),
      catalogText,
    ),
  );
  node.addEventListener('toggle', () => node.open && onOpened());
  return node;
}

interface ViewEvents {
  readonly sortChosen: (order: SortOrder) => void;
  readonly moreChosen: () => void;
  readonly disclosureOpened: () => void;
  readonly retryPressed: () => void;
}

/**
 * Creates and updates the DOM of the widget inside the host element. Below the title, a body element contains the placeholders, the offers or a message. A shadow
 * tree separates the styles of the widget from the styles of the page. The shadow tree is open, because a closed shadow tree gives no
 * protection and blocks accessibility tools.
 */
export class WidgetView {
  /** Heading element of offers and messages, one level below the title. The title is `h1` in the iframe page and `h2` in other pages. */
  readonly partHeading: 'h2' | 'h3';
  /** Element that contains the whole widget. */
  readonly frame: HTMLElement;
  readonly #events: ViewEvents;
  readonly #title: HTMLElement;
  readonly #offerCount = createElement('p', { class: 'count' });
  readonly #status = createElement('p', { class: 'visually-hidden', role: 'status' });
  readonly #notice = createElement('p', { class: 'notice', role: 'alert' });
  readonly #estimateNote: HTMLElement;
  readonly #product: ProductView;
  readonly #body = createElement('div', { class: 'body' });
  readonly #catalogDisclosure = createElement('p', { hidden: '' });
  readonly #sortSelect: HTMLSelectElement;
  readonly #sortControl: HTMLElement;
  /** Button below the offers that shows more offers. */
  readonly #moreButton = createElement('button', { class: 'go more', type: 'button', hidden: '' });
  /** Timer of the countdown in the retry button. */
  #countdown: ReturnType<typeof setTimeout> | undefined;

  /** @param container element of the page into which the host will be inserted */
  constructor(
    host: Element,
    container: Element,
    product: ProductView,
    settings: WidgetSettings,
    ended: AbortSignal,
    events: ViewEvents,
  ) {
    const { sort, isFramePage } = settings;
    const orders = selectableSortOrders(product, sort);
    this.#events = events;
    this.#product = product;
    this.#estimateNote = createElement('p', { class: 'caveat' }, product.caveat);
    this.partHeading = isFramePage ? 'h2' : 'h3';
    this.#title = createElement(
      isFramePage ? 'h1' : 'h2',
      { class: 'title', id: 'title', tabindex: '-1' },
      product.title,
    );
    this.#sortSelect = createSortSelect(orders, product, events.sortChosen);
    this.#sortSelect.value = sort;
    const label = createElement('label', { for: 'sort' }, 'Sort by');
    this.#sortControl = createElement('div', { class: 'sort' }, label, this.#sortSelect);
    const shadow = host.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = createStyleSheets(settings, container);
    this.frame = createElement(
      'div',
      { class: 'frame' },
      createElement(
        'div',
        { class: 'head' },
        createElement('div', {}, this.#title, this.#offerCount),
        this.#sortControl,
      ),
      createDisclosure(orders, product, this.#catalogDisclosure, events.disclosureOpened),
      this.#estimateNote,
      this.#status,
      this.#notice,
      this.#body,
      this.#moreButton,
    );
    this.#moreButton.addEventListener('click', events.moreChosen);
    const panel = isFramePage ? 'panel fills-page' : 'panel';
    shadow.append(createElement('section', { class: panel, lang: 'en', 'aria-labelledby': 'title' }, this.frame));
    ended.addEventListener('abort', () => clearTimeout(this.#countdown));
  }

  showPlaceholders(cards: number): void {
    this.#setStatusTexts('Finding your offers…', '');
    this.#offerCount.textContent = 'Finding your offers…';
    this.#setOfferControlsVisible(true);
    this.#replaceContent(this.#createOfferCardList(Array.from({ length: cards }, createPlaceholderCard)), true);
  }

  /** Keeps the shown offers while others are loading. */
  showChangeInProgress(status: string): void {
    this.#setStatusTexts(status, '');
    this.#body.setAttribute('aria-busy', 'true');
  }

  showOffers(cards: readonly HTMLElement[], count: string, status: string, disclosure: string): void {
    this.#setStatusTexts(status, '');
    this.#offerCount.textContent = count;
    this.#setOfferControlsVisible(true);
    this.#catalogDisclosure.textContent = disclosure;
    this.#catalogDisclosure.hidden = disclosure === '';
    const shownCount = this.#body.querySelectorAll('.card').length;
    this.#replaceContent(this.#createOfferCardList(cards), false);
    // The visitor continues with the first of the added offers.
    if (this.#focusedElement === this.#moreButton) {
      cards[shownCount]?.querySelector<HTMLElement>('.go')?.focus({ preventScroll: true });
    }
  }

  /** Shows or hides the button that shows more offers. */
  setMoreButton(text: string): void {
    this.#moreButton.textContent = text;
    this.#moreButton.hidden = text === '';
  }

  /** Shows the previous offers and a notice after a change of the sort order, or of the number of offers, failed. */
  showChangeFailure(order: SortOrder, isSameOrder: boolean): void {
    // The visitor sees the notice near the control.
    (isSameOrder ? this.#moreButton : this.#body).before(this.#notice);
    this.#setStatusTexts(
      '',
      `${isSameOrder ? 'More offers could not be loaded' : 'The order could not be changed'}. Please try again.`,
    );
    this.#sortSelect.value = order;
    this.#body.setAttribute('aria-busy', 'false');
  }

  /** Shows a message instead of offers. */
  showMessage(title: string, advice: string, retryAfterMs: number | null): void {
    const button = retryAfterMs === null ? null : this.#createRetryButton(retryAfterMs);
    const message = createElement(
      'div',
      { class: 'message', role: button === null ? null : 'alert' },
      createElement(this.partHeading, { class: 'name' }, title),
      createElement('p', {}, advice),
      button,
    );
    this.#setStatusTexts(button === null ? `${title}. ${advice}` : '', '');
    this.#setOfferControlsVisible(false);
    this.#replaceContent(message, false);
  }

  /** Creates a retry button, which is disabled for `waitMs` and shows a countdown during this time. */
  #createRetryButton(waitMs: number): HTMLButtonElement {
    const button = createElement('button', { class: 'go', type: 'button' });
    button.addEventListener('click', this.#events.retryPressed);
    let seconds = Math.ceil(waitMs / 1_000);
    const updateCountdown = () => {
      button.disabled = seconds > 0;
      button.textContent = seconds > 0 ? `Try again in ${seconds} s` : 'Try again';
      seconds--;
      if (button.disabled) this.#countdown = setTimeout(updateCountdown, 1_000);
    };
    updateCountdown();
    return button;
  }

  /** Shows or hides the parts of the widget that are only needed while offers are shown. */
  #setOfferControlsVisible(shown: boolean): void {
    for (const node of [this.#offerCount, this.#sortControl, this.#estimateNote]) node.hidden = !shown;
    if (!shown) this.#moreButton.hidden = true;
  }

  #setStatusTexts(status: string, notice: string): void {
    this.#status.textContent = status;
    this.#notice.textContent = notice;
  }

  #replaceContent(content: HTMLElement, busy: boolean): void {
    // Moves the focus to the title if the focused element is removed, because browsers would move the focus to the top of the page.
    const focused = this.#focusedElement;
    const losesFocus = focused !== null && (this.#body.contains(focused) || focused.closest('[hidden]') !== null);
    this.#body.replaceChildren(content);
    this.#body.setAttribute('aria-busy', String(busy));
    if (losesFocus) this.#title.focus();
  }

  get #focusedElement(): Element | null {
    return (this.#body.getRootNode() as ShadowRoot).activeElement;
  }

  #createOfferCardList(cards: readonly HTMLElement[]): HTMLElement {
    // Some screen readers ignore a list without markers unless it has the role `list`.
    return createElement('ol', { class: `cards ${this.#product.name}-cards`, role: 'list' }, ...cards);
  }
}

import type { Settings } from '../settings.ts';
import { type SortOrder, sortOrdersFor } from '../sort-orders.ts';
import { Disclosure } from './disclosure.ts';
import { createElement } from './element.ts';
import { Headings } from './headings.ts';
import { createMessage } from './message.ts';
import { createRetryButton } from './retry-button.ts';
import { createPlaceholderCard } from './skeleton-card.ts';
import { SortControl } from './sort-control.ts';
import { createStyleSheets } from './style-sheets.ts';

export interface ViewEvents {
  readonly sortChosen: (order: SortOrder) => void;
  readonly disclosureOpened: () => void;
  readonly retryPressed: () => void;
}

/**
 * What stands in the container: a frame (title, order, disclosure) that stays, and a body that is a skeleton, offers, or a
 * message. It lives in a shadow tree, so that neither the page's styles reach it nor its own the page. The tree is open:
 * a closed one protects nothing, and would shut out the tools people check a page's accessibility with.
 */
export class WidgetView {
  readonly headings: Headings;
  /** All that is shown, without the ground that fills the rest of a page of its own. */
  readonly frame: HTMLElement;
  readonly #events: ViewEvents;
  readonly #title: HTMLElement;
  readonly #count = createElement('p', { class: 'count' });
  readonly #status = createElement('p', { class: 'said', role: 'status' });
  readonly #notice = createElement('p', { class: 'notice', role: 'alert' });
  readonly #estimateNote = createElement(
    'p',
    { class: 'caveat' },
    'Figures are estimates. No credit decision has been made: that is up to the lender.',
  );
  readonly #body = createElement('div', { class: 'body' });
  readonly #sort: SortControl;
  readonly #disclosure: Disclosure;

  constructor(container: Element, { sort, isFramePage, theme }: Settings, events: ViewEvents) {
    const orders = sortOrdersFor(sort);
    this.#events = events;
    this.headings = new Headings(isFramePage);
    this.#title = this.headings.createTitle({ class: 'title', id: 'title', tabindex: '-1' }, 'Your loan offers');
    this.#sort = new SortControl(orders, sort, events.sortChosen);
    this.#disclosure = new Disclosure(orders, events.disclosureOpened);
    const host = createElement('div');
    const shadow = host.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = createStyleSheets(theme);
    this.frame = createElement(
      'div',
      { class: 'frame' },
      createElement('div', { class: 'head' }, createElement('div', {}, this.#title, this.#count), this.#sort.node),
      this.#disclosure.node,
      this.#estimateNote,
      this.#status,
      this.#notice,
      this.#body,
    );
    const panel = isFramePage ? 'panel fills-page' : 'panel';
    shadow.append(createElement('section', { class: panel, lang: 'en', 'aria-labelledby': 'title' }, this.frame));
    container.replaceChildren(host);
  }

  showPlaceholders(cards: number): void {
    this.#setStatusTexts('Finding your offers…', '');
    this.#count.textContent = 'Finding your offers…';
    this.#setFrameVisible(true);
    this.#replaceBody(createCardList(Array.from({ length: cards }, createPlaceholderCard)), true);
  }

  /** The offers on view are about to be replaced. */
  showReordering(): void {
    this.#setStatusTexts('Sorting…', '');
    this.#body.setAttribute('aria-busy', 'true');
  }

  showOffers(cards: readonly HTMLElement[], count: string, status: string, disclosure: string): void {
    this.#setStatusTexts(status, '');
    this.#count.textContent = count;
    this.#setFrameVisible(true);
    this.#disclosure.setCatalogText(disclosure);
    this.#replaceBody(createCardList(cards), false);
  }

  /** Offers stay as they were, in the order they were in. */
  restoreOffers(order: SortOrder, notice: string): void {
    this.#setStatusTexts('', notice);
    this.#sort.setOrder(order);
    this.#body.setAttribute('aria-busy', 'false');
  }

  showMessage(title: string, advice: string, retryAfterMs: number | null): void {
    const button = retryAfterMs === null ? null : createRetryButton(retryAfterMs, this.#events.retryPressed);
    this.#setStatusTexts(button === null ? `${title}. ${advice}` : '', '');
    this.#setFrameVisible(false);
    this.#replaceBody(createMessage(this.headings, title, advice, button), false);
  }

  /** What is about offers says nothing without any. */
  #setFrameVisible(shown: boolean): void {
    for (const node of [this.#count, this.#sort.node, this.#estimateNote]) node.hidden = !shown;
  }

  #setStatusTexts(status: string, notice: string): void {
    this.#status.textContent = status;
    this.#notice.textContent = notice;
  }

  #replaceBody(content: HTMLElement, busy: boolean): void {
    // Whoever had the keyboard on what goes away would find themselves at the top of the page.
    const focused = (this.#body.getRootNode() as ShadowRoot).activeElement;
    const leave = focused !== null && (this.#body.contains(focused) || focused.closest('[hidden]') !== null);
    this.#body.replaceChildren(content);
    this.#body.setAttribute('aria-busy', String(busy));
    if (leave) this.#title.focus();
  }
}

function createCardList(cards: readonly HTMLElement[]): HTMLElement {
  // Without its markers a list is none to some readers, unless it says so.
  return createElement('ol', { class: 'cards', role: 'list' }, ...cards);
}

import type { Settings } from '../settings.ts';
import { type SortOrder, sortOrdersFor } from '../sort-orders.ts';
import { Disclosure } from './disclosure.ts';
import { element } from './element.ts';
import { Headings } from './headings.ts';
import { message } from './message.ts';
import { retryButton } from './retry-button.ts';
import { skeletonCard } from './skeleton-card.ts';
import { SortControl } from './sort-control.ts';
import { styleSheets } from './style-sheets.ts';

export interface ViewEvents {
  readonly sortChosen: (order: SortOrder) => void;
  readonly disclosureOpened: () => void;
  readonly retried: () => void;
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
  readonly #count = element('p', { class: 'count' });
  readonly #status = element('p', { class: 'said', role: 'status' });
  readonly #notice = element('p', { class: 'notice', role: 'alert' });
  readonly #caveat = element(
    'p',
    { class: 'caveat' },
    'Figures are estimates. No credit decision has been made: that is up to the lender.',
  );
  readonly #body = element('div', { class: 'body' });
  readonly #sort: SortControl;
  readonly #disclosure: Disclosure;

  constructor(container: Element, { sort, fillsPage, theme }: Settings, events: ViewEvents) {
    const orders = sortOrdersFor(sort);
    this.#events = events;
    this.headings = new Headings(fillsPage);
    this.#title = this.headings.title({ class: 'title', id: 'title', tabindex: '-1' }, 'Your loan offers');
    this.#sort = new SortControl(orders, sort, events.sortChosen);
    this.#disclosure = new Disclosure(orders, events.disclosureOpened);
    const host = element('div');
    const shadow = host.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = styleSheets(theme);
    this.frame = element(
      'div',
      { class: 'frame' },
      element('div', { class: 'head' }, element('div', {}, this.#title, this.#count), this.#sort.node),
      this.#disclosure.node,
      this.#caveat,
      this.#status,
      this.#notice,
      this.#body,
    );
    const panel = fillsPage ? 'panel fills-page' : 'panel';
    shadow.append(element('section', { class: panel, lang: 'en', 'aria-labelledby': 'title' }, this.frame));
    container.replaceChildren(host);
  }

  showComing(cards: number): void {
    this.#say('Finding your offers…', '');
    this.#count.textContent = 'Finding your offers…';
    this.#showFrame(true);
    this.#put(list(Array.from({ length: cards }, skeletonCard)), true);
  }

  /** The offers on view are about to be replaced. */
  showReordering(): void {
    this.#say('Sorting…', '');
    this.#body.setAttribute('aria-busy', 'true');
  }

  showOffers(cards: readonly HTMLElement[], count: string, status: string, disclosure: string): void {
    this.#say(status, '');
    this.#count.textContent = count;
    this.#showFrame(true);
    this.#disclosure.add(disclosure);
    this.#put(list(cards), false);
  }

  /** Offers stay as they were, in the order they were in. */
  keepOffers(order: SortOrder, notice: string): void {
    this.#say('', notice);
    this.#sort.show(order);
    this.#body.setAttribute('aria-busy', 'false');
  }

  showMessage(title: string, advice: string, retryAfterMs: number | null): void {
    const button = retryAfterMs === null ? null : retryButton(retryAfterMs, this.#events.retried);
    this.#say(button === null ? `${title}. ${advice}` : '', '');
    this.#showFrame(false);
    this.#put(message(this.headings, title, advice, button), false);
  }

  /** What is about offers says nothing without any. */
  #showFrame(shown: boolean): void {
    for (const node of [this.#count, this.#sort.node, this.#caveat]) node.hidden = !shown;
  }

  #say(status: string, notice: string): void {
    this.#status.textContent = status;
    this.#notice.textContent = notice;
  }

  #put(content: HTMLElement, busy: boolean): void {
    // Whoever had the keyboard on what goes away would find themselves at the top of the page.
    const focused = (this.#body.getRootNode() as ShadowRoot).activeElement;
    const leave = focused !== null && (this.#body.contains(focused) || focused.closest('[hidden]') !== null);
    this.#body.replaceChildren(content);
    this.#body.setAttribute('aria-busy', String(busy));
    if (leave) this.#title.focus();
  }
}

function list(cards: readonly HTMLElement[]): HTMLElement {
  // Without its markers a list is none to some readers, unless it says so.
  return element('ol', { class: 'cards', role: 'list' }, ...cards);
}

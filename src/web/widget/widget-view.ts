import { createElement } from './dom.ts';
import { createPlaceholderCard } from './offer-card.ts';
import type { ProductView } from './products/product-view.ts';
import type { SortOrder, WidgetSettings } from './settings.ts';
import card from './styles/card.css';
import controls from './styles/controls.css';
import dark from './styles/dark.css';
import shell from './styles/shell.css';

/**
 * Creates the style sheets of the widget as `CSSStyleSheet` objects, because a Content-Security-Policy of the page may block `<style>`
 * elements and `style` attributes.
 */
function createStyleSheets({ theme, accent }: WidgetSettings): CSSStyleSheet[] {
  const sheets = [createStyleSheet(shell + controls + card)];
  if (theme !== 'light') sheets.push(createStyleSheet(dark, theme === 'dark' ? 'all' : darkMedia()));
  if (accent !== undefined) sheets.push(createStyleSheet(accentStyles(accent)));
  return sheets;
}

/**
 * Returns styles for buttons of a color. Their text is black or white, whichever has more contrast. Links have the color of the text, because
 * the contrast of `accent` and the background is unknown.
 */
function accentStyles(accent: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => (Number.parseInt(accent.slice(at, at + 2), 16) / 255) ** 2.2);
  // Relative luminance (WCAG 2), with the usual approximation of sRGB. At 0.18, black and white have the same contrast,
  // and no color has a contrast below 4.5.
  const text = 0.213 * red! + 0.715 * green! + 0.072 * blue! > 0.18 ? '#000' : '#fff';
  return `.panel{--accent:var(--ink)}.go:not(:disabled){background:${accent};color:${text}}.go:hover{text-decoration:underline}`;
}

/**
 * Returns the media query of the dark styles for the theme `auto`, which follows the page: a dark widget would be a black block on a page that
 * is light for every visitor.
 */
function darkMedia(): string {
  const { backgroundColor, colorScheme } = getComputedStyle(document.body);
  // A component of a dark color has one or two digits. A transparent color has four components.
  if (/^rgb\(\d\d?, \d\d?, \d\d?\)$/.test(backgroundColor)) return 'all';
  return /dark/.test(colorScheme) ? '(prefers-color-scheme: dark)' : 'not all';
}

function createStyleSheet(text: string, media = 'all'): CSSStyleSheet {
  const sheet = new CSSStyleSheet({ media });
  sheet.replaceSync(text);
  return sheet;
}

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

/** Creates the element of a message that is shown instead of offers. */
function createMessage(
  heading: 'h2' | 'h3',
  title: string,
  advice: string,
  button: HTMLButtonElement | null,
): HTMLElement {
  return createElement(
    'div',
    { class: 'message', role: button === null ? null : 'alert' },
    createElement(heading, { class: 'name' }, title),
    createElement('p', {}, advice),
    button,
  );
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
  /** Timer of the countdown in the retry button. */
  #countdown: ReturnType<typeof setTimeout> | undefined;

  constructor(host: Element, product: ProductView, settings: WidgetSettings, ended: AbortSignal, events: ViewEvents) {
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
    shadow.adoptedStyleSheets = createStyleSheets(settings);
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
    );
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

  showReorderInProgress(): void {
    this.#setStatusTexts('Sorting…', '');
    this.#body.setAttribute('aria-busy', 'true');
  }

  showOffers(cards: readonly HTMLElement[], count: string, status: string, disclosure: string): void {
    this.#setStatusTexts(status, '');
    this.#offerCount.textContent = count;
    this.#setOfferControlsVisible(true);
    this.#catalogDisclosure.textContent = disclosure;
    this.#catalogDisclosure.hidden = disclosure === '';
    this.#replaceContent(this.#createOfferCardList(cards), false);
  }

  /** Shows the previous offers and a notice after a change of the sort order failed. */
  showReorderFailure(order: SortOrder, notice: string): void {
    this.#setStatusTexts('', notice);
    this.#sortSelect.value = order;
    this.#body.setAttribute('aria-busy', 'false');
  }

  showMessage(title: string, advice: string, retryAfterMs: number | null): void {
    const button = retryAfterMs === null ? null : this.#createRetryButton(retryAfterMs);
    this.#setStatusTexts(button === null ? `${title}. ${advice}` : '', '');
    this.#setOfferControlsVisible(false);
    this.#replaceContent(createMessage(this.partHeading, title, advice, button), false);
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
  }

  #setStatusTexts(status: string, notice: string): void {
    this.#status.textContent = status;
    this.#notice.textContent = notice;
  }

  #replaceContent(content: HTMLElement, busy: boolean): void {
    // Moves the focus to the title if the focused element is removed, because browsers would move the focus to the top of the page.
    const focused = (this.#body.getRootNode() as ShadowRoot).activeElement;
    const losesFocus = focused !== null && (this.#body.contains(focused) || focused.closest('[hidden]') !== null);
    this.#body.replaceChildren(content);
    this.#body.setAttribute('aria-busy', String(busy));
    if (losesFocus) this.#title.focus();
  }

  #createOfferCardList(cards: readonly HTMLElement[]): HTMLElement {
    // Some screen readers ignore a list without markers unless it has the role `list`.
    return createElement('ol', { class: `cards ${this.#product.name}-cards`, role: 'list' }, ...cards);
  }
}

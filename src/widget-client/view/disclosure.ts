import type { SortOrder } from '../sort-orders.ts';
import { createElement } from './element.ts';

/** How offers are chosen, and who pays whom. It stands above the offers, and is complete before they are there. */
export class Disclosure {
  readonly node: HTMLElement;
  readonly #catalogText = createElement('p', { hidden: '' });

  constructor(orders: readonly SortOrder[], onOpened: () => void) {
    const node = createElement(
      'details',
      { class: 'disclosure' },
      createElement('summary', {}, 'How offers are chosen'),
      createElement(
        'div',
        { class: 'disclosure-text' },
        createElement(
          'p',
          {},
          '“Recommended” puts first what should serve you best. It weighs what a loan costs (APR), how likely the lender is ',
          'to approve you, how well amount and term fit what you asked for, and the star rating, which our editors give. ',
          'What a lender pays us plays no part in it.',
        ),
        createElement('p', {}, '“Lowest APR” and “Highest amount” go by that one figure.'),
        orders.includes('svc_revenue')
          ? createElement('p', {}, '“Sponsored first” goes by what we expect to be paid for an offer.')
          : null,
        createElement(
          'p',
          {},
          'Lenders pay us when you follow an offer, apply, or are funded. We show offers of the lenders we work with; ',
          'there are others.',
        ),
        this.#catalogText,
      ),
    );
    node.addEventListener('toggle', () => node.open && onOpened());
    this.node = node;
  }

  /** The disclosure that came with the offers. */
  setCatalogText(text: string): void {
    this.#catalogText.textContent = text;
    this.#catalogText.hidden = text === '';
  }
}

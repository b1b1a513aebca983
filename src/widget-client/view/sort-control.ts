import { isSortOrder, type SortOrder, sortLabels } from '../sort-orders.ts';
import { createElement } from './element.ts';

/** The order of the offers, as a list to choose from. */
export class SortControl {
  readonly node: HTMLElement;
  readonly #select: HTMLSelectElement;

  constructor(orders: readonly SortOrder[], chosen: SortOrder, onChosen: (order: SortOrder) => void) {
    this.#select = createElement(
      'select',
      { id: 'sort' },
      ...orders.map((order) => createElement('option', { value: order }, sortLabels[order])),
    );
    this.setOrder(chosen);
    this.#select.addEventListener('change', () => {
      if (isSortOrder(this.#select.value)) onChosen(this.#select.value);
    });
    this.node = createElement('div', { class: 'sort' }, createElement('label', { for: 'sort' }, 'Sort by'), this.#select);
  }

  setOrder(order: SortOrder): void {
    this.#select.value = order;
  }
}

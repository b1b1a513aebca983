import { isSortOrder, type SortOrder, sortLabels } from '../sort-orders.ts';
import { element } from './element.ts';

/** The order of the offers, as a list to choose from. */
export class SortControl {
  readonly node: HTMLElement;
  readonly #select: HTMLSelectElement;

  constructor(orders: readonly SortOrder[], chosen: SortOrder, onChosen: (order: SortOrder) => void) {
    this.#select = element(
      'select',
      { id: 'sort' },
      ...orders.map((order) => element('option', { value: order }, sortLabels[order])),
    );
    this.show(chosen);
    this.#select.addEventListener('change', () => {
      if (isSortOrder(this.#select.value)) onChosen(this.#select.value);
    });
    this.node = element('div', { class: 'sort' }, element('label', { for: 'sort' }, 'Sort by'), this.#select);
  }

  show(order: SortOrder): void {
    this.#select.value = order;
  }
}

import { advisorView } from './advisor.ts';
import { creditCardView } from './credit-card.ts';
import { depositView } from './deposit.ts';
import { defaultProductView, loanView } from './loan.ts';
import { mortgageView } from './mortgage.ts';
import type { ProductView } from './product-view.ts';

const viewsByVertical: ReadonlyMap<string, ProductView> = new Map([
  ['personal-loans', loanView],
  ['credit-cards', creditCardView],
  ['mortgage', mortgageView],
  ['banking', depositView],
  ['find-advisor', advisorView],
]);

/**
 * Returns how the widget shows the offers of a vertical. A vertical without a view of its own gets a general view, which shows the members
 * that all offers have.
 *
 * @param vertical path segment of the vertical; personal loans if absent, as in embed code that was issued before there were other verticals
 */
export function findProductView(vertical = 'personal-loans'): ProductView {
  return viewsByVertical.get(vertical) ?? defaultProductView;
}

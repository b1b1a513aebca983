import { creditCardView } from './credit-card.ts';
import { depositView } from './deposit.ts';
import { loanView } from './loan.ts';
import { mortgageView } from './mortgage.ts';
import type { ProductView } from './product-view.ts';

const viewsByVertical: ReadonlyMap<string, ProductView> = new Map([
  ['credit-cards', creditCardView],
  ['mortgage', mortgageView],
  ['banking', depositView],
]);

/**
 * Returns how the widget shows the offers of a vertical. Offers of all other verticals are shown like personal loans, for example in custom
 * verticals, and in embed code that was issued before verticals were part of it.
 *
 * @param vertical path segment of the vertical, such as `credit-cards`; undefined if the embed code has none
 */
export function findProductView(vertical: string | undefined): ProductView {
  return viewsByVertical.get(vertical ?? '') ?? loanView;
}

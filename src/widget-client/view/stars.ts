import { element } from './element.ts';

const most = 5;

/** A star rating, drawn and said. */
export function stars(rating: number): HTMLElement {
  const row = '★'.repeat(most);
  const filled = element('span', { class: 'stars-filled' }, row);
  filled.style.inlineSize = `${(Math.min(Math.max(rating, 0), most) / most) * 100}%`;
  return element(
    'p',
    { class: 'rating' },
    element('span', { class: 'stars', 'aria-hidden': 'true' }, row, filled),
    element('span', {}, `${rating.toFixed(1)} out of ${most}`, element('span', { class: 'said' }, ' stars')),
  );
}

import { createElement } from './element.ts';

const starsMax = 5;

/** A star rating, drawn and said. */
export function createStars(rating: number): HTMLElement {
  const row = '★'.repeat(starsMax);
  const filled = createElement('span', { class: 'stars-filled' }, row);
  filled.style.inlineSize = `${(Math.min(Math.max(rating, 0), starsMax) / starsMax) * 100}%`;
  return createElement(
    'p',
    { class: 'rating' },
    createElement('span', { class: 'stars', 'aria-hidden': 'true' }, row, filled),
    createElement('span', {}, `${rating.toFixed(1)} out of ${starsMax}`, createElement('span', { class: 'said' }, ' stars')),
  );
}

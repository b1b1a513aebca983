import { createElement } from './element.ts';

/** The place of an offer that is still to come, as high as most of them are: what stands below it stays where it is. */
export function createPlaceholderCard(): HTMLElement {
  return createElement(
    'li',
    { class: 'card coming', 'aria-hidden': 'true' },
    createElement('span', { class: 'bone bone-logo' }),
    createElement('span', { class: 'bone bone-figures' }),
    createElement('span', { class: 'bone bone-action' }),
  );
}

import { element } from './element.ts';

/** The place of an offer that is still to come, as high as most of them are: what stands below it stays where it is. */
export function skeletonCard(): HTMLElement {
  return element(
    'li',
    { class: 'card coming', 'aria-hidden': 'true' },
    element('span', { class: 'bone bone-logo' }),
    element('span', { class: 'bone bone-figures' }),
    element('span', { class: 'bone bone-action' }),
  );
}

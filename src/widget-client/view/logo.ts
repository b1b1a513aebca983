import { createElement } from './element.ts';
import { parseWebUrl } from './web-address.ts';

/** A lender's logo in a box that keeps its place; the lender's initial while and where there is no picture. */
export function createLogo(lender: string, address: string): HTMLElement {
  const initial = createElement('span', { 'aria-hidden': 'true' }, lender.charAt(0).toUpperCase());
  const box = createElement('span', { class: 'logo' }, initial);
  const source = parseWebUrl(address);
  if (source === null) return box;
  const picture = createElement('img', { alt: `${lender} logo`, width: '42', height: '42', decoding: 'async' });
  picture.addEventListener('error', () => picture.replaceWith(initial));
  picture.src = source;
  box.replaceChildren(picture);
  return box;
}

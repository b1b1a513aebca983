import { createElement } from './element.ts';
import type { Headings } from './headings.ts';

/** What is said in the place of offers. */
export function createMessage(
  headings: Headings,
  title: string,
  advice: string,
  button: HTMLButtonElement | null,
): HTMLElement {
  return createElement(
    'div',
    { class: 'message', role: button === null ? null : 'alert' },
    headings.createPartHeading({ class: 'name' }, title),
    createElement('p', {}, advice),
    button,
  );
}

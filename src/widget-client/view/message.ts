import { element } from './element.ts';
import type { Headings } from './headings.ts';

/** What is said in the place of offers. */
export function message(
  headings: Headings,
  title: string,
  advice: string,
  button: HTMLButtonElement | null,
): HTMLElement {
  return element(
    'div',
    { class: 'message', role: button === null ? null : 'alert' },
    headings.part({ class: 'name' }, title),
    element('p', {}, advice),
    button,
  );
}

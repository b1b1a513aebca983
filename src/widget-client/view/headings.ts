import { createElement } from './element.ts';

/**
 * Headings in order: within somebody's page the widget is a part of it, and its title is of the second rank; on the page
 * we serve for an iframe there is nothing else.
 */
export class Headings {
  readonly #topLevel: 1 | 2;

  constructor(fillsPage: boolean) {
    this.#topLevel = fillsPage ? 1 : 2;
  }

  createTitle(attributes: Readonly<Record<string, string>>, text: string): HTMLElement {
    return createElement(`h${this.#topLevel}`, attributes, text);
  }

  /** The heading of an offer, or of what is said instead of offers. */
  createPartHeading(attributes: Readonly<Record<string, string>>, text: string): HTMLElement {
    return createElement(this.#topLevel === 1 ? 'h2' : 'h3', attributes, text);
  }
}

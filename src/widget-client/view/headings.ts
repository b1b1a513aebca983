import { element } from './element.ts';

/**
 * Headings in order: within somebody's page the widget is a part of it, and its title is of the second rank; on the page
 * we serve for an iframe there is nothing else.
 */
export class Headings {
  readonly #top: 1 | 2;

  constructor(fillsPage: boolean) {
    this.#top = fillsPage ? 1 : 2;
  }

  title(attributes: Readonly<Record<string, string>>, text: string): HTMLElement {
    return element(`h${this.#top}`, attributes, text);
  }

  /** The heading of an offer, or of what is said instead of offers. */
  part(attributes: Readonly<Record<string, string>>, text: string): HTMLElement {
    return element(this.#top === 1 ? 'h2' : 'h3', attributes, text);
  }
}

/**
 * A new element. Children given as text become text, whatever is in it; null ones are left out, and so are attributes.
 */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | null>> = {},
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** The address where it is one of the web, else null: what else a link can name (`javascript:`, `data:`) has no place here. */
export function parseWebUrl(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    const { protocol, href } = new URL(text);
    return protocol === 'https:' || protocol === 'http:' ? href : null;
  } catch {
    return null;
  }
}

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

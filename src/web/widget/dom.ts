/** Creates an element. Strings become text nodes and never markup; children and attributes that are null are omitted. */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | null>> = {},
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Parses a URL. Returns null for anything except http and https URLs, for example for `javascript:` and `data:` URLs. */
export function parseWebUrl(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    const { protocol, href } = new URL(text);
    return protocol === 'https:' || protocol === 'http:' ? href : null;
  } catch {
    return null;
  }
}

/** Creates headings. The title is a second-level heading on a partner's page, and a first-level heading on the iframe page. */
export class Headings {
  readonly #topLevel: 1 | 2;

  constructor(fillsPage: boolean) {
    this.#topLevel = fillsPage ? 1 : 2;
  }

  createTitle(attributes: Readonly<Record<string, string>>, text: string): HTMLElement {
    return createElement(`h${this.#topLevel}`, attributes, text);
  }

  /** Creates the heading of an offer or message, one level below the title. */
  createPartHeading(attributes: Readonly<Record<string, string>>, text: string): HTMLElement {
    return createElement(this.#topLevel === 1 ? 'h2' : 'h3', attributes, text);
  }
}

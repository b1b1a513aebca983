/** Creates an HTML element. Strings are inserted as text, so they cannot add HTML markup. Omits attributes and children that are null. */
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

/** Parses an http or https URL. Returns null for an invalid URL and for other schemes, such as `javascript:` and `data:`. */
export function parseWebUrl(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    const { protocol, href } = new URL(text);
    return protocol === 'https:' || protocol === 'http:' ? href : null;
  } catch {
    return null;
  }
}

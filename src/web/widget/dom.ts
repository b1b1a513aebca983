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

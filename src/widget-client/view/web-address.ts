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

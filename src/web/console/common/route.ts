/** Place in the console: the part of the address after `#`. */
export interface Route {
  /** Decoded parts of the path, such as `['experiments', 'form-or-quiz']`. */
  readonly segments: readonly string[];
  /** Decoded parameters, such as the filters of the page. */
  readonly query: Readonly<Record<string, string>>;
}

/** Decodes percent-encoding; a malformed text stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parses the fragment of an address, such as `#/experiments/form-or-quiz?group_by=device`. */
export function parseRoute(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  return {
    segments: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Returns the fragment of a place in the console. Leaves out empty parameters. */
export function formatRoute(
  segments: readonly string[],
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const parameters = new URLSearchParams(set).toString();
  return `#/${segments.map(encodeURIComponent).join('/')}${parameters === '' ? '' : `?${parameters}`}`;
}

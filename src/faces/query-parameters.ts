import { type Refusal, refused } from '../domain/outcome.ts';
import { queryEncodingRule } from '../domain/request-rules.ts';

/** The values asked for, undefined where absent; or the refusal of a parameter that is repeated or badly encoded. */
export type QueryParameters<Name extends string> =
  | { readonly ok: true; readonly values: Partial<Record<Name, string>> }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Picks the named parameters out of a raw query string; all others are passed over, whatever they hold. Names and values
 * are form-encoded: `+` is a space, `%2C` a comma.
 *
 * @param others gets the names of all other parameters, where somebody wants them
 */
export function parseQueryParameters<Name extends string>(
  query: string,
  names: readonly Name[],
  others?: string[],
): QueryParameters<Name> {
  const values: Partial<Record<Name, string>> = {};
  const encoded = query.includes('%') || query.includes('+');
  let start = 0;
  let equals = query.indexOf('=');
  while (start < query.length) {
    let end = query.indexOf('&', start);
    if (end < 0) end = query.length;
    // Looked for anew only once it is passed: otherwise a head full of bare names would be searched once for each.
    if (equals >= 0 && equals < start) equals = query.indexOf('=', start);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    const name = encoded
      ? findName(decodeName(query.slice(start, nameEnd)), names)
      : matchName(query, start, nameEnd, names);
    if (name !== undefined) {
      const text = query.slice(nameEnd + 1, end);
      const value = encoded ? decodeComponent(text) : text;
      if (value === null || values[name] !== undefined)
        return refused({ code: 'INVALID_REQUEST', param: name, rule: queryEncodingRule });
      values[name] = value;
    } else if (others !== undefined && nameEnd > start) {
      const text = query.slice(start, nameEnd);
      others.push(decodeComponent(text) ?? text);
    }
    start = end + 1;
  }
  return { ok: true, values };
}

function findName<Name extends string>(text: string, names: readonly Name[]): Name | undefined {
  return matchName(text, 0, text.length, names);
}

/** Compared in place: a string of its own for each name, and its hash, would cost more than all the rest. */
function matchName<Name extends string>(
  query: string,
  start: number,
  end: number,
  names: readonly Name[],
): Name | undefined {
  for (const name of names) if (name.length === end - start && query.startsWith(name, start)) return name;
  return undefined;
}

/**
 * Every name asked for is plain ASCII, so the rest need not come out right, and is never worth an exception: a head has
 * room for ten thousand names with a stray percent sign.
 */
function decodeName(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Null for a percent sign that starts no valid UTF-8. */
function decodeComponent(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

import { queryEncodingAdvice } from './errors.ts';
import { type ApiError, failureOutcome } from './outcome.ts';

/** Result of parsing: the values of the parameters that occur in the query, or the error of a repeated or badly encoded parameter. */
type QueryParameters<Name extends string> =
  | { readonly ok: true; readonly values: Partial<Record<Name, string>> }
  | { readonly ok: false; readonly error: ApiError };

/**
 * Parses the parameters of a raw query string whose names are in `names`, and ignores all other parameters. Names and values are
 * form-encoded: `+` is a space, `%2C` a comma.
 *
 * @param unknownNames optional list to which the names of all other parameters are added
 */
export function parseQueryParameters<Name extends string>(
  query: string,
  names: readonly Name[],
  unknownNames?: string[],
): QueryParameters<Name> {
  const values: Partial<Record<Name, string>> = {};
  const encoded = query.includes('%') || query.includes('+');
  let start = 0;
  let equals = query.indexOf('=');
  while (start < query.length) {
    let end = query.indexOf('&', start);
    if (end < 0) end = query.length;
    // Searches for the next `=` only after the previous `=`, because a search for every name would scan a long query many times.
    if (equals >= 0 && equals < start) equals = query.indexOf('=', start);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    const name = encoded
      ? findName(decodeName(query.slice(start, nameEnd)), names)
      : matchName(query, start, nameEnd, names);
    if (name !== undefined) {
      const text = query.slice(nameEnd + 1, end);
      const value = encoded ? decodeComponent(text) : text;
      if (value === null || values[name] !== undefined)
        return failureOutcome({ code: 'INVALID_REQUEST', param: name, rule: queryEncodingAdvice });
      values[name] = value;
    } else if (unknownNames !== undefined && nameEnd > start) {
      const text = query.slice(start, nameEnd);
      unknownNames.push(decodeComponent(text) ?? text);
    }
    start = end + 1;
  }
  return { ok: true, values };
}

/** Parses decimal digits as an integer from 1 to `max`. Returns null if the text is out of range or not an integer. */
export function parseCount(text: string, max: number): number | null {
  return /^[1-9]\d{0,8}$/.test(text) && Number(text) <= max ? Number(text) : null;
}

function findName<Name extends string>(text: string, names: readonly Name[]): Name | undefined {
  return matchName(text, 0, text.length, names);
}

/**
 * Compares the part of the query from `start` to `end` with each name, and returns the equal name or undefined. For speed, creates no
 * substring of the query.
 */
function matchName<Name extends string>(
  query: string,
  start: number,
  end: number,
  names: readonly Name[],
): Name | undefined {
  for (const name of names) if (name.length === end - start && query.startsWith(name, start)) return name;
  return undefined;
}

/** Decodes percent-encoded ASCII in a parameter name, because all known names are ASCII. Never throws, because exceptions are slow. */
function decodeName(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Decodes a form-encoded name or value. Returns null if the percent encoding is not valid UTF-8. */
function decodeComponent(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** The values asked for, undefined where absent; or the name of a parameter that is repeated or badly encoded (D2). */
export type QueryParameters<Name extends string> =
  | { readonly ok: true; readonly values: Partial<Record<Name, string>> }
  | { readonly ok: false; readonly param: Name };

/**
 * Picks the named parameters out of a raw query string; all others are passed over, whatever they hold. Names and values
 * are form-encoded: `+` is a space, `%2C` a comma.
 */
export function readQueryParameters<Name extends string>(
  query: string,
  names: ReadonlySet<Name>,
): QueryParameters<Name> {
  const values: Partial<Record<Name, string>> = {};
  let start = 0;
  let equals = query.indexOf('=');
  while (start < query.length) {
    let end = query.indexOf('&', start);
    if (end < 0) end = query.length;
    // Looked for anew only once it is passed: otherwise a head full of bare names would be searched once for each.
    if (equals >= 0 && equals < start) equals = query.indexOf('=', start);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    const name = decodeName(query.slice(start, nameEnd)) as Name;
    if (names.has(name)) {
      const value = decode(query.slice(nameEnd + 1, end));
      if (value === null || values[name] !== undefined) return { ok: false, param: name };
      values[name] = value;
    }
    start = end + 1;
  }
  return { ok: true, values };
}

/**
 * Every name asked for is plain ASCII, so the rest need not come out right, and is never worth an exception: a head has
 * room for ten thousand names with a stray percent sign.
 */
function decodeName(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Null for a percent sign that starts no valid UTF-8. Most values need no decoding, and this costs them two searches. */
function decode(text: string): string | null {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

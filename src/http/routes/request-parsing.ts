import { isUtf8 } from 'node:buffer';
import { bounds } from '../../bounds.ts';
import { queryEncodingRule } from '../../domain/errors.ts';
import { invalidRequest, type Outcome, type Refusal, refused, refusedWith } from '../../domain/outcome.ts';
import type { RequestContext } from '../engines/listener.ts';
import { formatHeaders } from '../engines/response-head.ts';

/** What a request body says, by its content type and its bytes (docs/contract.md#request-bodies). */
export function parseJsonBody(isJson: boolean, bytes: Buffer): Outcome<unknown> {
  if (!isJson) return refusedWith('UNSUPPORTED_MEDIA_TYPE');
  // Bytes that are no UTF-8 would be replaced without a word, and the replacement kept.
  if (!isUtf8(bytes)) return invalidRequest('body');
  try {
    return { ok: true, value: JSON.parse(bytes.toString()) };
  } catch {
    return invalidRequest('body');
  }
}

/** `application/json`, with or without parameters. */
export function isJsonMediaType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase() === 'application/json';
}

/** The values asked for, undefined where absent; or the refusal of a parameter that is repeated or badly encoded. */
type QueryParameters<Name extends string> =
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

/**
 * What a header such as `Accept` lists, in lower case, with the weight of each (RFC 9110, 12.4.2). A list longer than any
 * browser sends is passed over whole: taking it apart would cost more than the answer.
 */
export function parseWeightedList(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  if (header.length > bounds.headerListCharactersMax) return weights;
  for (const item of header.split(',')) {
    const [name, ...parameters] = item.split(';');
    weights.set(name!.trim().toLowerCase(), parseWeight(parameters));
  }
  return weights;
}

function parseWeight(parameters: readonly string[]): number {
  for (const text of parameters) {
    const weight = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(text);
    if (weight !== null) return Number(weight[1]);
  }
  return 1;
}

/** Whether an `Accept` header asks for JSON rather than HTML, which is the answer to whoever does not say (docs/contract.md#embed-code). */
export function prefersJson(accept: string): boolean {
  const weights = parseWeightedList(accept);
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? 0);
}

/** Whether a browser makes the request before a person asks for it. Any of the three headers that tell it counts. */
export function isPrefetch(exchange: RequestContext): boolean {
  return (
    isPrefetchPurpose(exchange.header('sec-purpose')) ||
    isPrefetchPurpose(exchange.header('purpose')) ||
    isPrefetchPurpose(exchange.header('x-moz'))
  );
}

/** Whether the value of such a header, empty where there is none, names a fetch ahead. */
export function isPrefetchPurpose(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}

/** For a 503 to such a request, rather than an answer that would count: the browser asks again when the person really does. */
export const retryLaterHeaders = formatHeaders({
  'Cache-Control': 'no-store',
  'Retry-After': String(bounds.retryAfterSeconds),
});

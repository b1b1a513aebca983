import { isUtf8 } from 'node:buffer';
import { bounds } from '../../bounds.ts';
import { failureOutcomeWithCode, invalidRequest, type Outcome } from '../../domain/outcome.ts';
import { isSpeculativePurpose, purposeHeaders } from '../../operations/speculative-request.ts';
import type { RequestContext } from '../engines/listener.ts';
import { formatHeaders } from '../engines/response-head.ts';

/**
 * Parses a request body (docs/contract.md#request-bodies).
 *
 * @param isJson whether the content type is JSON
 */
export function parseJsonBody(isJson: boolean, bytes: Buffer): Outcome<unknown> {
  if (!isJson) return failureOutcomeWithCode('UNSUPPORTED_MEDIA_TYPE');
  // `Buffer.toString` would replace invalid UTF-8 with replacement characters instead of reporting an error.
  if (!isUtf8(bytes)) return invalidRequest('body');
  try {
    return { ok: true, value: JSON.parse(bytes.toString()) };
  } catch {
    return invalidRequest('body');
  }
}

/** Decodes a segment of a path. Returns null if the percent encoding is not valid UTF-8. */
export function decodePathSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Whether a `Content-Type` header is `application/json`, with or without parameters. */
export function isJsonMediaType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase() === 'application/json';
}

/**
 * Parses a request header with a weighted list, such as `Accept`. Returns the items of the list in lower case, with their weights (RFC
 * 9110, 12.4.2), from 0 to 1. Returns an empty map for a very long header, because parsing a long header would be expensive.
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

/** Returns the weight in the parameters of an item: 1 without a weight, and 0 (not acceptable) if the weight is invalid. */
function parseWeight(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => /^\s*q\s*(=|$)/i.test(parameter));
  if (weight === undefined) return 1;
  const [, digits = '0'] = /^\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i.exec(weight) ?? [];
  return Number(digits);
}

/** Whether an `Accept` header prefers JSON to HTML. Returns false if JSON and HTML are equally acceptable (docs/contract.md#embed-code). */
export function prefersJson(accept: string): boolean {
  const weights = parseWeightedList(accept);
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? 0);
}

/**
 * Whether an `Accept` header prefers CSV to JSON. The most specific media range determines the weight of a type (RFC 9110, 12.5.1). Returns
 * false if JSON and CSV are equally acceptable (docs/contract.md#csv).
 */
export function prefersCsv(accept: string): boolean {
  if (accept === '' || accept === '*/*') return false;
  const weights = parseWeightedList(accept);
  const weightOf = (type: string, range: string) => weights.get(type) ?? weights.get(range) ?? weights.get('*/*') ?? 0;
  return weightOf('text/csv', 'text/*') > weightOf('application/json', 'application/*');
}

/** Whether the request is speculative: a browser sends it before a person opens the link, and marks it with one of four headers. */
export function isSpeculative(context: RequestContext): boolean {
  for (const name of purposeHeaders) {
    if (isSpeculativePurpose(context.getRequestHeader(name))) return true;
  }
  return false;
}

/** Headers of the 503 reply to a speculative request. The browser repeats the request when the person opens the link. */
export const headersOfSpeculativeReply = formatHeaders({
  'Cache-Control': 'no-store',
  'Retry-After': String(bounds.retryAfterSeconds),
});

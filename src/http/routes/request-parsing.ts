import { isUtf8 } from 'node:buffer';
import { bounds } from '../../bounds.ts';
import { invalidRequest, type Outcome, refusedWith } from '../../domain/outcome.ts';
import { isPrefetchPurpose } from '../../operations/click-url.ts';
import type { RequestContext } from '../engines/listener.ts';
import { formatHeaders } from '../engines/response-head.ts';

/**
 * Parses a request body (docs/contract.md#request-bodies).
 *
 * @param isJson whether the content type is JSON
 */
export function parseJsonBody(isJson: boolean, bytes: Buffer): Outcome<unknown> {
  if (!isJson) return refusedWith('UNSUPPORTED_MEDIA_TYPE');
  // Decoding would replace invalid UTF-8 without an error, and the replacement characters would be stored.
  if (!isUtf8(bytes)) return invalidRequest('body');
  try {
    return { ok: true, value: JSON.parse(bytes.toString()) };
  } catch {
    return invalidRequest('body');
  }
}

/** Whether a content type is `application/json`, with or without parameters. */
export function isJsonMediaType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase() === 'application/json';
}

/**
 * Parses the items of a header such as `Accept`, in lower case, with their weights (RFC 9110, 12.4.2). Ignores a header longer than any
 * browser sends, because parsing it would cost more than the response.
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

/** Whether an `Accept` header prefers JSON to HTML, the default (docs/contract.md#embed-code). */
export function prefersJson(accept: string): boolean {
  const weights = parseWeightedList(accept);
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? 0);
}

/** Whether the browser sends the request before a person asks for it. Browsers use one of three headers. */
export function isPrefetch(context: RequestContext): boolean {
  return (
    isPrefetchPurpose(context.header('sec-purpose')) ||
    isPrefetchPurpose(context.header('purpose')) ||
    isPrefetchPurpose(context.header('x-moz'))
  );
}

/** Headers of the 503 to a prefetch. A real response would count; the browser sends the request again when the person asks for it. */
export const retryLaterHeaders = formatHeaders({
  'Cache-Control': 'no-store',
  'Retry-After': String(bounds.retryAfterSeconds),
});

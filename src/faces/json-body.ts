import { isUtf8 } from 'node:buffer';
import { invalidRequest, type Outcome, refusedWith } from '../domain/outcome.ts';

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

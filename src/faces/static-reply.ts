import { bounds } from '../bounds.ts';
import { fixedHeaders, type HeaderText, header } from '../http/header-text.ts';
import type { Exchange } from '../http/listener.ts';

/** A file held in memory, as it is sent. */
export interface StaticFile {
  readonly bytes: Uint8Array;
  /** Tells one content from another; hexadecimal digits. */
  readonly hash: string;
  /** Content type and whatever else never changes. */
  readonly headers: HeaderText;
}

const forEver = fixedHeaders({ 'Cache-Control': `public, max-age=${bounds.staticKeptSeconds}, immutable` });
const forAWhile = fixedHeaders({ 'Cache-Control': `public, max-age=${bounds.staticFreshSeconds}` });

/**
 * Sends a file to GET or HEAD, or tells that the caller's copy is still good. An address that names the very content, as ours
 * do with `v`, may be kept for ever; any other is asked for again after a few minutes.
 *
 * @param version what the address names as `v`, if anything
 */
export function sendStatic(
  exchange: Exchange,
  { bytes, hash, headers }: StaticFile,
  version: string | undefined,
): void {
  const etag = `"${hash}"`;
  const all = headers + (version === hash ? forEver : forAWhile) + header('ETag', etag);
  if (isKnown(exchange.header('if-none-match'), etag)) exchange.reply({ status: 304, headers: all, body: '' });
  else exchange.reply({ status: 200, headers: all, body: bytes });
}

function isKnown(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((item) => {
    const tag = item.trim();
    return tag === etag || tag === `W/${etag}` || tag === '*';
  });
}

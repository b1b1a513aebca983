import { bounds } from '../bounds.ts';
import { formatHeaders, type HeaderText, formatHeader } from '../http/header-text.ts';
import type { RequestContext } from '../http/listener.ts';

/** A file held in memory, as it is sent. */
export interface StaticFile {
  readonly bytes: Uint8Array;
  /** Tells one content from another; hexadecimal digits. */
  readonly hash: string;
  /** Its entity tag: another one for each way in which the content is encoded (RFC 9110, 8.8.3). */
  readonly etag: string;
  /** Content type and whatever else never changes. */
  readonly headers: HeaderText;
}

const immutableCacheHeaders = formatHeaders({ 'Cache-Control': `public, max-age=${bounds.immutableMaxAgeSeconds}, immutable` });
const shortCacheHeaders = formatHeaders({ 'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}` });

/**
 * Sends a file to GET or HEAD, or tells that the caller's copy is still good. An address that names the very content, as ours
 * do with `v`, may be kept for ever; any other is asked for again after a few minutes.
 *
 * @param version what the address names as `v`, if anything
 * @param ifNoneMatch the request header, empty when absent
 */
export function sendStaticFile(
  exchange: RequestContext,
  file: StaticFile,
  version: string | undefined,
  ifNoneMatch: string,
): void {
  const { bytes, hash, etag } = file;
  const headers = file.headers + (version === hash ? immutableCacheHeaders : shortCacheHeaders) + formatHeader('ETag', etag);
  if (matchesEtag(ifNoneMatch, etag)) exchange.reply({ status: 304, headers, body: '' });
  else exchange.reply({ status: 200, headers, body: bytes });
}

/** Whether an `If-None-Match` names the entity (RFC 9110, 13.1.2). A list longer than any browser sends names nothing. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || ifNoneMatch.length > bounds.headerListCharactersMax) return false;
  return ifNoneMatch.split(',').some((item) => {
    const tag = item.trim();
    return tag === etag || tag === `W/${etag}` || tag === '*';
  });
}

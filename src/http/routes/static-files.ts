import { bounds } from '../../bounds.ts';
import type { RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { parseQueryParameters, parseWeightedList } from './request-parsing.ts';

/** A file held in memory, as it is sent. */
interface StaticFile {
  readonly bytes: Uint8Array;
  /** Tells one content from another; hexadecimal digits. */
  readonly hash: string;
  /** Its entity tag: another one for each way in which the content is encoded (RFC 9110, 8.8.3). */
  readonly etag: string;
  /** Content type and whatever else never changes. */
  readonly headers: HeaderText;
}

const immutableCacheHeaders = formatHeaders({
  'Cache-Control': `public, max-age=${bounds.immutableMaxAgeSeconds}, immutable`,
});
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
  const headers =
    file.headers + (version === hash ? immutableCacheHeaders : shortCacheHeaders) + formatHeader('ETag', etag);
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

/** A file in every encoding it is sent in. */
export interface CompressedFile {
  /** Tells one content from another; hexadecimal digits. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

/** What a request says of the copy it wants. Read before a file is awaited, when its headers are still there. */
interface FileRequest {
  readonly encodings: ReadonlyMap<string, number>;
  readonly ifNoneMatch: string;
  /** What the address names as `v`, if anything. */
  readonly version: string | undefined;
}

const fileParameters = ['v'] as const;

export function readFileRequest(exchange: RequestContext): FileRequest {
  const query = parseQueryParameters(exchange.query, fileParameters);
  return {
    encodings: parseWeightedList(exchange.header('accept-encoding')),
    ifNoneMatch: exchange.header('if-none-match'),
    version: query.ok ? query.values.v : undefined,
  };
}

/** Has a file sent compressed to whoever takes that; `headers` hold its type, and `Vary` with `Accept-Encoding`. */
export function createFileSender(
  { hash, plain, gzip, brotli }: CompressedFile,
  headers: HeaderText,
): (exchange: RequestContext, asked: FileRequest) => void {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + formatHeader('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // The smallest first.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return (exchange, { encodings, ifNoneMatch, version }) => {
    const [, file] = files.find(([name]) => (encodings.get(name) ?? 0) > 0) ?? [null, unencoded];
    sendStaticFile(exchange, file, version, ifNoneMatch);
  };
}

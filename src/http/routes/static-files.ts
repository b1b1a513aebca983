import { bounds } from '../../bounds.ts';
import type { CompressedFile } from '../../domain/compressed-file.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { parseWeightedList } from './request-parsing.ts';

/** A file in memory, in one encoding. */
interface StaticFile {
  readonly bytes: Uint8Array;
  /** Hash of the unencoded content, in hexadecimal. */
  readonly hash: string;
  /** Entity tag, which differs between the encodings of the same content (RFC 9110, 8.8.3). */
  readonly etag: string;
  readonly headers: HeaderText;
}

const immutableCacheHeaders = formatHeaders({
  'Cache-Control': `public, max-age=${bounds.immutableMaxAgeSeconds}, immutable`,
});
const shortCacheHeaders = formatHeaders({ 'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}` });

/**
 * Replies with a file, or with 304 if the client's copy is current. If `version` is the hash of the file, caches may store the response
 * for a year, otherwise for a few minutes.
 *
 * @param version the query parameter `v`
 * @param ifNoneMatch the request header `If-None-Match`; empty if absent
 */
export function sendStaticFile(
  context: RequestContext,
  file: StaticFile,
  version: string | undefined,
  ifNoneMatch: string,
): void {
  const { bytes, hash, etag } = file;
  const headers =
    file.headers + (version === hash ? immutableCacheHeaders : shortCacheHeaders) + formatHeader('ETag', etag);
  if (matchesEtag(ifNoneMatch, etag)) context.reply({ status: 304, headers, body: '' });
  else context.reply({ status: 200, headers, body: bytes });
}

/** Whether an `If-None-Match` header lists the entity tag (RFC 9110, 13.1.2). Returns false if it is longer than any browser sends. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || ifNoneMatch.length > bounds.headerListCharactersMax) return false;
  return ifNoneMatch.split(',').some((item) => {
    const tag = item.trim();
    return tag === etag || tag === `W/${etag}` || tag === '*';
  });
}

/** The parts of a request that determine encoding and caching. They are read before any await, while the headers are available. */
interface FileRequest {
  readonly encodings: ReadonlyMap<string, number>;
  readonly ifNoneMatch: string;
  /** Value of the query parameter `v`, a content hash. */
  readonly version: string | undefined;
}

const fileParameters = ['v'] as const;

export function readFileRequest(context: RequestContext): FileRequest {
  const query = parseQueryParameters(context.query, fileParameters);
  return {
    encodings: parseWeightedList(context.header('accept-encoding')),
    ifNoneMatch: context.header('if-none-match'),
    version: query.ok ? query.values.v : undefined,
  };
}

/**
 * Returns a function that replies with the file in the smallest encoding that the client accepts.
 *
 * @param headers content type, `Vary: Accept-Encoding` and other headers that never change
 */
export function createFileSender(
  { hash, plain, gzip, brotli }: CompressedFile,
  headers: HeaderText,
): (context: RequestContext, request: FileRequest) => void {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + formatHeader('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // The smallest encoding comes first.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return (context, { encodings, ifNoneMatch, version }) => {
    const [, file] = files.find(([name]) => (encodings.get(name) ?? 0) > 0) ?? [null, unencoded];
    sendStaticFile(context, file, version, ifNoneMatch);
  };
}

import { bounds } from '../../bounds.ts';
import type { Logo } from '../../catalogs/read-logos.ts';
import type { CompressedFile } from '../../domain/compressed-file.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { errorReply } from './replies.ts';
import { parseWeightedList } from './request-parsing.ts';
import { allowOnlyGet, routeIndexOf } from './routing.ts';

/** A file in memory with one content encoding, such as gzip. */
interface StaticFile {
  readonly bytes: Uint8Array;
  /** Hash of the uncompressed content, in hexadecimal. */
  readonly hash: string;
  /** Entity tag (RFC 9110, 8.8.3). Different encodings of the same content have different entity tags. */
  readonly etag: string;
  readonly headers: HeaderText;
}

const immutableCacheHeaders = formatHeaders({
  'Cache-Control': `public, max-age=${bounds.immutableMaxAgeSeconds}, immutable`,
});
const shortCacheHeaders = formatHeaders({ 'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}` });

/**
 * Replies with a file, or with 304 if the client already has the current file. Caches may store the response for a year if `version` is the
 * hash of the file, and for a few minutes if `version` is another text or missing.
 *
 * @param version the query parameter `v`
 * @param ifNoneMatch the request header `If-None-Match`; empty if absent
 */
function sendStaticFile(
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

/** Whether an `If-None-Match` header lists the entity tag (RFC 9110, 13.1.2); false if the header is too long. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || ifNoneMatch.length > bounds.headerListCharactersMax) return false;
  return ifNoneMatch.split(',').some((item) => {
    const tag = item.trim();
    return tag === etag || tag === `W/${etag}` || tag === '*';
  });
}

const fileParameters = ['v'] as const;

/**
 * Reads the request headers and parameters that determine the encoding and caching of a file. Call this function before any `await`,
 * because the request headers are not available later. `version` is the query parameter `v`, the hash of the requested content.
 */
export function parseFileRequest(context: RequestContext) {
  const query = parseQueryParameters(context.query, fileParameters);
  return {
    encodings: parseWeightedList(context.getRequestHeader('accept-encoding')),
    ifNoneMatch: context.getRequestHeader('if-none-match'),
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
): (context: RequestContext, request: ReturnType<typeof parseFileRequest>) => void {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + formatHeader('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // Brotli is first in the list, because Brotli files are smaller than gzip files.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return (context, { encodings, ifNoneMatch, version }) => {
    const [, file] = files.find(([name]) => (encodings.get(name) ?? 0) > 0) ?? [null, unencoded];
    sendStaticFile(context, file, version, ifNoneMatch);
  };
}

/** Description of a file of the API documentation. */
export interface DocsFile {
  readonly path: string;
  readonly kind: 'document' | 'page' | 'script' | 'style';
  readonly file: CompressedFile;
}

const docsRouteIndex = routeIndexOf('reference');
const varyHeaders = { Vary: 'Accept-Encoding' };

const headersByKind: Readonly<Record<DocsFile['kind'], HeaderText>> = {
  // Allows all origins to read the OpenAPI document, so that API editors and viewers on other hosts can load it.
  document: formatHeaders({ 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*', ...varyHeaders }),
  page: formatHeaders({
    'Content-Type': 'text/html; charset=utf-8',
    // `img-src data:` is needed because the style sheet of Swagger UI contains images as data URLs.
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    ...varyHeaders,
  }),
  script: formatHeaders({ 'Content-Type': 'text/javascript; charset=utf-8', ...varyHeaders }),
  style: formatHeaders({ 'Content-Type': 'text/css; charset=utf-8', ...varyHeaders }),
};

/**
 * Creates the handlers of the API documentation, by path. The documentation needs no API key. If the path of a page ends with an additional
 * slash, the reply redirects to the page.
 */
export function docsRoutes(files: readonly DocsFile[]): ReadonlyMap<string, RequestHandler> {
  const pages = files.filter(({ kind }) => kind === 'page');
  return new Map([
    ...files.map((file) => [file.path, docsHandler(fileHandler(file))] as const),
    ...pages.map(({ path }) => [`${path}/`, docsHandler(redirectTo(`../${lastSegment(path)}`))] as const),
    // Redirects from the root, so that the URL of the server leads to the documentation.
    ...pages.slice(0, 1).map(({ path }) => ['/', docsHandler(redirectTo(`.${path}`))] as const),
  ]);
}

function docsHandler(handler: RequestHandler): RequestHandler {
  const read = allowOnlyGet(handler);
  return (context) => {
    context.routeIndex = docsRouteIndex;
    return read(context);
  };
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Creates a handler that redirects to a relative URL. The URL is relative, because a proxy may add a path prefix. */
function redirectTo(relativeUrl: string): RequestHandler {
  const headers = formatHeaders({
    Location: relativeUrl,
    'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}`,
  });
  return (context) => context.reply({ status: 308, headers, body: '' });
}

function fileHandler({ kind, file }: DocsFile): RequestHandler {
  const send = createFileSender(file, headersByKind[kind]);
  return (context) => send(context, parseFileRequest(context));
}

export interface LogoSource {
  /**
   * Returns the logo with this file name and content hash. If no logo has the requested hash, returns the current logo with the requested
   * file name. Returns null for an unknown file name.
   */
  findFile(file: string, hash: string | undefined): Logo | null;
}

/** Path of logo URLs, up to the file name of the logo. */
export const logoPathPrefix = '/cdn/';

const logoParameters = ['v'] as const;
export const logoHeaders = {
  'Content-Type': 'image/svg+xml',
  // Allows every partner page to show logos, even a page that blocks other cross-origin resources.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  // Blocks scripts and external resources if a browser opens an SVG logo as a page.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
} as const;
const logoHeaderText = formatHeaders(logoHeaders);

const logoPathCharactersMax = logoPathPrefix.length + bounds.logoFileNameCharactersMax;

/**
 * Creates the handler of the logo host, `/cdn/<file>?v=<hash>`. The handler finds logos in memory by file name and never reads from disk.
 */
export function logoRoute(logos: LogoSource): RequestHandler {
  return (context) => {
    const { path, query, requestId } = context;
    const file = path.length <= logoPathCharactersMax ? path.slice(logoPathPrefix.length) : '';
    const parameters = parseQueryParameters(query, logoParameters);
    const version = parameters.ok ? parameters.values.v : undefined;
    const logo = logos.findFile(file, version);
    if (logo === null) return context.reply(errorReply({ code: 'NOT_FOUND' }, requestId));
    const { svg: bytes, hash } = logo;
    const staticFile = { bytes, hash, etag: `"${hash}"`, headers: logoHeaderText };
    return allowOnlyGet(() => sendStaticFile(context, staticFile, version, context.getRequestHeader('if-none-match')))(
      context,
    );
  };
}

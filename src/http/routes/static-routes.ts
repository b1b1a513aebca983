import { bounds } from '../../bounds.ts';
import type { Logo } from '../../catalogs/read-logos.ts';
import type { CompressedFile } from '../../domain/compressed-file.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { errorReply } from './replies.ts';
import { parseWeightedList } from './request-parsing.ts';
import { allowOnlyGet, withRoute } from './routing.ts';

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

/** Returns the query parameter `v`, the hash of the requested content; undefined if it is missing or repeated. */
function parseVersion({ query }: RequestContext): string | undefined {
  const parameters = parseQueryParameters(query, ['v']);
  return parameters.ok ? parameters.values.v : undefined;
}

/**
 * Replies with a file, or with 304 if the client already has the current file. Caches may store the response for a year if `version` is the
 * hash of the file, and for a few minutes if `version` is another text or missing.
 */
function sendStaticFile(context: RequestContext, file: StaticFile, version = parseVersion(context)): void {
  const { bytes, hash, etag } = file;
  const headers =
    file.headers + (version === hash ? immutableCacheHeaders : shortCacheHeaders) + formatHeader('ETag', etag);
  const isKnown = matchesEtag(context.getRequestHeader('if-none-match'), etag);
  context.reply({ status: isKnown ? 304 : 200, headers, body: isKnown ? '' : bytes });
}

/** Whether an `If-None-Match` header lists the entity tag (RFC 9110, 13.1.2); false if the header is too long. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || ifNoneMatch.length > bounds.headerListCharactersMax) return false;
  return ifNoneMatch.split(',').some((item) => {
    const tag = item.trim();
    return tag === etag || tag === `W/${etag}` || tag === '*';
  });
}

/**
 * Creates a handler that replies with the file in the smallest encoding that the client accepts.
 *
 * @param headers content type, `Vary: Accept-Encoding` and other headers that never change
 */
export function fileHandler({ hash, plain, gzip, brotli }: CompressedFile, headers: HeaderText): RequestHandler {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + formatHeader('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // Brotli is first in the list, because Brotli files are smaller than gzip files.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return allowOnlyGet((context) => {
    const encodings = parseWeightedList(context.getRequestHeader('accept-encoding'));
    const [, file] = files.find(([name]) => (encodings.get(name) ?? 0) > 0) ?? [null, unencoded];
    sendStaticFile(context, file);
  });
}

/** Description of a file of the API documentation. */
export interface DocsFile {
  readonly path: string;
  readonly kind: 'document' | 'page' | 'script' | 'style';
  readonly file: CompressedFile;
}

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
    ...files.map(
      ({ path, kind, file }) => [path, withRoute('reference', fileHandler(file, headersByKind[kind]))] as const,
    ),
    ...pages.map(({ path }) => [`${path}/`, redirectTo(`..${path.slice(path.lastIndexOf('/'))}`)] as const),
    // Redirects from the root, so that the URL of the server leads to the documentation.
    ...pages.slice(0, 1).map(({ path }) => ['/', redirectTo(`.${path}`)] as const),
  ]);
}

/** Creates a handler that redirects to a relative URL. The URL is relative, because a proxy may add a path prefix. */
export function redirectTo(relativeUrl: string, routeName: 'console' | 'reference' = 'reference'): RequestHandler {
  const headers = formatHeaders({
    Location: relativeUrl,
    'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}`,
  });
  const redirect: RequestHandler = (context) => context.reply({ status: 308, headers, body: '' });
  return withRoute(routeName, allowOnlyGet(redirect));
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
  return withRoute('logo', (context) => {
    const { path, requestId } = context;
    const file = path.length <= logoPathCharactersMax ? path.slice(logoPathPrefix.length) : '';
    const version = parseVersion(context);
    const logo = logos.findFile(file, version);
    if (logo === null) return context.reply(errorReply({ code: 'NOT_FOUND' }, requestId));
    const { svg: bytes, hash } = logo;
    const staticFile = { bytes, hash, etag: `"${hash}"`, headers: logoHeaderText };
    return allowOnlyGet(() => sendStaticFile(context, staticFile, version))(context);
  });
}

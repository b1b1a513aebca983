import { bounds } from '../../bounds.ts';
import { memoizeAsync } from '../../domain/async.ts';
import type { CompressedFile } from '../../domain/compressed-file.ts';
import type { Handler } from '../engines/listener.ts';
import { formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { readOnly } from './methods.ts';
import { routeIndexOf } from './route-names.ts';
import { createFileSender, readFileRequest } from './static-files.ts';

/** A file of the API documentation. */
export interface DocsFile {
  readonly path: string;
  readonly kind: 'document' | 'page' | 'script' | 'style';
  /** Loads the file. Called at the first request, and again only if loading failed. */
  readonly load: () => Promise<CompressedFile>;
}

const docsRouteIndex = routeIndexOf('reference');
const varyHeaders = { Vary: 'Accept-Encoding' };

const headersByKind: Readonly<Record<DocsFile['kind'], HeaderText>> = {
  // Every origin may read the document, so that editors and viewers on other hosts can load it.
  document: formatHeaders({ 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*', ...varyHeaders }),
  page: formatHeaders({
    'Content-Type': 'text/html; charset=utf-8',
    // The style sheet of Swagger UI contains images as data URLs.
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    ...varyHeaders,
  }),
  script: formatHeaders({ 'Content-Type': 'text/javascript; charset=utf-8', ...varyHeaders }),
  style: formatHeaders({ 'Content-Type': 'text/css; charset=utf-8', ...varyHeaders }),
};

/** Creates the handlers of the API documentation by path, which need no key. A page's path with a trailing slash redirects to the page. */
export function docsRoutes(files: readonly DocsFile[]): ReadonlyMap<string, Handler> {
  const pages = files.filter(({ kind }) => kind === 'page');
  return new Map([
    ...files.map((file) => [file.path, docsHandler(fileHandler(file))] as const),
    ...pages.map(({ path }) => [`${path}/`, docsHandler(redirectFromTrailingSlash(path))] as const),
  ]);
}

function docsHandler(handler: Handler): Handler {
  const read = readOnly(handler);
  return (context) => {
    context.routeIndex = docsRouteIndex;
    return read(context);
  };
}

/** Creates a redirect to the path without its trailing slash. The redirect URL is relative, because a proxy may add a path prefix. */
function redirectFromTrailingSlash(path: string): Handler {
  const headers = formatHeaders({
    Location: `../${path.slice(path.lastIndexOf('/') + 1)}`,
    'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}`,
  });
  return (context) => context.reply({ status: 308, headers, body: '' });
}

function fileHandler({ kind, load }: DocsFile): Handler {
  const sender = memoizeAsync(async () => createFileSender(await load(), headersByKind[kind]));
  return async (context) => {
    const request = readFileRequest(context);
    const send = await sender();
    send(context, request);
  };
}

import { bounds } from '../../bounds.ts';
import { memoizeAsync } from '../../domain/async.ts';
import type { Handler } from '../engines/listener.ts';
import { formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { respondToRead } from './replies.ts';
import { routeIndexOf } from './route-names.ts';
import { type CompressedFile, createFileSender, readFileRequest } from './static-files.ts';

/** Something to read about the API. */
export interface DocsFile {
  readonly path: string;
  readonly kind: 'document' | 'page' | 'script' | 'style';
  /** Called when it is first asked for, and not again unless that failed. */
  readonly load: () => Promise<CompressedFile>;
}

const docsRouteIndex = routeIndexOf('reference');
const varyHeaders = { Vary: 'Accept-Encoding' };

const headersByKind: Readonly<Record<DocsFile['kind'], HeaderText>> = {
  // For editors and viewers on other hosts too: there is nothing in it that is not for everybody.
  document: formatHeaders({ 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*', ...varyHeaders }),
  page: formatHeaders({
    'Content-Type': 'text/html; charset=utf-8',
    // Pictures of the renderer stand in its style sheet.
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    ...varyHeaders,
  }),
  script: formatHeaders({ 'Content-Type': 'text/javascript; charset=utf-8', ...varyHeaders }),
  style: formatHeaders({ 'Content-Type': 'text/css; charset=utf-8', ...varyHeaders }),
};

/** The doors of the reference, by their paths. It needs no key. Whoever ends the address of a page with a slash is led to it. */
export function docsRoutes(files: readonly DocsFile[]): ReadonlyMap<string, Handler> {
  const pages = files.filter(({ kind }) => kind === 'page');
  return new Map([
    ...files.map((file) => [file.path, docsFileHandler(file)] as const),
    ...pages.map(({ path }) => [`${path}/`, redirectFromTrailingSlash(path)] as const),
  ]);
}

/** The address is a relative one, since a proxy may have put a path ahead of ours. */
function redirectFromTrailingSlash(path: string): Handler {
  const headers = formatHeaders({
    Location: `../${path.slice(path.lastIndexOf('/') + 1)}`,
    'Cache-Control': `public, max-age=${bounds.staticMaxAgeSeconds}`,
  });
  return (exchange) => {
    exchange.routeIndex = docsRouteIndex;
    return respondToRead(exchange, () => exchange.reply({ status: 308, headers, body: '' }));
  };
}

function docsFileHandler({ kind, load }: DocsFile): Handler {
  const sender = memoizeAsync(async () => createFileSender(await load(), headersByKind[kind]));
  return (exchange) => {
    exchange.routeIndex = docsRouteIndex;
    return respondToRead(exchange, async () => {
      const asked = readFileRequest(exchange);
      const send = await sender();
      send(exchange, asked);
    });
  };
}

import { bounds } from '../bounds.ts';
import { once } from '../domain/once.ts';
import { fixedHeaders, type HeaderText } from '../http/header-text.ts';
import type { Handler } from '../http/listener.ts';
import { answerReading } from './answer-reading.ts';
import { fileAsked, type PackedFile, packedFileSender } from './packed-file.ts';
import { routeOf } from './routes.ts';

/** Something to read about the API. */
export interface ReferenceFile {
  readonly path: string;
  readonly kind: 'document' | 'page' | 'script' | 'style';
  /** Called when it is first asked for, and not again unless that failed. */
  readonly load: () => Promise<PackedFile>;
}

const reference = routeOf('reference');
const always = { Vary: 'Accept-Encoding' };

const headersOf: Readonly<Record<ReferenceFile['kind'], HeaderText>> = {
  // For editors and viewers on other hosts too: there is nothing in it that is not for everybody.
  document: fixedHeaders({ 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*', ...always }),
  page: fixedHeaders({
    'Content-Type': 'text/html; charset=utf-8',
    // Pictures of the renderer stand in its style sheet.
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    ...always,
  }),
  script: fixedHeaders({ 'Content-Type': 'text/javascript; charset=utf-8', ...always }),
  style: fixedHeaders({ 'Content-Type': 'text/css; charset=utf-8', ...always }),
};

/** The doors of the reference, by their paths. It needs no key. Whoever ends the address of a page with a slash is led to it. */
export function referencePages(files: readonly ReferenceFile[]): ReadonlyMap<string, Handler> {
  const pages = files.filter(({ kind }) => kind === 'page');
  return new Map([
    ...files.map((file) => [file.path, referencePage(file)] as const),
    ...pages.map(({ path }) => [`${path}/`, withoutSlash(path)] as const),
  ]);
}

/** The address is a relative one, since a proxy may have put a path ahead of ours. */
function withoutSlash(path: string): Handler {
  const headers = fixedHeaders({
    Location: `../${path.slice(path.lastIndexOf('/') + 1)}`,
    'Cache-Control': `public, max-age=${bounds.staticFreshSeconds}`,
  });
  return (exchange) => {
    exchange.route = reference;
    return answerReading(exchange, () => exchange.reply({ status: 308, headers, body: '' }));
  };
}

function referencePage({ kind, load }: ReferenceFile): Handler {
  const sender = once(async () => packedFileSender(await load(), headersOf[kind]));
  return (exchange) => {
    exchange.route = reference;
    return answerReading(exchange, async () => {
      const asked = fileAsked(exchange);
      const send = await sender();
      send(exchange, asked);
    });
  };
}

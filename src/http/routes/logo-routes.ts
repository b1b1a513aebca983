import { bounds } from '../../bounds.ts';
import type { Logo } from '../../catalogs/logo-cache.ts';
import type { Handler } from '../engines/listener.ts';
import { formatHeaders } from '../engines/response-head.ts';
import { errorReply, respondToRead } from './replies.ts';
import { parseQueryParameters } from './request-parsing.ts';
import { sendStaticFile } from './static-files.ts';

/** What the face asks of whoever holds the logos. */
export interface LogoSource {
  /** The logo of that file name with this hash, or else the one in use by that name; null for a name nobody has. */
  find(file: string, hash: string | undefined): Logo | null;
}

/** Every logo's path begins so; a file name follows. */
export const logoPathPrefix = '/cdn/';

const logoParameters = ['v'] as const;
const logoHeaders = formatHeaders({
  'Content-Type': 'image/svg+xml',
  // Partners' pages show them, also pages that otherwise load nothing from elsewhere unasked.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  // An SVG opened by itself is a document: whatever is in it, nothing of it runs, and nothing is loaded.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
});

/**
 * The door of the image host: `/cdn/<file>?v=<hash>` answers a lender's logo from memory. A path is a name to look up and
 * never a path on disk; what is not spelt as the catalog spells it is not found. Only an address that names the very content
 * may be kept for good.
 */
export function logoRoute(logos: LogoSource): Handler {
  return (exchange) => {
    const { path, query, requestId } = exchange;
    const file = path.length <= logoPathCharactersMax ? path.slice(logoPathPrefix.length) : '';
    const read = parseQueryParameters(query, logoParameters);
    const version = read.ok ? read.values.v : undefined;
    const logo = logos.find(file, version);
    if (logo === null) return exchange.reply(errorReply({ code: 'NOT_FOUND' }, requestId));
    const { svg: bytes, hash } = logo;
    const sent = { bytes, hash, etag: `"${hash}"`, headers: logoHeaders };
    return respondToRead(exchange, () => sendStaticFile(exchange, sent, version, exchange.header('if-none-match')));
  };
}

const logoPathCharactersMax = logoPathPrefix.length + bounds.logoFileNameCharactersMax;

import { bounds } from '../../bounds.ts';
import type { Logo } from '../../catalogs/logo-cache.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Handler } from '../engines/listener.ts';
import { formatHeaders } from '../engines/response-head.ts';
import { readOnly } from './methods.ts';
import { errorReply } from './replies.ts';
import { sendStaticFile } from './static-files.ts';

export interface LogoSource {
  /** Returns the logo with this file name and hash, else the current one with this file name, else null. */
  find(file: string, hash: string | undefined): Logo | null;
}

/** A file name follows. */
export const logoPathPrefix = '/cdn/';

const logoParameters = ['v'] as const;
const logoHeaders = formatHeaders({
  'Content-Type': 'image/svg+xml',
  // Partners' pages show logos, also pages that block other cross-origin resources.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  // An SVG opened by itself is a document. The policy blocks its scripts and everything that it loads.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
});

const logoPathCharactersMax = logoPathPrefix.length + bounds.logoFileNameCharactersMax;

/**
 * Creates the handler of the logo host, `/cdn/<file>?v=<hash>`. The file name is looked up in memory and is never a path on disk.
 */
export function logoRoute(logos: LogoSource): Handler {
  return (context) => {
    const { path, query, requestId } = context;
    const file = path.length <= logoPathCharactersMax ? path.slice(logoPathPrefix.length) : '';
    const parameters = parseQueryParameters(query, logoParameters);
    const version = parameters.ok ? parameters.values.v : undefined;
    const logo = logos.find(file, version);
    if (logo === null) return context.reply(errorReply({ code: 'NOT_FOUND' }, requestId));
    const { svg: bytes, hash } = logo;
    const staticFile = { bytes, hash, etag: `"${hash}"`, headers: logoHeaders };
    return readOnly(() => sendStaticFile(context, staticFile, version, context.header('if-none-match')))(context);
  };
}

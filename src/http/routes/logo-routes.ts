import { bounds } from '../../bounds.ts';
import type { Logo } from '../../catalogs/logo-service.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Handler } from '../engines/listener.ts';
import { formatHeaders } from '../engines/response-head.ts';
import { readOnly } from './methods.ts';
import { errorReply } from './replies.ts';
import { sendStaticFile } from './static-files.ts';

export interface LogoSource {
  /** Returns the logo with this file name and hash. If there is none, returns the current logo with this file name, or null. */
  find(file: string, hash: string | undefined): Logo | null;
}

/** Path prefix of logo URLs. The file name of the logo follows it. */
export const logoPathPrefix = '/cdn/';

const logoParameters = ['v'] as const;
const logoHeaders = formatHeaders({
  'Content-Type': 'image/svg+xml',
  // Every partner page may show logos, even a page that blocks other cross-origin resources.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  // An SVG that is opened by itself is a document. This policy blocks its scripts and all resources that it loads.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
});

const logoPathCharactersMax = logoPathPrefix.length + bounds.logoFileNameCharactersMax;

/**
 * Creates the handler of the logo host, `/cdn/<file>?v=<hash>`. It finds logos in memory by file name and reads no file from disk.
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

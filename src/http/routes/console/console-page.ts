import type { ConsoleName } from '../../../auth/console-logins.ts';
import type { CompressedFile } from '../../../domain/compressed-file.ts';
import type { RequestHandler } from '../../engines/listener.ts';
import { formatHeaders } from '../../engines/response-head.ts';
import { allowOnlyGet, withRoute } from '../routing.ts';
import { fileHandler, redirectTo } from '../static-routes.ts';

/** Path of the page of a console, without the slash at its end. */
export const consolePath = '/console';

const pageHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  // `img-src blob:` is for pictures of plots, which the page creates.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
});
const assetHeaders = { 'Cross-Origin-Resource-Policy': 'same-origin', Vary: 'Accept-Encoding' };
const scriptHeaders = formatHeaders({ 'Content-Type': 'text/javascript; charset=utf-8', ...assetHeaders });
const styleHeaders = formatHeaders({ 'Content-Type': 'text/css; charset=utf-8', ...assetHeaders });

/** Browser program of a console. */
export interface ConsoleFiles {
  readonly script: CompressedFile;
  readonly style: CompressedFile;
}

/**
 * Creates the handlers of the page of a console, its script and its style sheet, by path. All URLs in the page are relative, because a
 * proxy may add a path prefix.
 */
export function consolePageHandlers(console: ConsoleName, files: ConsoleFiles): ReadonlyMap<string, RequestHandler> {
  const scriptName = `${console}.js`;
  const styleName = `${console}.css`;
  const html = consolePageHtml(
    console === 'partner' ? 'Partner console' : 'Operator console',
    `${scriptName}?v=${files.script.hash}`,
    `${styleName}?v=${files.style.hash}`,
  );
  const page = allowOnlyGet((context) => context.reply({ status: 200, headers: pageHeaders, body: html }));
  return new Map([
    [consolePath, redirectTo('./console/', 'console')],
    [`${consolePath}/`, withRoute('console', page)],
    [`${consolePath}/${scriptName}`, withRoute('console', fileHandler(files.script, scriptHeaders))],
    [`${consolePath}/${styleName}`, withRoute('console', fileHandler(files.style, styleHeaders))],
  ]);
}

function consolePageHtml(title: string, scriptUrl: string, styleUrl: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styleUrl}">
<script type="module" src="${scriptUrl}"></script>
</head>
<body>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}

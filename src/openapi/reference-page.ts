import type { Vertical } from '../verticals/vertical.ts';
import { openApiPath, verticalTitle } from './openapi-document.ts';

/** Where the page for people is: the first vertical, and each by its segment. */
export const docsPath = '/docs';

export function docsPathOf({ segment }: Pick<Vertical, 'segment'>): string {
  return `${docsPath}/${segment}`;
}

/** What a page is put together from: addresses below the public one. */
export interface PageAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

/**
 * The page of one vertical, which links to those of the others. Whatever it shows comes from the document, put there by the renderer.
 *
 * @param base path of the public address, without a trailing slash; empty unless that address has one
 */
export function docsPageHtml(
  vertical: Vertical,
  verticals: readonly Vertical[],
  base: string,
  { styles, scripts }: PageAssets,
): string {
  const title = verticalTitle(vertical);
  const links = verticals.map(
    (each) =>
      `<a href="${base}${docsPathOf(each)}"${each === vertical ? ' aria-current="page"' : ''}>${verticalTitle(each)}</a>`,
  );
  const navigation = verticals.length > 1 ? `<nav aria-label="Verticals">${links.join('\n')}</nav>\n` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} marketplace API</title>
<link rel="icon" href="data:,">
${styles.map((path) => `<link rel="stylesheet" href="${base}${path}">`).join('\n')}
</head>
<body>
${navigation}<main id="reference" data-document="${base}${openApiPath(vertical)}"></main>
<noscript>This page needs JavaScript. Without it, read <a href="${base}${openApiPath(vertical)}">the document</a> it shows.</noscript>
${scripts.map((path) => `<script src="${base}${path}"></script>`).join('\n')}
</body>
</html>
`;
}

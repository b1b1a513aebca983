import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { PublicUrls } from '../config/service-settings.ts';
import { memoizeAsync } from '../domain/async.ts';
import { type CompressedFile, contentHash } from '../domain/compressed-file.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { DocsFile } from '../http/routes/static-routes.ts';
import { openApiDocumentPath, openApiText, verticalTitle } from './openapi-document.ts';

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** Brotli quality. At the maximum quality, compressing Swagger UI would take seconds, and make the files only a tenth smaller. */
const brotliQuality = 6;

/** Compresses a file in the thread pool, so that the compression does not block requests. */
async function compressFile(content: string | Uint8Array): Promise<CompressedFile> {
  const plain = typeof content === 'string' ? Buffer.from(content) : content;
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
  // Runs gzip and Brotli one after the other, because ledger writes need the same thread pool.
  return {
    hash: contentHash(plain),
    plain,
    gzip: await gzipAsync(plain),
    brotli: await brotliAsync(plain, { params }),
  };
}

/** Path that shows the documentation page of the first configured vertical. The pages of all verticals are below `/docs/`. */
const docsPath = '/docs';

function docsPathOf({ segment }: Pick<Vertical, 'segment'>): string {
  return `${docsPath}/${segment}`;
}

/**
 * Returns the HTML of the documentation page of one vertical, with links to the pages of the other verticals. On the page, Swagger UI
 * displays the OpenAPI document of the vertical.
 *
 * @param base path of the public URL without a trailing slash; usually empty
 */
function docsPageHtml(
  vertical: Vertical,
  verticals: readonly Vertical[],
  base: string,
  styles: readonly string[],
  scripts: readonly string[],
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
${navigation}<main id="reference" data-document="${base}${openApiDocumentPath(vertical)}"></main>
<noscript>This page needs JavaScript. Without it, read <a href="${base}${openApiDocumentPath(vertical)}">the document</a> it shows.</noscript>
${scripts.map((path) => `<script src="${base}${path}"></script>`).join('\n')}
</body>
</html>
`;
}

const assetSources = [
  { kind: 'style', name: 'swagger-ui.css', source: 'swagger-ui-dist/swagger-ui.css' },
  { kind: 'style', name: 'reference.css', source: './reference.css' },
  { kind: 'script', name: 'swagger-ui.js', source: 'swagger-ui-dist/swagger-ui-bundle.js' },
  { kind: 'script', name: 'reference.js', source: './start-reference.js' },
] as const;

/** Reads and compresses the style sheets and scripts of the documentation pages, once per process. */
export const loadDocsAssets = memoizeAsync(async (): Promise<readonly DocsFile[]> => {
  const assets: DocsFile[] = [];
  for (const { kind, name, source } of assetSources) {
    const file = await compressFile(await readFile(new URL(import.meta.resolve(source))));
    assets.push({ path: `${docsPath}/${name}`, kind, file });
  }
  return assets;
});

/** Returns the files of the API documentation: OpenAPI documents, pages and assets. */
export async function prepareDocsFiles(
  withProducts: readonly VerticalWithProduct[],
  urls: PublicUrls,
): Promise<readonly DocsFile[]> {
  const verticals = withProducts.map(({ vertical }) => vertical);
  const assets = await loadDocsAssets();
  const base = new URL(urls.public).pathname.replace(/\/$/, '');
  /** Returns the URL paths of all assets of a kind. Each path has a query parameter `v` with the hash of the asset's content. */
  const pathsOf = (kind: DocsFile['kind']) =>
    assets.filter((each) => each.kind === kind).map(({ path, file }) => `${path}?v=${file.hash}`);
  const page = async (path: string, vertical: Vertical): Promise<DocsFile> => ({
    path,
    kind: 'page',
    file: await compressFile(docsPageHtml(vertical, verticals, base, pathsOf('style'), pathsOf('script'))),
  });
  const files = [...assets, await page(docsPath, verticals[0]!)];
  for (const { vertical, product } of withProducts) {
    const document = await compressFile(openApiText({ vertical, product }, urls));
    files.push({ path: openApiDocumentPath(vertical), kind: 'document', file: document });
    files.push(await page(docsPathOf(vertical), vertical));
  }
  return files;
}

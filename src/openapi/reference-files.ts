import { readFile } from 'node:fs/promises';
import type { PublicUrls } from '../config/config.ts';
import { memoizeAsync } from '../domain/once.ts';
import type { CompressedFile } from '../faces/packed-file.ts';
import type { DocsFile } from '../faces/reference-face.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { openApiPath, openApiText } from './openapi-document.ts';
import { compressFile } from './pack-file.ts';
import { docsPageHtml, docsPath, docsPathOf } from './reference-page.ts';

/** A file of the page, read from where it was installed. */
interface DocsAsset {
  readonly path: string;
  readonly kind: 'script' | 'style';
  readonly load: () => Promise<CompressedFile>;
}

function docsAsset(kind: DocsAsset['kind'], name: string, place: string): DocsAsset {
  const load = memoizeAsync(async () => compressFile(await readFile(new URL(import.meta.resolve(place)))));
  return { path: `${docsPath}/${name}`, kind, load };
}

/**
 * All there is to read about the API of these verticals: their documents, and the page for people with what it is made of. Nothing of
 * it is made, read or kept before somebody asks.
 */
export function docsFiles(verticals: readonly Vertical[], urls: PublicUrls): readonly DocsFile[] {
  const parts = [
    docsAsset('style', 'swagger-ui.css', 'swagger-ui-dist/swagger-ui.css'),
    docsAsset('style', 'reference.css', './reference.css'),
    docsAsset('script', 'swagger-ui.js', 'swagger-ui-dist/swagger-ui-bundle.js'),
    docsAsset('script', 'reference.js', './start-reference.js'),
  ];
  const base = new URL(urls.public).pathname.replace(/\/$/, '');
  /** The addresses of the parts name their content. */
  const pathsOf = (kind: DocsAsset['kind']) =>
    Promise.all(
      parts.filter((each) => each.kind === kind).map(async ({ path, load }) => `${path}?v=${(await load()).hash}`),
    );
  const pageOf = (vertical: Vertical) => async () =>
    compressFile(
      docsPageHtml(vertical, verticals, base, { styles: await pathsOf('style'), scripts: await pathsOf('script') }),
    );
  const pages = verticals.map((vertical) => ({ vertical, path: docsPathOf(vertical) }));
  return [
    ...verticals.map(
      (vertical): DocsFile => ({
        path: openApiPath(vertical),
        kind: 'document',
        load: async () => compressFile(openApiText(vertical, urls)),
      }),
    ),
    ...[{ vertical: verticals[0]!, path: docsPath }, ...pages].map(
      ({ vertical, path }): DocsFile => ({ path, kind: 'page', load: pageOf(vertical) }),
    ),
    ...parts,
  ];
}

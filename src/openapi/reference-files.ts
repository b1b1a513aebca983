import { readFile } from 'node:fs/promises';
import type { PublicUrls } from '../config/config.ts';
import { once } from '../domain/once.ts';
import type { PackedFile } from '../faces/packed-file.ts';
import type { ReferenceFile } from '../faces/reference-face.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { openApiPath, openApiText } from './openapi-document.ts';
import { packFile } from './pack-file.ts';
import { referencePage, referencePath, referencePathOf } from './reference-page.ts';

/** A file of the page, read from where it was installed. */
interface Part {
  readonly path: string;
  readonly kind: 'script' | 'style';
  readonly load: () => Promise<PackedFile>;
}

function part(kind: Part['kind'], name: string, place: string): Part {
  const load = once(async () => packFile(await readFile(new URL(import.meta.resolve(place)))));
  return { path: `${referencePath}/${name}`, kind, load };
}

/**
 * All there is to read about the API of these verticals: their documents, and the page for people with what it is made of. Nothing of
 * it is made, read or kept before somebody asks.
 */
export function referenceFiles(verticals: readonly Vertical[], urls: PublicUrls): readonly ReferenceFile[] {
  const parts = [
    part('style', 'swagger-ui.css', 'swagger-ui-dist/swagger-ui.css'),
    part('style', 'reference.css', './reference.css'),
    part('script', 'swagger-ui.js', 'swagger-ui-dist/swagger-ui-bundle.js'),
    part('script', 'reference.js', './start-reference.js'),
  ];
  const base = new URL(urls.public).pathname.replace(/\/$/, '');
  /** The addresses of the parts name their content. */
  const pathsOf = (kind: Part['kind']) =>
    Promise.all(
      parts.filter((each) => each.kind === kind).map(async ({ path, load }) => `${path}?v=${(await load()).hash}`),
    );
  const pageOf = (vertical: Vertical) => async () =>
    packFile(
      referencePage(vertical, verticals, base, { styles: await pathsOf('style'), scripts: await pathsOf('script') }),
    );
  const pages = verticals.map((vertical) => ({ vertical, path: referencePathOf(vertical) }));
  return [
    ...verticals.map(
      (vertical): ReferenceFile => ({
        path: openApiPath(vertical),
        kind: 'document',
        load: async () => packFile(openApiText(vertical, urls)),
      }),
    ),
    ...[{ vertical: verticals[0]!, path: referencePath }, ...pages].map(
      ({ vertical, path }): ReferenceFile => ({ path, kind: 'page', load: pageOf(vertical) }),
    ),
    ...parts,
  ];
}

import { fileURLToPath } from 'node:url';
import type { CatalogSource } from '../catalogs/catalog-store.ts';
import { servedVerticals } from './registry.ts';
import type { Vertical } from './vertical.ts';

/** Path of the vertical's example offers by fictional lenders, which are served unless SVC_CATALOG names another file. */
export function exampleCatalogFile({ segment }: Vertical): string {
  return verticalFile(segment, 'example-catalog.json');
}

/** The catalogs served by default: for each vertical its example offers to live keys, its sandbox offers to test keys. */
export function exampleCatalogs(): CatalogSource[] {
  return servedVerticals.flatMap((vertical) => catalogsWithSandbox(vertical, exampleCatalogFile(vertical)));
}

/** Serves the offers of `liveFile` to live keys of the vertical, and its sandbox offers to test keys. */
export function catalogsWithSandbox(vertical: Vertical, liveFile: string): CatalogSource[] {
  return [
    { vertical, mode: 'live', file: liveFile },
    { vertical, mode: 'test', file: verticalFile(vertical.segment, 'sandbox-catalog.json') },
  ];
}

/** A vertical's folder has the name of its path segment. */
function verticalFile(segment: string, name: string): string {
  return fileURLToPath(new URL(`./${segment}/${name}`, import.meta.url));
}

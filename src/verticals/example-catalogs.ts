import { fileURLToPath } from 'node:url';
import type { CatalogSource } from '../catalogs/catalog-store.ts';
import { servedVerticals } from './registry.ts';
import type { Vertical } from './vertical.ts';

/** Path of the vertical's example catalog with fictional lenders. It is served unless SVC_CATALOG names another file. */
export function exampleCatalogFile({ segment }: Vertical): string {
  return verticalFile(segment, 'example-catalog.json');
}

/** Catalogs that are served by default: the example offers of each vertical to live keys, its sandbox offers to test keys. */
export function exampleCatalogs(): CatalogSource[] {
  return servedVerticals.flatMap((vertical) => catalogsWithSandbox(vertical, exampleCatalogFile(vertical)));
}

/** Returns the sources that serve the offers of `liveFile` to live keys of the vertical, and its sandbox offers to test keys. */
export function catalogsWithSandbox(vertical: Vertical, liveFile: string): CatalogSource[] {
  return [
    { vertical, mode: 'live', file: liveFile },
    { vertical, mode: 'test', file: verticalFile(vertical.segment, 'sandbox-catalog.json') },
  ];
}

/** Returns the path of a file in the vertical's folder, which has the name of the vertical's path segment. */
function verticalFile(segment: string, name: string): string {
  return fileURLToPath(new URL(`./${segment}/${name}`, import.meta.url));
}

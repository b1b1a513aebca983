import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogFile } from './catalog-schema.ts';

/** Reads an archived catalog without the checks of `CatalogArchive.loadCatalog`. Throws an error if the file is missing or is not JSON. */
export function readArchivedCatalog(
  folder: string,
  version: string,
): { readonly vertical: string; readonly mode: string; readonly catalog: CatalogFile } {
  return JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8'));
}

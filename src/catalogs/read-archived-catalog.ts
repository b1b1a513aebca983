import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogFile } from './catalog-schema.ts';

/** Reads an archived catalog without the checks of `CatalogArchive.loadCatalog`. Throws an Error if the file is missing or is not JSON. */
export function readArchivedCatalog(
  folder: string,
  version: string,
): { readonly vertical: string; readonly mode: string; readonly catalog: CatalogFile } {
  const text = readFileSync(join(folder, `${version}.json`), 'utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`archived catalog ${version} is damaged: it is not JSON`, { cause });
  }
}

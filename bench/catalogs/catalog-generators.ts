import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { type GenerateCatalogOptions, generateCatalog } from './generate-catalog.ts';
import { generateMortgageCatalog } from './generate-mortgage-catalog.ts';

/** Functions that generate random valid catalogs, by the segment of the vertical. */
export const catalogGenerators: Readonly<Record<string, (options: GenerateCatalogOptions) => CatalogFile>> = {
  'personal-loans': generateCatalog,
  mortgage: generateMortgageCatalog,
};

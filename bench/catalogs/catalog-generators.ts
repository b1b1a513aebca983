import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { generateBankingCatalog } from './generate-banking-catalog.ts';
import { type GenerateCatalogOptions, generateCatalog } from './generate-catalog.ts';
import { generateCreditCardsCatalog } from './generate-credit-cards-catalog.ts';
import { generateFindAdvisorCatalog } from './generate-find-advisor-catalog.ts';
import { generateMortgageCatalog } from './generate-mortgage-catalog.ts';

/** Functions that generate random valid catalogs, by the URL path segment of the vertical. */
export const catalogGenerators: Readonly<Record<string, (options: GenerateCatalogOptions) => CatalogFile>> = {
  'personal-loans': generateCatalog,
  'credit-cards': generateCreditCardsCatalog,
  banking: generateBankingCatalog,
  mortgage: generateMortgageCatalog,
  'find-advisor': generateFindAdvisorCatalog,
};

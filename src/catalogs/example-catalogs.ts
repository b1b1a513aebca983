import { fileURLToPath } from 'node:url';
import { personalLoans } from '../verticals/personal-loans/personal-loans.ts';
import type { CatalogSource } from './catalog-store.ts';

/** The catalog that is served unless SVC_CATALOG names another. */
export const exampleCatalogFile = catalogFile('personal-loans.json');

/**
 * What a service serves unless told otherwise: personal loans, with the offers of `liveFile` or the example's fictional
 * lenders, and the sandbox offers, which are the same every time.
 */
export function examplePersonalLoanCatalogs(liveFile: string = exampleCatalogFile): CatalogSource[] {
  return [
    { vertical: personalLoans, mode: 'live', file: liveFile },
    { vertical: personalLoans, mode: 'test', file: catalogFile('personal-loans-sandbox.json') },
  ];
}

function catalogFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

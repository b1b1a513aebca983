import { fileURLToPath } from 'node:url';
import type { CatalogSource } from '../offers/catalog-library.ts';
import { personalLoans } from '../verticals/personal-loans.ts';

/**
 * What a service serves unless told otherwise: personal loans, with the offers of `liveFile` or the example's fictional
 * lenders, and the sandbox offers, which are the same every time.
 */
export function personalLoanCatalogs(liveFile: string = fileOf('personal-loans.json')): CatalogSource[] {
  return [
    { vertical: personalLoans, mode: 'live', file: liveFile },
    { vertical: personalLoans, mode: 'test', file: fileOf('personal-loans-sandbox.json') },
  ];
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

import { readFileSync } from 'node:fs';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { exampleCatalogFile } from '../../src/verticals/registry.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';

/** Returns the payout of an offer in the example catalog of a vertical, in USD. */
export function readExamplePayoutUsd(vertical: Vertical, offerId: string): number {
  const { lenders } = JSON.parse(readFileSync(exampleCatalogFile(vertical), 'utf8')) as CatalogFile;
  return lenders.flatMap(({ offers }) => offers).find(({ id }) => id === offerId)!.payout_usd;
}

import { readFileSync } from 'node:fs';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

/** Returns the payout of an offer in the example catalog of a vertical, in USD. */
export function readExamplePayoutUsd(vertical: Vertical, offerId: string): number {
  const { lenders } = JSON.parse(readFileSync(builtInVerticals.exampleCatalogFile(vertical), 'utf8')) as CatalogFile;
  return lenders.flatMap(({ offers }) => offers).find(({ id }) => id === offerId)!.payout_usd;
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

/** Reads the example catalog or the sandbox catalog of a vertical. */
export function readBuiltInCatalog<Catalog>(vertical: Vertical, kind: 'example' | 'sandbox'): Catalog {
  const file = builtInVerticals.exampleCatalogFile(vertical).replace('example-catalog', `${kind}-catalog`);
  const parsed = parseCatalog(readFileSync(file, 'utf8'), builtInVerticals.withProduct(vertical));
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.errors.join('\n'));
  return parsed.catalog as Catalog;
}

export function listOffers<Offer>({ lenders }: { readonly lenders: readonly { readonly offers: Offer[] }[] }): Offer[] {
  return lenders.flatMap(({ offers }) => offers);
}

import { fileURLToPath } from 'node:url';
import type { CatalogSource } from '../catalogs/catalog-store.ts';
import { personalLoans } from './personal-loans/personal-loans.ts';
import type { Vertical } from './vertical.ts';

/** Verticals that this service serves. Each has a folder beside this file. */
export const servedVerticals: readonly Vertical[] = [personalLoans];

/** Properties of a vertical that API keys need, whether or not the vertical is served (docs/contract.md#verticals). */
export interface KnownVertical {
  /** Number of the vertical, as in `Vertical`. Never reused or changed. */
  readonly number: number;
  readonly segment: string;
  readonly keyPrefix: string;
  readonly status: 'stable' | 'beta' | 'planned';
}

/**
 * All verticals of docs/contract.md#verticals. The command line also issues keys for a vertical that is not served yet. Requests with
 * such a key return 404 on the routes of the key's own vertical and 403 on the routes of another vertical.
 */
export const knownVerticals: readonly KnownVertical[] = [
  ...servedVerticals,
  { number: 2, segment: 'credit-cards', keyPrefix: 'svc_cc_', status: 'beta' },
  { number: 3, segment: 'mortgage', keyPrefix: 'svc_mo_', status: 'beta' },
  { number: 4, segment: 'banking', keyPrefix: 'svc_bk_', status: 'beta' },
  { number: 5, segment: 'find-advisor', keyPrefix: 'svc_fa_', status: 'planned' },
];

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

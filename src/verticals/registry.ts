import { fileURLToPath } from 'node:url';
import type { CatalogSource } from '../catalogs/catalog-store.ts';
import { personalLoans } from './personal-loans/personal-loans.ts';
import type { Vertical } from './vertical.ts';

/** Verticals that this service serves. Each vertical has a folder in `src/verticals`. */
export const servedVerticals: readonly Vertical[] = [personalLoans];

/** Properties that are needed to issue API keys for a vertical, even if the vertical is not served (docs/contract.md#verticals). */
export interface KnownVertical {
  /** Numeric ID of the vertical (see `Vertical`). The number of a vertical must never change or be reused. */
  readonly number: number;
  readonly segment: string;
  readonly keyPrefix: string;
  readonly status: 'stable' | 'beta' | 'planned';
}

/**
 * All verticals of docs/contract.md#verticals. The command line can issue keys for a vertical that is not served yet. A request with the
 * API key of an unserved vertical returns 404 on the routes of that vertical, and 403 on the routes of every other vertical.
 */
export const knownVerticals: readonly KnownVertical[] = [
  ...servedVerticals,
  { number: 2, segment: 'credit-cards', keyPrefix: 'svc_cc_', status: 'beta' },
  { number: 3, segment: 'mortgage', keyPrefix: 'svc_mo_', status: 'beta' },
  { number: 4, segment: 'banking', keyPrefix: 'svc_bk_', status: 'beta' },
  { number: 5, segment: 'find-advisor', keyPrefix: 'svc_fa_', status: 'planned' },
];

/** Path of the vertical's example catalog with fictional lenders. The example catalog is the default for SVC_CATALOG. */
export function exampleCatalogFile({ segment }: Vertical): string {
  return verticalFile(segment, 'example-catalog.json');
}

/** Returns the default catalogs: for each vertical, the example catalog for live keys and the sandbox catalog for test keys. */
export function exampleCatalogs(): CatalogSource[] {
  return servedVerticals.flatMap((vertical) => createCatalogSources(vertical, exampleCatalogFile(vertical)));
}

/** Returns the two catalog sources of a vertical: `liveFile` for live API keys, and the sandbox catalog for test API keys. */
export function createCatalogSources(vertical: Vertical, liveFile: string): CatalogSource[] {
  return [
    { vertical, mode: 'live', file: liveFile },
    { vertical, mode: 'test', file: verticalFile(vertical.segment, 'sandbox-catalog.json') },
  ];
}

/** Returns the path of the file `name` in a vertical's folder. The folder has the same name as the vertical's `segment`. */
function verticalFile(segment: string, name: string): string {
  return fileURLToPath(new URL(`./${segment}/${name}`, import.meta.url));
}

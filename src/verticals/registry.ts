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

import { personalLoans } from './personal-loans/personal-loans.ts';
import type { Vertical } from './vertical.ts';

/** The verticals with a folder here: their routes exist. */
export const servedVerticals: readonly Vertical[] = [personalLoans];

/** What a key names of its vertical, served or not (docs/contract.md#verticals). */
export interface KnownVertical {
  /** As in `Vertical`: never reused or renumbered. */
  readonly number: number;
  readonly segment: string;
  readonly keyPrefix: string;
  readonly status: 'stable' | 'beta' | 'planned';
}

/**
 * All verticals of docs/contract.md#verticals. The command line also issues keys for a vertical that is not served yet: requests with
 * such a key get 404 on the routes of its own vertical and 403 on those of another.
 */
export const knownVerticals: readonly KnownVertical[] = [
  ...servedVerticals,
  { number: 2, segment: 'credit-cards', keyPrefix: 'svc_cc_', status: 'beta' },
  { number: 3, segment: 'mortgage', keyPrefix: 'svc_mo_', status: 'beta' },
  { number: 4, segment: 'banking', keyPrefix: 'svc_bk_', status: 'beta' },
  { number: 5, segment: 'find-advisor', keyPrefix: 'svc_fa_', status: 'planned' },
];

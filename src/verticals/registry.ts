import { personalLoans } from './personal-loans/personal-loans.ts';
import type { Vertical } from './vertical.ts';

/** The verticals there are offers for. */
export const servedVerticals: readonly Vertical[] = [personalLoans];

/** What is needed to issue a key for a vertical, served or not (docs/contract.md#verticals). */
export interface KnownVertical {
  /** As in `Vertical`: never reused or renumbered. */
  readonly number: number;
  readonly segment: string;
  readonly keyPrefix: string;
  readonly status: 'stable' | 'beta' | 'planned';
}

/**
 * The verticals of docs/contract.md#verticals. The command line, which may be ahead of the server, can issue a key for one that is not
 * served yet: its own routes are unknown (404), and on any other vertical it is a valid key in the wrong place (403).
 */
export const knownVerticals: readonly KnownVertical[] = [
  {
    number: personalLoans.number,
    segment: personalLoans.segment,
    keyPrefix: personalLoans.keyPrefix,
    status: personalLoans.status,
  },
  { number: 2, segment: 'credit-cards', keyPrefix: 'svc_cc_', status: 'beta' },
  { number: 3, segment: 'mortgage', keyPrefix: 'svc_mo_', status: 'beta' },
  { number: 4, segment: 'banking', keyPrefix: 'svc_bk_', status: 'beta' },
  { number: 5, segment: 'find-advisor', keyPrefix: 'svc_fa_', status: 'planned' },
];

import { personalLoans } from './personal-loans.ts';
import type { Vertical } from './vertical.ts';

/** The verticals there are offers for. */
export const servedVerticals: readonly Vertical[] = [personalLoans];

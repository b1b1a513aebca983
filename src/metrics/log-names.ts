/** The two logs that groups of records are written to. */
export const logNames = ['ledger', 'journal'] as const;
export type LogName = (typeof logNames)[number];

/**
 * What may happen to a log; `not-tended` to the journal alone, when no new epoch could be begun or no old one removed, and
 * `tended-again` when that worked once more.
 */
export const logIncidentKinds = [
  'tail-cut',
  'segment-abandoned',
  'unavailable',
  'healed',
  'records-lost',
  'not-tended',
  'tended-again',
] as const;
export type LogIncidentKind = (typeof logIncidentKinds)[number];

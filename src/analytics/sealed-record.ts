/**
 * What a log of sealed figures holds (`CounterArchive`). One sealing is one segment:
 *
 *     opening, then for each experiment: its name, its day counters, its lender counters; at the end the closing
 *
 * Each travels as a msgpack array whose first element is its kind; kinds are other ones than the ledger's. New members are
 * only ever added at the end.
 */
export type ArchiveRecord = ArchiveHeader | ArchivedExperiment | ArchivedDay | ArchivedLender | ArchiveFooter;

export const archiveRecordKind = { header: 11, experiment: 12, day: 13, lender: 14, footer: 15 } as const;

/** `[11, wallMs, fromDay, untilDay, ledgerFromPosition]` */
export type ArchiveHeader = readonly [
  kind: 11,
  /** When it was sealed. */
  wallMs: number,
  /** The cohort days of this sealing: from the first up to, and without, the other (day numbers). */
  fromDay: number,
  untilDay: number,
  /** No record ahead of this position of the ledger tells of a session created on `untilDay` or later. */
  ledgerFrom: number,
];

/** `[12, [account, vertical, test, tag]]`: whose counters follow. */
export type ArchivedExperiment = readonly [
  kind: 12,
  experiment: readonly [account: number, vertical: number, test: 0 | 1, tag: string],
];

/**
 * `[13, [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, confirmedCentsSquared]]`, and `widgetEvents`
 * where widgets told something.
 */
export type ArchivedDay = readonly [
  kind: 13,
  counter: readonly [
    day: number,
    device: number,
    sessions: number,
    views: number,
    clicks: number,
    attributedMicros: number,
    confirmedMicros: number,
    /** In decimal digits: a sum of squares may be beyond what a double holds exactly. */
    confirmedCentsSquared: string,
  ],
  /** As `WidgetCounts`, by the types of the version that sealed them. */
  widgetEvents?: readonly number[],
];

/** `[14, [day, lenderName, clicks, confirmedMicros]]` */
export type ArchivedLender = readonly [
  kind: 14,
  counter: readonly [day: number, lenderName: string, clicks: number, confirmedMicros: number],
];

/** `[15]`: nothing of this sealing is missing. */
export type ArchiveFooter = readonly [kind: 15];

/** Reads what a file holds as a record, or null for anything else. */
export function parseArchiveRecord(value: readonly unknown[]): ArchiveRecord | null {
  const [kind] = value;
  const members: readonly unknown[] = Array.isArray(value[1]) ? value[1] : [];
  switch (kind) {
    case archiveRecordKind.header:
      return value.length >= 5 && value.slice(1, 5).every(isCount) ? (value as unknown as ArchiveRecord) : null;
    case archiveRecordKind.experiment: {
      const [account, vertical, test, tag] = members;
      return isCount(account) && isCount(vertical) && (test === 0 || test === 1) && typeof tag === 'string'
        ? (value as unknown as ArchiveRecord)
        : null;
    }
    case archiveRecordKind.day: {
      const squared = members[7];
      const widgetEvents = value[2];
      return members.length >= 8 &&
        members.slice(0, 7).every(isCount) &&
        typeof squared === 'string' &&
        isInt64(squared) &&
        (widgetEvents === undefined || (Array.isArray(widgetEvents) && widgetEvents.every(isCount)))
        ? (value as unknown as ArchiveRecord)
        : null;
    }
    case archiveRecordKind.lender: {
      const [day, name, clicks, confirmedMicros] = members;
      return isCount(day) && typeof name === 'string' && isCount(clicks) && isCount(confirmedMicros)
        ? (value as unknown as ArchiveRecord)
        : null;
    }
    case archiveRecordKind.footer:
      return value as unknown as ArchiveRecord;
    default:
      return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isInt64(digits: string): boolean {
  return /^\d{1,19}$/.test(digits) && BigInt(digits) < 2n ** 63n;
}

import { isCount } from '../ledger/ledger-record.ts';
import {
  type ExperimentArchiveRecord,
  experimentArchiveKind,
  isDecimal,
  isExperimentArchiveRecord,
  isSum,
} from './experiments/experiment-archive-record.ts';

/**
 * A record of the archive. Each segment of the archive, except an end segment, contains these records:
 *
 *     header; per referrer tag: its name, its day counters, its lender counters, its views of offers;
 *     experiments (`ExperimentArchiveRecord`); footer
 *
 * A record is a msgpack array whose first element is the kind of the record. Archive records and ledger records have different kind
 * numbers. A later release may add elements only at the end of a record.
 */
export type ArchiveRecord =
  | ArchiveHeader
  | ArchivedTagKey
  | ArchivedDay
  | ArchivedLenderCounters
  | ArchivedOfferViews
  | ExperimentArchiveRecord
  | ArchiveFooter;

export const archiveRecordKind = { header: 11, tag: 12, day: 13, lender: 14, footer: 15, offerViews: 21 } as const;

export type ArchiveHeader = readonly [
  kind: 11,
  wallMs: number,
  /** Archived cohort days: from `fromDay` (inclusive) to `untilDay` (exclusive), as day numbers. */
  fromDay: number,
  untilDay: number,
  /** All ledger records before `ledgerStartPosition` belong to sessions created before `untilDay`. */
  ledgerStartPosition: number,
  /** Whether the segment contains the counters of all offers. Absent in segments of earlier releases. */
  hasOffers?: boolean,
];

/** Names the referrer tag to which the following records belong, until the next `ArchivedTagKey`. */
export type ArchivedTagKey = readonly [
  kind: 12,
  key: readonly [account: number, vertical: number, test: 0 | 1, tag: string],
];

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
    /** Sum of the squared revenue of each session, as a decimal string, because it may exceed `Number.MAX_SAFE_INTEGER`. */
    confirmedCentsSquared: string,
    /** Number of sessions with confirmed revenue. This and the next two counters are null or absent if an earlier release lacked them. */
    revenueSessions?: number | null,
    /** Creation times of the first and the last session, in Unix milliseconds. */
    firstSessionMs?: number | null,
    lastSessionMs?: number | null,
  ],
  /** Number of widget events by type; absent or empty without widget events. Another release may have written fewer or more event types. */
  widgetEvents?: readonly number[],
  /** Number of clicks without revenue by reason; absent if all numbers are 0. Another release may have written fewer or more reasons. */
  unbookedClicks?: readonly number[],
];

export type ArchivedLenderCounters = readonly [
  kind: 14,
  counter: readonly [
    day: number,
    lenderName: string,
    clicks: number,
    confirmedMicros: number,
    /** The last two items are absent if an earlier release wrote the record. The clicks are then those on all offers of the lender. */
    offerId?: string,
    attributedMicros?: number,
  ],
];

/** How often an offer was shown at each position, from position `first` on, which is 0 for the first position. */
export type ArchivedOfferViews = readonly [
  kind: 21,
  counter: readonly [day: number, offerId: string, first: number, ...counts: number[]],
];

/** The last record of an archive segment. A segment without a footer is incomplete. */
type ArchiveFooter = readonly [kind: 15];

/**
 * Counters of a range of days, grouped by referrer tag, and then by experiment. The counters of each tag or experiment follow a record that
 * names it.
 */
export type ArchivedCounters = Iterable<Exclude<ArchiveRecord, ArchiveHeader | ArchiveFooter>>;

export function isArchiveRecord(value: readonly unknown[]): value is ArchiveRecord {
  const members: readonly unknown[] = Array.isArray(value[1]) ? value[1] : [];
  switch (value[0]) {
    case archiveRecordKind.header:
      return (
        value.length >= 5 &&
        value.slice(1, 5).every(isCount) &&
        (value[5] === undefined || typeof value[5] === 'boolean')
      );
    case archiveRecordKind.tag: {
      const [account, vertical, test, tag] = members;
      return isCount(account) && isCount(vertical) && (test === 0 || test === 1) && typeof tag === 'string';
    }
    case archiveRecordKind.day: {
      const squared = members[7];
      const hasValidCounts = isCountListOrAbsent(value[2]) && isCountListOrAbsent(value[3]);
      if (!members.slice(8, 11).every((value) => value === null || isCount(value))) return false;
      const hasValidSums = members.slice(0, 5).every(isCount) && members.slice(5, 7).every(isSum);
      return hasValidSums && isDecimal(squared) && hasValidCounts;
    }
    case archiveRecordKind.lender: {
      const [day, name, clicks, confirmedMicros, offerId, attributedMicros] = members;
      const hasValidOffer = offerId === undefined || (typeof offerId === 'string' && isSum(attributedMicros));
      return isCount(day) && typeof name === 'string' && isCount(clicks) && isSum(confirmedMicros) && hasValidOffer;
    }
    case archiveRecordKind.offerViews: {
      const [day, offerId, first, ...counts] = members;
      return isCount(day) && typeof offerId === 'string' && isCount(first) && counts.every(isCount);
    }
    default:
      return value[0] === archiveRecordKind.footer || isExperimentArchiveRecord(value);
  }
}

function isCountListOrAbsent(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isCount));
}

/** Checks the order of the records in an archive segment, and that the day of each counter is in the range of the header. */
export class ArchiveRecordOrder {
  #fromDay = 0;
  #untilDay = 0;
  #hasTag = false;
  #hasExperiment = false;
  /** True between the header and the footer of an archive segment. */
  isOpen = false;

  isValidNextRecord(record: ArchiveRecord): boolean {
    if (this.isOpen === (record[0] === archiveRecordKind.header)) return false;
    switch (record[0]) {
      case archiveRecordKind.header:
        [, , this.#fromDay, this.#untilDay] = record;
        this.isOpen = true;
        this.#hasTag = false;
        this.#hasExperiment = false;
        return this.#untilDay > this.#fromDay;
      case archiveRecordKind.tag:
        this.#hasTag = true;
        return true;
      case archiveRecordKind.day:
      case archiveRecordKind.lender:
      case archiveRecordKind.offerViews:
        return this.#hasTag && this.#isArchivedDay(record[1][0]);
      case experimentArchiveKind.experiment:
        this.#hasExperiment = true;
        return true;
      case experimentArchiveKind.dimensionValue:
        return this.#hasExperiment;
      case experimentArchiveKind.day:
      case experimentArchiveKind.age:
      case experimentArchiveKind.visitor:
      case experimentArchiveKind.sessionRevenue:
      case experimentArchiveKind.groupDay:
        return this.#hasExperiment && this.#isArchivedDay(record[1][0]);
      case archiveRecordKind.footer:
        this.isOpen = false;
        return true;
    }
  }

  #isArchivedDay(day: number): boolean {
    return day >= this.#fromDay && day < this.#untilDay;
  }
}

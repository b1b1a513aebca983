import type { ClickReversal, ConfirmedPayout, PayoutTransaction } from '../confirmations/confirmation.ts';
import { msPerDay } from '../domain/calendar.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import type { ExperimentRecord } from '../ledger/ledger-record.ts';

/** The 32 bytes of a sub_id as a latin1 string. A sub_id starts with its creation time, so sort keys are in the order of creation. */
export type SubIdSortKey = string;

export function toSubIdSortKey(sub: Uint8Array): SubIdSortKey {
  return Buffer.from(sub.buffer, sub.byteOffset, subIdByteLength).toString('latin1');
}

/** Greater than all sort keys. */
export const greatestSubIdSortKey: SubIdSortKey = '\u0100';

/** Returns the smallest possible sort key of a session that was created on `day` or later. */
export function smallestSubIdOfDay(day: number): SubIdSortKey {
  const time = Buffer.alloc(6);
  time.writeUIntBE(day * msPerDay, 0, 6);
  return time.toString('latin1');
}

/** A session that the ledger created. The projection changes the members that are not read-only. */
export interface SessionState {
  readonly key: SubIdSortKey;
  /** Ledger position of the session's creation record, which is the ID of the session in the store. */
  readonly position: number;
  /** Number of the session's referrer tag in the store. */
  readonly tagNumber: number;
  readonly device: number;
  /** Creation time in Unix milliseconds, and whether the session belongs to a test key, both from the sub_id. */
  readonly createdMs: number;
  readonly isTest: boolean;
  views: number;
  /** Numbers of the offers that were shown to the session. */
  readonly shownOffers: number[];
  /** Numbers of the offers on which the session has a counted click. */
  readonly clickedOffers: number[];
  /** Number of the session's widget events by type (see `WidgetCounts`); null if the session has no widget events. */
  widgetEvents: number[] | null;
  /** Wall time of the session's latest counted record, in Unix milliseconds. */
  lastEventMs: number;
  /** Confirmed revenue in micro-dollars; null until `readSessionRevenue` is called. */
  revenueMicros: number | null;
}

/** Changes to the daily counters of one referrer tag, cohort day and device class. */
export interface DayCounterChanges {
  readonly tagNumber: number;
  readonly day: number;
  readonly device: number;
  sessions: number;
  views: number;
  clicks: number;
  attributedMicros: number;
  confirmedMicros: number;
  /** Sum of the squared revenue of each session, as a bigint, because it may exceed `Number.MAX_SAFE_INTEGER`. */
  confirmedCentsSquared: bigint;
  /** Number of sessions with confirmed revenue; negative if more sessions lost all their revenue than got revenue. */
  revenueSessions: number;
  /** Creation times of the first and the last new session, in Unix milliseconds; null without new sessions. */
  firstSessionMs: number | null;
  lastSessionMs: number | null;
  widgetEvents: number[] | null;
  /** Number of clicks that booked no revenue, by reason (see `UnbookedClickCounts`). */
  readonly unbookedClicks: number[];
}

/** Changes to the counters of the clicks on one offer of a lender, for one referrer tag and cohort day. */
export interface OfferCounterChanges {
  readonly tagNumber: number;
  readonly day: number;
  readonly lender: number;
  readonly offer: number;
  clicks: number;
  attributedMicros: number;
  confirmedMicros: number;
}

/**
 * Whether a counted click booked its revenue, and whether the click confirmed that revenue. The column `booking` of the analytics store
 * contains these numbers.
 */
export const clickBookingState = { unbooked: 0, booked: 1, confirmed: 2 } as const;
export type ClickBookingState = (typeof clickBookingState)[keyof typeof clickBookingState];

/** The counted click of a session on an offer. A click that booked no revenue may change into a booked click. */
export interface CountedClick {
  /** `SessionState.position` of the session. */
  readonly session: number;
  readonly offer: number;
  readonly lender: number;
  /** Time of the click that booked the revenue; time of the first click if no click has booked revenue yet. */
  clickedMs: number;
  attributedMicros: number;
  confirmedMicros: number;
  booking: ClickBookingState;
  /** Reasons for which the click was counted without revenue, as a bit mask of indexes in `unbookedReasons`. */
  unbookedReasons: number;
  /** Flat payout of the offer in micro-dollars (docs/contract.md#flat-payouts); null if the click's record contains no payout. */
  readonly payoutMicros: number | null;
}

/** Visitor of a session, as the session's ledger record describes it. */
export interface SessionUnit {
  readonly hash: Uint8Array;
  readonly isMisassigned: boolean;
}

/** A payout or its reversal, with the time of its ledger record in Unix milliseconds. */
export interface AcceptedTransaction extends PayoutTransaction {
  readonly acceptedMs: number;
}

/** Numbers of the offer ids or of the lender names. */
export interface NumberedNames {
  find(name: string): number | null;
  /** Returns the number of a name. Adds the name if it is new. */
  findOrInsert(name: string): number;
}

/**
 * State that the projection reads and changes (port). A read includes all earlier changes, also the changes of the same batch. The numbers
 * of tags, offers and lenders are row IDs of the store. Sessions are identified by `SessionState.position`.
 */
export interface ProjectionState {
  findSession(key: SubIdSortKey): SessionState | null;
  /** Adds a new session. `segment` is the first sequence number of the ledger segment with the session's creation record. */
  addSession(session: SessionState, segment: number, metadata: string | null): void;
  saveSession(session: SessionState): void;
  /** Returns the confirmed revenue in micro-dollars of a session whose clicks the batch has not changed yet. */
  readSessionRevenue(session: number): number;

  findClick(session: number, offer: number): CountedClick | null;
  /** Stores a new or changed click. Later changes of the object are not stored until the next call. */
  saveClick(click: CountedClick): void;
  findPayout(session: number, offer: number, txid: string): ConfirmedPayout | null;
  addPayout(session: number, offer: number, txid: string, funded: AcceptedTransaction): void;
  /** Adds the reversal of a payout that is not reversed yet. */
  addPayoutReversal(session: number, offer: number, txid: string, reversal: AcceptedTransaction): void;
  /** Whether a click has a payout, with any txid, even if the payout is reversed. */
  isFunded(session: number, offer: number): boolean;
  findClickReversal(session: number, offer: number, txid: string): ClickReversal | null;
  addClickReversal(session: number, offer: number, txid: string, reversal: ClickReversal & AcceptedTransaction): void;

  /** Returns the number of a referrer tag of a tenant (docs/contract.md#tenants). Adds the tag if it is new. */
  assignTagNumber(account: number, vertical: number, isTest: boolean, tag: string): number;
  readonly offers: NumberedNames;
  readonly lenders: NumberedNames;

  readonly experimentSums: {
    /** Applies a record of an experiment. Returns false if the record is invalid, or changes a closed experiment. */
    applyRecord(position: number, record: ExperimentRecord): boolean;
    /** Must be called for each new session. `unit` is null for a session without visitor, and `metadata` is JSON text. */
    addSession(session: SessionState, unit: SessionUnit | null, metadata: string | null): void;
    /** Must be called before a record changes a session. */
    beforeChange(session: SessionState): void;
  };

  readonly counters: {
    /** Returns the changes of the batch to the counters of the session's tag, cohort day and device class. The caller adds to them. */
    changesOfDay(session: SessionState): DayCounterChanges;
    /** Returns the changes of the batch to the counters of a click's offer for the session's tag and cohort day. */
    changesOfOffer(session: SessionState, click: Pick<CountedClick, 'lender' | 'offer'>): OfferCounterChanges;
    /** Returns the changes of the batch to the counts of shown offers for the session's tag and cohort day. */
    changesOfShownOffers(session: SessionState): { add(offer: number, position: number): void };
  };
}

/** Number of applied records, and number of ignored records by reason. */
export const emptyRecordCounts = {
  records: 0,
  /** Number of records that were ignored because their session was created on an archived day. */
  sealedSession: 0,
  /** Number of log records that are not valid ledger records, or have a kind that this release does not know. */
  malformed: 0,
  /** Number of ledger records whose session has no creation record. */
  unknownSession: 0,
  /** Number of duplicate creation records of sessions. If a session has several creation records, only the first is counted. */
  repeatedSession: 0,
  /** Number of clicks on offers that were not shown to the session before the click. */
  unshownClicks: 0,
  /** Number of repeated clicks of a session on the same offer. */
  duplicateClicks: 0,
  /** Number of clicks that came more than 24 hours after the creation of the session. */
  lateClicks: 0,
  repeatedConfirmations: 0,
  /** Number of confirmations that were ignored because they violate docs/contract.md#confirmation-rules. */
  unsoundConfirmations: 0,
  /** Number of records of experiments that were ignored because they are invalid, or change a closed experiment. */
  unsoundExperiments: 0,
};
export type RecordCounts = typeof emptyRecordCounts;

export const recordCountNames = Object.keys(emptyRecordCounts) as (keyof RecordCounts)[];

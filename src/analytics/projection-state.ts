import type { Payout } from '../confirmations/confirmation.ts';
import { dayMs } from '../domain/calendar.ts';

/** Confirmed revenue before a batch. Sessions and offers are identified by their numbers in the store. */
export interface RevenueState {
  /** Confirmed revenue of all clicks of a session. */
  sessionRevenueMicros(session: number): number;
  findPayout(session: number, offer: number, txid: string): Payout | null;
}

/** The state before a batch, as far as `LedgerProjection` needs it. The adapter is `SqliteProjectionState`. */
export interface ProjectionState extends RevenueState {
  /** Sessions with a smaller key were created before the first retained day. Empty when every session is retained. */
  readonly retainedFromKey: SubIdKey;
  /** Returns the session, or null if the ledger has no creation record of it so far. */
  findSession(key: SubIdKey): ProjectedSession | null;
  /** Returns the number of an experiment: one tag of one account, vertical and mode (docs/contract.md#tenants). Creates it if needed. */
  assignExperimentNumber(account: number, vertical: number, test: boolean, tag: string): number;
  assignOfferNumber(offerId: string): number;
  /** Returns null for an offer that was never shown. */
  findOfferNumber(offerId: string): number | null;
  assignLenderNumber(lenderName: string): number;
  /** Returns a counted click, or null. */
  findClick(session: number, offer: number): { readonly lender: number; readonly clickedMs: number } | null;
  /** Writes the metadata of the session created at a position immediately: a batch of the largest metadata would not fit in memory. */
  addMetadata(session: number, json: string): void;
}

/** The 32 bytes of a sub_id as a latin1 string: a map key that sorts as the bytes do, and therefore by creation time. */
export type SubIdKey = string;

/** Returns the smallest key that a session created on this day or later can have. */
export function firstKeyOfDay(day: number): SubIdKey {
  const time = Buffer.alloc(6);
  time.writeUIntBE(day * dayMs, 0, 6);
  return time.toString('latin1');
}

/** A session as the counting rules need it. */
export interface ProjectedSession {
  readonly key: SubIdKey;
  /** Position of the creation record in the ledger; identifies the session in the store. */
  readonly position: number;
  readonly experiment: number;
  readonly device: number;
  views: number;
  /** Numbers of the offers shown so far. */
  readonly shownOffers: number[];
  /** Numbers of the offers with a counted click. */
  readonly clickedOffers: number[];
  /** Events that widgets reported, as `WidgetCounts`; null for none. */
  widgetEvents: number[] | null;
  /** Wall time of the latest record that counted. */
  lastEventMs: number;
}

/** Increments of the counters of one (experiment, cohort day, device). */
export interface DayCounterDelta {
  readonly experiment: number;
  readonly day: number;
  readonly device: number;
  sessions: number;
  views: number;
  clicks: number;
  attributedMicros: number;
  confirmedMicros: number;
  /** A bigint, because the sum of many large squares exceeds the exact integers of a double. */
  confirmedCentsSquared: bigint;
  /** As `WidgetCounts`; null for none. */
  widgetEvents: number[] | null;
}

/** The new sessions of one (experiment, cohort day), in ledger order. */
export interface CohortDelta {
  readonly experiment: number;
  readonly day: number;
  readonly createdSessions: ProjectedSession[];
}

/** Increments of the counters of one (experiment, cohort day, lender). */
export interface LenderCounterDelta {
  readonly experiment: number;
  readonly day: number;
  readonly lender: number;
  clicks: number;
  confirmedMicros: number;
}

export interface CountedClick {
  readonly session: number;
  readonly offer: number;
  readonly lender: number;
  readonly clickedMs: number;
  readonly attributedMicros: number;
}

/** A payout that is new or changed. */
export interface ChangedPayout extends Payout {
  readonly session: number;
  readonly offer: number;
  readonly txid: string;
}

/** Increment of the confirmed revenue of one click. */
export interface ClickRevenueDelta {
  readonly session: number;
  readonly offer: number;
  micros: number;
}

/** Number of records applied, and number of records ignored by reason. */
export interface ProjectionTotals {
  records: number;
  /** The session was created on an archived day. */
  sealedSession: number;
  /** Not a valid ledger record, or of a kind unknown to this version. */
  malformed: number;
  /** A view, click, confirmation or widget report of a session without a creation record. */
  unknownSession: number;
  /** A second creation of a session: the first one counts. */
  repeatedSession: number;
  /** A click on an offer that was not shown to the session before. */
  unshownClicks: number;
  /** A repeated click on the same offer. */
  duplicateClicks: number;
  /** A click more than 24 hours after the session's creation. */
  lateClicks: number;
  /** A repeated confirmation or reversal. */
  repeatedConfirmations: number;
  /** A confirmation that breaks docs/contract.md#confirmation-rules. */
  unsoundConfirmations: number;
}

/** Columns of the totals in the table `progress`. */
export const totalsColumns: Readonly<Record<keyof ProjectionTotals, string>> = {
  records: 'records',
  sealedSession: 'sealed_session',
  malformed: 'malformed',
  unknownSession: 'unknown_session',
  repeatedSession: 'repeated_session',
  unshownClicks: 'unshown_clicks',
  duplicateClicks: 'duplicate_clicks',
  lateClicks: 'late_clicks',
  repeatedConfirmations: 'repeated_confirmations',
  unsoundConfirmations: 'unsound_confirmations',
};

export const zeroTotals: Readonly<ProjectionTotals> = {
  records: 0,
  sealedSession: 0,
  malformed: 0,
  unknownSession: 0,
  repeatedSession: 0,
  unshownClicks: 0,
  duplicateClicks: 0,
  lateClicks: 0,
  repeatedConfirmations: 0,
  unsoundConfirmations: 0,
};

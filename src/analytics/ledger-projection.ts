import { classifyClick } from '../clicks/click-rules.ts';
import type { Confirmation } from '../confirmations/confirmation.ts';
import { checkConfirmation } from '../confirmations/confirmation-rules.ts';
import { dayMs, dayOf } from '../domain/calendar.ts';
import { decodeSubId, subIdByteLength } from '../ids/sub-id.ts';
import type {
  OfferClicked,
  OffersViewed,
  RevenueConfirmed,
  RevenueReversed,
  SessionCreated,
  WidgetEventsReported,
} from '../ledger/ledger-record.ts';
import { ledgerRecordKind, widgetEventTypes } from '../ledger/ledger-record.ts';
import { parseLedgerRecord } from '../ledger/parse-ledger-record.ts';
import { zeroWidgetCounts } from './counting-rules.ts';
import { RevenueProjection, type RevenueState } from './revenue-projection.ts';

/** What the fold must know of the past, and nothing else: a store answers it, or a test's maps. */
export interface ProjectionState extends RevenueState {
  /** Sessions of smaller keys are sealed: created before the first day whose sessions are kept. Empty: none is. */
  readonly retainedFromKey: SubIdKey;
  /** The session of these 32 bytes as folded so far, or null when the ledger never created it. */
  findSession(key: SubIdKey): ProjectedSession | null;
  /** The number of an experiment: one tag of one account, vertical and mode (docs/contract.md#tenants). Given out at its first session. */
  assignExperimentNumber(account: number, vertical: number, test: boolean, tag: string): number;
  assignOfferNumber(offerId: string): number;
  /** Null for an offer that was never shown to anyone. */
  findOfferNumber(offerId: string): number | null;
  assignLenderNumber(lenderName: string): number;
  /** A click that counted, or null. */
  findClick(session: number, offer: number): { readonly lender: number; readonly clickedMs: number } | null;
  /** Keeps the metadata of the session created at a position: at once, since a batch of the largest would not fit in memory. */
  addMetadata(session: number, json: string): void;
}

/**
 * A sub_id's 32 bytes as a string of as many characters (latin1): a map key that sorts as the bytes do, and so by time of
 * creation.
 */
export type SubIdKey = string;

/** Sorts behind the keys of all sessions created before that day, and ahead of all others. */
export function firstKeyOfDay(day: number): SubIdKey {
  const time = Buffer.alloc(6);
  time.writeUIntBE(day * dayMs, 0, 6);
  return time.toString('latin1');
}

/** A session as the counting rules need it. */
export interface ProjectedSession {
  readonly key: SubIdKey;
  /** Position of its record in the ledger: a short name for it, in ledger order. */
  readonly position: number;
  readonly experiment: number;
  readonly device: number;
  views: number;
  /** Numbers of the offers shown to it so far. */
  readonly shownOffers: number[];
  /** Numbers of the offers whose click has counted. */
  readonly clickedOffers: number[];
  /** What its widgets told, as `WidgetCounts`; null for nothing, as most have none. */
  widgetEvents: number[] | null;
  /** Wall time of the latest record that counted: its creation, a view, a click, what a widget told. */
  lastEventMs: number;
}

/** What is added to one (experiment, cohort day, device). */
interface DayCounterDelta {
  readonly experiment: number;
  readonly day: number;
  readonly device: number;
  sessions: number;
  views: number;
  clicks: number;
  attributedMicros: number;
  confirmedMicros: number;
  /** Large squares of many sessions: a sum of numbers would not be exact. */
  confirmedCentsSquared: bigint;
  /** As `WidgetCounts`; null for nothing. */
  widgetEvents: number[] | null;
}

/** The new sessions of one (experiment, cohort day), in ledger order. */
interface CohortDelta {
  readonly experiment: number;
  readonly day: number;
  readonly createdSessions: ProjectedSession[];
}

/** What is added to one (experiment, cohort day, lender). */
interface LenderCounterDelta {
  readonly experiment: number;
  readonly day: number;
  readonly lender: number;
  clicks: number;
  confirmedMicros: number;
}

/** A click that counted. */
interface CountedClick {
  readonly session: number;
  readonly offer: number;
  readonly lender: number;
  readonly clickedMs: number;
  readonly attributedMicros: number;
}

/** How many records were folded, and how many of them counted nothing, by reason. */
export interface ProjectionTotals {
  records: number;
  /** Of a session created on a day that is sealed: what it tells is in the sealed counters, or too late for them. */
  sealedSession: number;
  /** Not a record of the ledger, or of a kind unknown to this version. */
  malformed: number;
  /** A view, click, confirmation or widget's report of a session the ledger never created. */
  unknownSession: number;
  /** A session created twice: the first stands. */
  repeatedSession: number;
  /** A click on an offer not shown to that session before. */
  unshownClicks: number;
  /** A repeat of a click that counted. */
  duplicateClicks: number;
  /** A click more than 24 hours after the session's creation. */
  lateClicks: number;
  /** A confirmation or reversal told again. */
  repeatedConfirmations: number;
  /** One that breaks docs/contract.md#confirmation-rules. */
  unsoundConfirmations: number;
}

const zeroTotals: Readonly<ProjectionTotals> = {
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

/**
 * Applies docs/contract.md#counting-clicks and docs/contract.md#cohorts in ledger order. It holds the changes of one batch, so that each
 * counter and session is written once however many records touched it; whoever owns the store writes them, all or none.
 *
 * Every figure counts on the session's cohort: the UTC day of the creation time its sub_id carries.
 */
export class LedgerProjection {
  readonly #state: ProjectionState;
  /** Sessions that are new or changed. */
  readonly changedSessions = new Map<SubIdKey, ProjectedSession>();
  /** New sessions by experiment and day, in ledger order. */
  readonly cohortDeltas = new Map<number, CohortDelta>();
  readonly dayDeltas = new Map<number, DayCounterDelta>();
  readonly lenderDeltas = new Map<string, LenderCounterDelta>();
  /** The last cohort day of the new sessions in each segment of the ledger, by its first sequence. */
  readonly lastCohortDayBySegment = new Map<number, number>();
  readonly newClicks: CountedClick[] = [];
  readonly revenue: RevenueProjection;
  /** The clicks of this batch by session and offer, as far as a confirmation had to look for one. */
  readonly #clickIndex = new Map<string, CountedClick>();
  #indexedClicks = 0;
  readonly totals: ProjectionTotals = { ...zeroTotals };
  /** Wall time of the last record that had one. */
  lastWallMs: number | null = null;
  /** First sequence of the segment that the next records lie in. */
  segment = 0;

  constructor(state: ProjectionState) {
    this.#state = state;
    this.revenue = new RevenueProjection(state);
  }

  /** Folds the record at a position. Takes anything a file may hold, and keeps none of its bytes. */
  apply(position: number, value: unknown, segment: number): void {
    this.totals.records++;
    const record = parseLedgerRecord(value);
    if (record === null) {
      this.totals.malformed++;
      return;
    }
    this.lastWallMs = record[1];
    const key = keyOfSub(record[2]);
    if (key < this.#state.retainedFromKey) {
      this.totals.sealedSession++;
      return;
    }
    switch (record[0]) {
      case ledgerRecordKind.sessionCreated:
        this.#applySessionCreated(position, segment, key, record);
        break;
      case ledgerRecordKind.offersViewed:
        this.#applyOffersViewed(key, record);
        break;
      case ledgerRecordKind.offerClicked:
        this.#applyOfferClicked(key, record);
        break;
      case ledgerRecordKind.revenueConfirmed:
      case ledgerRecordKind.revenueReversed:
        this.#applyConfirmation(key, record);
        break;
      case ledgerRecordKind.widgetEventsReported:
        this.#applyWidgetEvents(key, record);
        break;
    }
  }

  #applySessionCreated(
    position: number,
    segment: number,
    key: SubIdKey,
    [, wallMs, sub, tag, , device, metadata]: SessionCreated,
  ): void {
    if (this.#findSession(key) !== null) {
      this.totals.repeatedSession++;
      return;
    }
    const { account, vertical, mode, createdMs } = decodeSubId(sub);
    const experiment = this.#state.assignExperimentNumber(account, vertical, mode === 'test', tag);
    const session: ProjectedSession = {
      key,
      position,
      experiment,
      device,
      views: 0,
      shownOffers: [],
      clickedOffers: [],
      widgetEvents: null,
      lastEventMs: wallMs,
    };
    this.changedSessions.set(key, session);
    if (metadata !== null) this.#state.addMetadata(position, metadata);
    const day = dayOf(createdMs);
    const change = this.#dayDelta(experiment, day, device);
    change.sessions++;
    this.lastCohortDayBySegment.set(segment, Math.max(day, this.lastCohortDayBySegment.get(segment) ?? 0));
    this.#createdSessionsOf(change).push(session);
  }

  #applyOffersViewed(key: SubIdKey, [, wallMs, sub, , offerIds, , again]: OffersViewed): void {
    const session = this.#findSession(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    for (const offerId of offerIds) {
      const offer = this.#state.assignOfferNumber(offerId);
      if (!session.shownOffers.includes(offer)) session.shownOffers.push(offer);
    }
    this.changedSessions.set(session.key, session);
    // What a widget shows after its view may be clicked like anything shown.
    if (again === true) return;
    session.views++;
    this.#dayDelta(session.experiment, dayOf(decodeSubId(sub).createdMs), session.device).views++;
  }

  /** No event is told twice within a session: the front end leaves repeats out. */
  #applyWidgetEvents(key: SubIdKey, [, wallMs, sub, , , types]: WidgetEventsReported): void {
    const session = this.#findSession(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.changedSessions.set(session.key, session);
    const change = this.#dayDelta(session.experiment, dayOf(decodeSubId(sub).createdMs), session.device);
    for (const type of types) {
      if (type >= widgetEventTypes.length) continue;
      countWidgetEvent(session, type);
      countWidgetEvent(change, type);
    }
  }

  #applyOfferClicked(key: SubIdKey, [, wallMs, sub, , offerId, lenderName, valueMicros]: OfferClicked): void {
    const session = this.#findSession(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    const { createdMs } = decodeSubId(sub);
    // -1 is the number of no offer.
    const offer = this.#state.findOfferNumber(offerId) ?? -1;
    const wasShown = session.shownOffers.includes(offer);
    const wasClicked = session.clickedOffers.includes(offer);
    const clickClass = classifyClick({ wasShown, wasClicked, createdMs }, wallMs);
    if (clickClass !== 'counted') {
      this.totals[`${clickClass}Clicks`]++;
      return;
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.#countClick(session, sub, offer, { lenderName, clickedMs: wallMs, valueMicros });
  }

  /** A confirmation or a reversal (docs/contract.md#confirmation-rules). It may bring a click that nothing else has. */
  #applyConfirmation(key: SubIdKey, record: RevenueConfirmed | RevenueReversed): void {
    const confirmation = toConfirmation(record);
    const { sub, offerId, txid } = confirmation;
    const session = this.#findSession(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    const offer = this.#state.findOfferNumber(offerId);
    if (offer === null) {
      this.totals.unsoundConfirmations++;
      return;
    }
    const click = session.clickedOffers.includes(offer) ? this.#findClick(session.position, offer) : null;
    const past = {
      offerShown: session.shownOffers.includes(offer),
      clickedMs: click?.clickedMs ?? null,
      sessionRevenueMicros: this.revenue.sessionRevenueMicros(session.position),
      payout: this.revenue.findPayout(session.position, offer, txid),
    };
    const verdict = checkConfirmation(confirmation, past, record[1]);
    if (verdict === 'repeated') this.totals.repeatedConfirmations++;
    else if (verdict !== 'accepted') this.totals.unsoundConfirmations++;
    if (verdict !== 'accepted') return;

    session.lastEventMs = Math.max(session.lastEventMs, record[1]);
    this.changedSessions.set(session.key, session);
    // Accepted without a click, it tells of one.
    const lender =
      click?.lender ?? this.#countClick(session, sub, offer, { lenderName: record[4], ...confirmation.click! });
    const { confirmedMicros, confirmedCentsSquared } = this.revenue.applyConfirmation(
      session.position,
      offer,
      confirmation,
    );
    const day = dayOf(decodeSubId(sub).createdMs);
    const change = this.#dayDelta(session.experiment, day, session.device);
    change.confirmedMicros += confirmedMicros;
    change.confirmedCentsSquared += BigInt(confirmedCentsSquared);
    this.#lenderDelta(session.experiment, day, lender).confirmedMicros += confirmedMicros;
  }

  /** Returns the number of the lender. */
  #countClick(
    session: ProjectedSession,
    sub: Uint8Array,
    offer: number,
    {
      lenderName,
      clickedMs,
      valueMicros,
    }: { readonly lenderName: string; readonly clickedMs: number; readonly valueMicros: number },
  ): number {
    const { createdMs, mode } = decodeSubId(sub);
    // A sandbox click counts at zero revenue (docs/contract.md#test-keys-and-the-sandbox), whatever its record says.
    const attributedMicros = mode === 'test' ? 0 : valueMicros;
    const lender = this.#state.assignLenderNumber(lenderName);
    const day = dayOf(createdMs);
    session.clickedOffers.push(offer);
    this.newClicks.push({ session: session.position, offer, lender, clickedMs, attributedMicros });
    const change = this.#dayDelta(session.experiment, day, session.device);
    change.clicks++;
    change.attributedMicros += attributedMicros;
    this.#lenderDelta(session.experiment, day, lender).clicks++;
    this.changedSessions.set(session.key, session);
    return lender;
  }

  #findClick(session: number, offer: number): { readonly lender: number; readonly clickedMs: number } | null {
    for (; this.#indexedClicks < this.newClicks.length; this.#indexedClicks++) {
      const click = this.newClicks[this.#indexedClicks]!;
      this.#clickIndex.set(`${click.session} ${click.offer}`, click);
    }
    return this.#clickIndex.get(`${session} ${offer}`) ?? this.#state.findClick(session, offer);
  }

  #findSession(key: SubIdKey): ProjectedSession | null {
    return this.changedSessions.get(key) ?? this.#state.findSession(key);
  }

  #dayDelta(experiment: number, day: number, device: number): DayCounterDelta {
    // One exact integer: a 48-bit time has fewer than 2^22 days, devices are fewer than 2^3, which leaves 2^28 experiments.
    const key = (experiment * 2 ** 22 + day) * 8 + device;
    let change = this.dayDeltas.get(key);
    if (change === undefined) {
      const nothing = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, widgetEvents: null };
      change = { experiment, day, device, ...nothing, confirmedMicros: 0, confirmedCentsSquared: 0n };
      this.dayDeltas.set(key, change);
    }
    return change;
  }

  #createdSessionsOf({ experiment, day }: DayCounterDelta): ProjectedSession[] {
    const key = experiment * 2 ** 22 + day;
    let cohort = this.cohortDeltas.get(key);
    if (cohort === undefined) {
      cohort = { experiment, day, createdSessions: [] };
      this.cohortDeltas.set(key, cohort);
    }
    return cohort.createdSessions;
  }

  #lenderDelta(experiment: number, day: number, lender: number): LenderCounterDelta {
    const key = `${experiment} ${day} ${lender}`;
    let change = this.lenderDeltas.get(key);
    if (change === undefined) {
      change = { experiment, day, lender, clicks: 0, confirmedMicros: 0 };
      this.lenderDeltas.set(key, change);
    }
    return change;
  }
}

function countWidgetEvent(counter: { widgetEvents: number[] | null }, type: number): void {
  counter.widgetEvents ??= [...zeroWidgetCounts];
  counter.widgetEvents[type]!++;
}

function keyOfSub(sub: Uint8Array): SubIdKey {
  return Buffer.from(sub.buffer, sub.byteOffset, subIdByteLength).toString('latin1');
}

function toConfirmation(record: RevenueConfirmed | RevenueReversed): Confirmation {
  const [kind, , sub, offerId, , txid, amountMicros, occurredMs, clickedMs = null, valueMicros = null] = record;
  return {
    status: kind === ledgerRecordKind.revenueConfirmed ? 'funded' : 'reversed',
    sub,
    offerId,
    txid,
    amountMicros,
    occurredMs,
    click: clickedMs === null || valueMicros === null ? null : { clickedMs, valueMicros },
  };
}

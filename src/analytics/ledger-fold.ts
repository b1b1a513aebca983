import { bounds } from '../bounds.ts';
import type { Confirmation } from '../confirmations/confirmation.ts';
import { judgeConfirmation } from '../confirmations/judge-confirmation.ts';
import { dayMs, dayOf } from '../domain/calendar.ts';
import type {
  OfferClicked,
  OffersViewed,
  RevenueConfirmed,
  RevenueReversed,
  SessionCreated,
  WidgetReported,
} from '../events/ledger-record.ts';
import { recordKind, widgetEventTypes } from '../events/ledger-record.ts';
import { decodeSubId, subIdBytes } from '../sessions/sub-id.ts';
import { parseLedgerRecord } from './parse-ledger-record.ts';
import { RevenueFold, type RevenuePast } from './revenue-fold.ts';
import { noWidgetEvents } from './widget-counts.ts';

/** What the fold must know of the past, and nothing else: a store answers it, or a test's maps. */
export interface FoldPast extends RevenuePast {
  /** Sessions of smaller keys are sealed: created before the first day whose sessions are kept. Empty: none is. */
  readonly keptFrom: SubKey;
  /** The session of these 32 bytes as folded so far, or null when the ledger never created it. */
  findSession(key: SubKey): FoldedSession | null;
  /** The number of an experiment: one tag of one account, vertical and mode (docs/contract.md#tenants). Given out at its first session. */
  experimentNumber(account: number, vertical: number, test: boolean, tag: string): number;
  offerNumber(offerId: string): number;
  /** Null for an offer that was never shown to anyone. */
  findOffer(offerId: string): number | null;
  lenderNumber(lenderName: string): number;
  /** A click that counted, or null. */
  findClick(session: number, offer: number): { readonly lender: number; readonly clickedMs: number } | null;
  /** Keeps the metadata of the session created at a position: at once, since a batch of the largest would not fit in memory. */
  keepMetadata(session: number, json: string): void;
}

/**
 * A sub_id's 32 bytes as a string of as many characters (latin1): a map key that sorts as the bytes do, and so by time of
 * creation.
 */
export type SubKey = string;

/** Sorts behind the keys of all sessions created before that day, and ahead of all others. */
export function firstKeyOf(day: number): SubKey {
  const time = Buffer.alloc(6);
  time.writeUIntBE(day * dayMs, 0, 6);
  return time.toString('latin1');
}

/** A session as the counting rules need it. */
export interface FoldedSession {
  readonly key: SubKey;
  /** Position of its record in the ledger: a short name for it, in ledger order. */
  readonly position: number;
  readonly experiment: number;
  readonly device: number;
  views: number;
  /** Numbers of the offers shown to it so far. */
  readonly shown: number[];
  /** Numbers of the offers whose click has counted. */
  readonly clicked: number[];
  /** What its widgets told, as `WidgetCounts`; null for nothing, as most have none. */
  widgetEvents: number[] | null;
  /** Wall time of the latest record that counted: its creation, a view, a click, what a widget told. */
  lastEventMs: number;
}

/** What is added to one (experiment, cohort day, device). */
export interface DayChange {
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
export interface CohortChange {
  readonly experiment: number;
  readonly day: number;
  readonly created: FoldedSession[];
}

/** What is added to one (experiment, cohort day, lender). */
export interface LenderChange {
  readonly experiment: number;
  readonly day: number;
  readonly lender: number;
  clicks: number;
  confirmedMicros: number;
}

/** A click that counted. */
export interface CountedClick {
  readonly session: number;
  readonly offer: number;
  readonly lender: number;
  readonly clickedMs: number;
  readonly attributedMicros: number;
}

/** How many records were folded, and how many of them counted nothing, by reason. */
export interface FoldTotals {
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

const noTotals: Readonly<FoldTotals> = {
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
export class LedgerFold {
  readonly #past: FoldPast;
  /** Sessions that are new or changed. */
  readonly sessions = new Map<SubKey, FoldedSession>();
  /** New sessions by experiment and day, in ledger order. */
  readonly cohorts = new Map<number, CohortChange>();
  readonly days = new Map<number, DayChange>();
  readonly lenders = new Map<string, LenderChange>();
  /** The last cohort day of the new sessions in each segment of the ledger, by its first sequence. */
  readonly segments = new Map<number, number>();
  readonly clicks: CountedClick[] = [];
  readonly revenue: RevenueFold;
  /** The clicks of this batch by session and offer, as far as a confirmation had to look for one. */
  readonly #clicksFound = new Map<string, CountedClick>();
  #clicksLookedAt = 0;
  readonly totals: FoldTotals = { ...noTotals };
  /** Wall time of the last record that had one. */
  lastWallMs: number | null = null;
  /** First sequence of the segment that the next records lie in. */
  segment = 0;

  constructor(past: FoldPast) {
    this.#past = past;
    this.revenue = new RevenueFold(past);
  }

  /** Folds the record at a position. Takes anything a file may hold, and keeps none of its bytes. */
  fold(position: number, value: unknown, segment: number): void {
    this.totals.records++;
    const record = parseLedgerRecord(value);
    if (record === null) {
      this.totals.malformed++;
      return;
    }
    this.lastWallMs = record[1];
    const key = subKey(record[2]);
    if (key < this.#past.keptFrom) {
      this.totals.sealedSession++;
      return;
    }
    switch (record[0]) {
      case recordKind.sessionCreated:
        this.#sessionCreated(position, segment, key, record);
        break;
      case recordKind.offersViewed:
        this.#offersViewed(key, record);
        break;
      case recordKind.offerClicked:
        this.#offerClicked(key, record);
        break;
      case recordKind.revenueConfirmed:
      case recordKind.revenueReversed:
        this.#revenueSettled(key, record);
        break;
      case recordKind.widgetReported:
        this.#widgetReported(key, record);
        break;
    }
  }

  #sessionCreated(
    position: number,
    segment: number,
    key: SubKey,
    [, wallMs, sub, tag, , device, metadata]: SessionCreated,
  ): void {
    if (this.#find(key) !== null) {
      this.totals.repeatedSession++;
      return;
    }
    const { account, vertical, mode, createdMs } = decodeSubId(sub);
    const experiment = this.#past.experimentNumber(account, vertical, mode === 'test', tag);
    const session: FoldedSession = {
      key,
      position,
      experiment,
      device,
      views: 0,
      shown: [],
      clicked: [],
      widgetEvents: null,
      lastEventMs: wallMs,
    };
    this.sessions.set(key, session);
    if (metadata !== null) this.#past.keepMetadata(position, metadata);
    const day = dayOf(createdMs);
    const change = this.#day(experiment, day, device);
    change.sessions++;
    this.segments.set(segment, Math.max(day, this.segments.get(segment) ?? 0));
    this.#cohort(change).push(session);
  }

  #offersViewed(key: SubKey, [, wallMs, sub, , offerIds, , again]: OffersViewed): void {
    const session = this.#find(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    for (const offerId of offerIds) {
      const offer = this.#past.offerNumber(offerId);
      if (!session.shown.includes(offer)) session.shown.push(offer);
    }
    this.sessions.set(session.key, session);
    // What a widget shows after its view may be clicked like anything shown.
    if (again === true) return;
    session.views++;
    this.#day(session.experiment, dayOf(decodeSubId(sub).createdMs), session.device).views++;
  }

  /** No event is told twice within a session: the front end leaves repeats out. */
  #widgetReported(key: SubKey, [, wallMs, sub, , , types]: WidgetReported): void {
    const session = this.#find(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.sessions.set(session.key, session);
    const change = this.#day(session.experiment, dayOf(decodeSubId(sub).createdMs), session.device);
    for (const type of types) {
      if (type >= widgetEventTypes.length) continue;
      countWidgetEvent(session, type);
      countWidgetEvent(change, type);
    }
  }

  #offerClicked(key: SubKey, [, wallMs, sub, , offerId, lenderName, valueMicros]: OfferClicked): void {
    const session = this.#find(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    const { createdMs } = decodeSubId(sub);
    const offer = this.#past.findOffer(offerId);
    if (offer === null || !session.shown.includes(offer)) {
      this.totals.unshownClicks++;
      return;
    }
    if (session.clicked.includes(offer)) {
      this.totals.duplicateClicks++;
      return;
    }
    if (wallMs - createdMs > bounds.clickAttributedMs) {
      this.totals.lateClicks++;
      return;
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.#countClick(session, sub, offer, { lenderName, clickedMs: wallMs, valueMicros });
  }

  /** A confirmation or a reversal (docs/contract.md#confirmation-rules). It may bring a click that nothing else has. */
  #revenueSettled(key: SubKey, record: RevenueConfirmed | RevenueReversed): void {
    const confirmation = confirmationOf(record);
    const { sub, offerId, txid } = confirmation;
    const session = this.#find(key);
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    const offer = this.#past.findOffer(offerId);
    if (offer === null) {
      this.totals.unsoundConfirmations++;
      return;
    }
    const click = session.clicked.includes(offer) ? this.#findClick(session.position, offer) : null;
    const past = {
      shown: session.shown.includes(offer),
      clickedMs: click?.clickedMs ?? null,
      sessionMicros: this.revenue.sessionMicros(session.position),
      payout: this.revenue.payout(session.position, offer, txid),
    };
    const verdict = judgeConfirmation(confirmation, past, record[1]);
    if (verdict === 'repeated') this.totals.repeatedConfirmations++;
    else if (verdict !== 'accepted') this.totals.unsoundConfirmations++;
    if (verdict !== 'accepted') return;

    session.lastEventMs = Math.max(session.lastEventMs, record[1]);
    this.sessions.set(session.key, session);
    // Accepted without a click, it tells of one.
    const lender =
      click?.lender ?? this.#countClick(session, sub, offer, { lenderName: record[4], ...confirmation.click! });
    const { confirmedMicros, confirmedCentsSquared } = this.revenue.book(session.position, offer, confirmation);
    const day = dayOf(decodeSubId(sub).createdMs);
    const change = this.#day(session.experiment, day, session.device);
    change.confirmedMicros += confirmedMicros;
    change.confirmedCentsSquared += BigInt(confirmedCentsSquared);
    this.#lender(session.experiment, day, lender).confirmedMicros += confirmedMicros;
  }

  /** Returns the number of the lender. */
  #countClick(
    session: FoldedSession,
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
    const lender = this.#past.lenderNumber(lenderName);
    const day = dayOf(createdMs);
    session.clicked.push(offer);
    this.clicks.push({ session: session.position, offer, lender, clickedMs, attributedMicros });
    const change = this.#day(session.experiment, day, session.device);
    change.clicks++;
    change.attributedMicros += attributedMicros;
    this.#lender(session.experiment, day, lender).clicks++;
    this.sessions.set(session.key, session);
    return lender;
  }

  #findClick(session: number, offer: number): { readonly lender: number; readonly clickedMs: number } | null {
    for (; this.#clicksLookedAt < this.clicks.length; this.#clicksLookedAt++) {
      const click = this.clicks[this.#clicksLookedAt]!;
      this.#clicksFound.set(`${click.session} ${click.offer}`, click);
    }
    return this.#clicksFound.get(`${session} ${offer}`) ?? this.#past.findClick(session, offer);
  }

  #find(key: SubKey): FoldedSession | null {
    return this.sessions.get(key) ?? this.#past.findSession(key);
  }

  #day(experiment: number, day: number, device: number): DayChange {
    // One exact integer: a 48-bit time has fewer than 2^22 days, devices are fewer than 2^3, which leaves 2^28 experiments.
    const key = (experiment * 2 ** 22 + day) * 8 + device;
    let change = this.days.get(key);
    if (change === undefined) {
      const nothing = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, widgetEvents: null };
      change = { experiment, day, device, ...nothing, confirmedMicros: 0, confirmedCentsSquared: 0n };
      this.days.set(key, change);
    }
    return change;
  }

  #cohort({ experiment, day }: DayChange): FoldedSession[] {
    const key = experiment * 2 ** 22 + day;
    let cohort = this.cohorts.get(key);
    if (cohort === undefined) {
      cohort = { experiment, day, created: [] };
      this.cohorts.set(key, cohort);
    }
    return cohort.created;
  }

  #lender(experiment: number, day: number, lender: number): LenderChange {
    const key = `${experiment} ${day} ${lender}`;
    let change = this.lenders.get(key);
    if (change === undefined) {
      change = { experiment, day, lender, clicks: 0, confirmedMicros: 0 };
      this.lenders.set(key, change);
    }
    return change;
  }
}

function countWidgetEvent(counter: { widgetEvents: number[] | null }, type: number): void {
  counter.widgetEvents ??= [...noWidgetEvents];
  counter.widgetEvents[type]!++;
}

function subKey(sub: Uint8Array): SubKey {
  return Buffer.from(sub.buffer, sub.byteOffset, subIdBytes).toString('latin1');
}

function confirmationOf(record: RevenueConfirmed | RevenueReversed): Confirmation {
  const [kind, , sub, offerId, , txid, amountMicros, occurredMs, clickedMs = null, valueMicros = null] = record;
  return {
    status: kind === recordKind.revenueConfirmed ? 'funded' : 'reversed',
    sub,
    offerId,
    txid,
    amountMicros,
    occurredMs,
    click: clickedMs === null || valueMicros === null ? null : { clickedMs, valueMicros },
  };
}

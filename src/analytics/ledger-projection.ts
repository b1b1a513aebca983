import { classifyClick } from '../clicks/click-rules.ts';
import type { Confirmation } from '../confirmations/confirmation.ts';
import { checkConfirmation } from '../confirmations/confirmation.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type {
  OfferClickedRecord,
  OffersViewedRecord,
  RevenueConfirmedRecord,
  RevenueReversedRecord,
  SessionCreatedRecord,
  WidgetEventsReportedRecord,
} from '../ledger/ledger-record.ts';
import { ledgerRecordKind, parseLedgerRecord, widgetEventTypes } from '../ledger/ledger-record.ts';
import { emptyWidgetCounts } from './counting-rules.ts';
import {
  type CountedClick,
  type DailyCounterChanges,
  emptyRecordCounts,
  type LenderCounterChanges,
  type NewSessionsOfDay,
  type RecordCounts,
  type SessionState,
  type SubIdSortKey,
  toSubIdSortKey,
} from './projection-state.ts';
import { RevenueChanges } from './revenue-projection.ts';
import type { SqliteProjectionState } from './sqlite-projection-state.ts';

/**
 * Applies ledger records in ledger order by the rules of docs/contract.md#counting-clicks and docs/contract.md#cohorts. Collects the
 * changes of one batch, so that `AnalyticsBatchWriter` writes each counter and session only once per batch.
 *
 * Every figure is counted for a cohort: the UTC day on which the session was created, according to its sub_id.
 */
export class LedgerProjection {
  readonly #state: SqliteProjectionState;
  /** Sessions that the current batch changes or creates, by session key. */
  readonly changedSessions = new Map<SubIdSortKey, SessionState>();
  readonly cohortDeltas = new Map<number, NewSessionsOfDay>();
  readonly dayDeltas = new Map<number, DailyCounterChanges>();
  readonly lenderDeltas = new Map<string, LenderCounterChanges>();
  /** Maps the first sequence number of a ledger segment to the latest cohort day of the sessions created in the segment. */
  readonly lastCohortDayBySegment = new Map<number, number>();
  readonly newClicks: CountedClick[] = [];
  readonly revenue: RevenueChanges;
  /** Index of the first `#indexedClicks` elements of `newClicks`, by session and offer; `#findClick` first adds the other elements. */
  readonly #clickIndex = new Map<string, CountedClick>();
  #indexedClicks = 0;
  readonly totals: RecordCounts = { ...emptyRecordCounts };
  /** Wall time of the last valid record, in Unix milliseconds. */
  lastWallMs: number | null = null;

  constructor(state: SqliteProjectionState) {
    this.#state = state;
    this.revenue = new RevenueChanges(state);
  }

  /**
   * Applies the ledger record at `position`. If `value` is not a valid ledger record, only increments the counter `malformed`. After the
   * call, the caller may reuse the byte arrays in `value`.
   *
   * @param segment first sequence number of the ledger segment that contains the record
   */
  applyRecord(position: number, value: unknown, segment: number): void {
    this.totals.records++;
    const record = parseLedgerRecord(value);
    if (record === null) {
      this.totals.malformed++;
      return;
    }
    this.lastWallMs = record[1];
    const key = toSubIdSortKey(record[2]);
    if (key < this.#state.firstRetainedSubId) {
      this.totals.sealedSession++;
      return;
    }
    const session = this.#findSession(key);
    if (record[0] === ledgerRecordKind.sessionCreated) {
      if (session === null) this.#applySessionCreated(position, segment, key, record);
      else this.totals.repeatedSession++;
      return;
    }
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    switch (record[0]) {
      case ledgerRecordKind.offersViewed:
        this.#applyOffersViewed(session, record);
        break;
      case ledgerRecordKind.offerClicked:
        this.#applyOfferClicked(session, record);
        break;
      case ledgerRecordKind.revenueConfirmed:
      case ledgerRecordKind.revenueReversed:
        this.#applyConfirmation(session, record);
        break;
      case ledgerRecordKind.widgetEventsReported:
        this.#applyWidgetEvents(session, record);
        break;
    }
  }

  #applySessionCreated(
    position: number,
    segment: number,
    key: SubIdSortKey,
    [, wallMs, sub, tag, , device, metadata]: SessionCreatedRecord,
  ): void {
    const { account, vertical, mode, createdMs } = decodeSubId(sub);
    const experiment = this.#state.assignExperimentNumber(account, vertical, mode === 'test', tag);
    const session: SessionState = {
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
    if (metadata !== null) this.#state.addSessionMetadata(position, metadata);
    const day = daysSinceEpoch(createdMs);
    const delta = this.#findOrAddDayChanges(experiment, day, device);
    delta.sessions++;
    this.lastCohortDayBySegment.set(segment, Math.max(day, this.lastCohortDayBySegment.get(segment) ?? 0));
    this.#findOrAddNewSessions(delta).push(session);
  }

  #applyOffersViewed(session: SessionState, [, wallMs, sub, , offerIds, , isRefresh]: OffersViewedRecord): void {
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    for (const offerId of offerIds) {
      const offer = this.#state.offers.findOrInsertRow(offerId);
      if (!session.shownOffers.includes(offer)) session.shownOffers.push(offer);
    }
    this.changedSessions.set(session.key, session);
    // If a widget loads its offers again (`isRefresh`), clicks on newly shown offers count, but no new view is counted.
    if (isRefresh === true) return;
    session.views++;
    this.#findOrAddDayChanges(session.experiment, daysSinceEpoch(decodeSubId(sub).createdMs), session.device).views++;
  }

  /** Counts the widget events of a record, from which the main thread has already removed repeated events. */
  #applyWidgetEvents(session: SessionState, [, wallMs, sub, , , types]: WidgetEventsReportedRecord): void {
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.changedSessions.set(session.key, session);
    const delta = this.#findOrAddDayChanges(
      session.experiment,
      daysSinceEpoch(decodeSubId(sub).createdMs),
      session.device,
    );
    for (const type of types) {
      if (type >= widgetEventTypes.length) continue;
      countWidgetEvent(session, type);
      countWidgetEvent(delta, type);
    }
  }

  #applyOfferClicked(
    session: SessionState,
    [, wallMs, sub, , offerId, lenderName, valueMicros]: OfferClickedRecord,
  ): void {
    const { createdMs } = decodeSubId(sub);
    // An offer that is not in the store gets the row ID -1, so it counts as neither shown nor clicked.
    const offer = this.#state.offers.find(offerId) ?? -1;
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

  /** Applies a confirmation or a reversal. If the ledger lost the click record, counts the click from the data in the confirmation. */
  #applyConfirmation(session: SessionState, record: RevenueConfirmedRecord | RevenueReversedRecord): void {
    const confirmation = toConfirmation(record);
    const { sub, offerId, txid } = confirmation;
    const offer = this.#state.offers.find(offerId);
    if (offer === null) {
      this.totals.unsoundConfirmations++;
      return;
    }
    const click = session.clickedOffers.includes(offer) ? this.#findClick(session.position, offer) : null;
    const state = {
      offerShown: session.shownOffers.includes(offer),
      clickedMs: click?.clickedMs ?? null,
      sessionRevenueMicros: this.revenue.sessionRevenueMicros(session.position),
      payout: this.revenue.findPayout(session.position, offer, txid),
    };
    const verdict = checkConfirmation(confirmation, state, record[1]);
    if (verdict === 'repeated') this.totals.repeatedConfirmations++;
    else if (verdict !== 'accepted') this.totals.unsoundConfirmations++;
    if (verdict !== 'accepted') return;

    session.lastEventMs = Math.max(session.lastEventMs, record[1]);
    this.changedSessions.set(session.key, session);
    // If `click` and `confirmation.click` were both null, `checkConfirmation` would have rejected the confirmation.
    const lender =
      click?.lender ?? this.#countClick(session, sub, offer, { lenderName: record[4], ...confirmation.click! });
    const { confirmedMicros, confirmedCentsSquared } = this.revenue.applyConfirmation(
      session.position,
      offer,
      confirmation,
    );
    const day = daysSinceEpoch(decodeSubId(sub).createdMs);
    const delta = this.#findOrAddDayChanges(session.experiment, day, session.device);
    delta.confirmedMicros += confirmedMicros;
    delta.confirmedCentsSquared += BigInt(confirmedCentsSquared);
    this.#findOrAddLenderChanges(session.experiment, day, lender).confirmedMicros += confirmedMicros;
  }

  /** Counts a click. Returns the row ID of the lender in the analytics store. */
  #countClick(
    session: SessionState,
    sub: Uint8Array,
    offer: number,
    {
      lenderName,
      clickedMs,
      valueMicros,
    }: { readonly lenderName: string; readonly clickedMs: number; readonly valueMicros: number },
  ): number {
    const { createdMs, mode } = decodeSubId(sub);
    // A sandbox click has no revenue (docs/contract.md#test-keys-and-the-sandbox), even if its ledger record contains an amount.
    const attributedMicros = mode === 'test' ? 0 : valueMicros;
    const lender = this.#state.lenders.findOrInsertRow(lenderName);
    const day = daysSinceEpoch(createdMs);
    session.clickedOffers.push(offer);
    this.newClicks.push({ session: session.position, offer, lender, clickedMs, attributedMicros });
    const delta = this.#findOrAddDayChanges(session.experiment, day, session.device);
    delta.clicks++;
    delta.attributedMicros += attributedMicros;
    this.#findOrAddLenderChanges(session.experiment, day, lender).clicks++;
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

  #findSession(key: SubIdSortKey): SessionState | null {
    return this.changedSessions.get(key) ?? this.#state.findSession(key);
  }

  #findOrAddDayChanges(experiment: number, day: number, device: number): DailyCounterChanges {
    // The map key is a safe integer: a day has at most 22 bits, a device class 3 bits and an experiment 28 bits.
    const key = (experiment * 2 ** 22 + day) * 8 + device;
    let delta = this.dayDeltas.get(key);
    if (delta === undefined) {
      const zeros = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, widgetEvents: null };
      delta = { experiment, day, device, ...zeros, confirmedMicros: 0, confirmedCentsSquared: 0n };
      this.dayDeltas.set(key, delta);
    }
    return delta;
  }

  #findOrAddNewSessions({ experiment, day }: DailyCounterChanges): SessionState[] {
    const key = experiment * 2 ** 22 + day;
    let cohort = this.cohortDeltas.get(key);
    if (cohort === undefined) {
      cohort = { experiment, day, createdSessions: [] };
      this.cohortDeltas.set(key, cohort);
    }
    return cohort.createdSessions;
  }

  #findOrAddLenderChanges(experiment: number, day: number, lender: number): LenderCounterChanges {
    const key = `${experiment} ${day} ${lender}`;
    let delta = this.lenderDeltas.get(key);
    if (delta === undefined) {
      delta = { experiment, day, lender, clicks: 0, confirmedMicros: 0 };
      this.lenderDeltas.set(key, delta);
    }
    return delta;
  }
}

function countWidgetEvent(counter: { widgetEvents: number[] | null }, type: number): void {
  counter.widgetEvents ??= [...emptyWidgetCounts];
  counter.widgetEvents[type]!++;
}

function toConfirmation(record: RevenueConfirmedRecord | RevenueReversedRecord): Confirmation {
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

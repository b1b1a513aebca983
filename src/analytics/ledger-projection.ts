import { bounds } from '../bounds.ts';
import { classifyClick, isWithinAttributionWindow } from '../clicks/click-rules.ts';
import type { Confirmation } from '../confirmations/confirmation.ts';
import { checkConfirmation } from '../confirmations/confirmation.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { microsPerUsd } from '../domain/money.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type {
  OfferClickedRecord,
  OffersViewedRecord,
  RevenueConfirmedRecord,
  RevenueReversedRecord,
  SessionCreatedRecord,
  WidgetEventsReportedRecord,
} from '../ledger/ledger-record.ts';
import {
  ledgerRecordKind,
  parseLedgerRecord,
  reversalReasons,
  unbookedReasons,
  widgetEventTypes,
} from '../ledger/ledger-record.ts';
import { emptyUnbookedClickCounts, emptyWidgetCounts } from './counting-rules.ts';
import {
  type CountedClick,
  clickBookingState,
  type DailyCounterChanges,
  emptyRecordCounts,
  type LenderCounterChanges,
  type NewSessionsOfDay,
  type RecordCounts,
  type SessionState,
  type SubIdSortKey,
  toSubIdSortKey,
} from './projection-state.ts';
import { RevenueChanges, type RevenueDelta } from './revenue-projection.ts';
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
  /** Clicks that the current batch counts or changes. */
  readonly changedClicks: CountedClick[] = [];
  readonly revenue: RevenueChanges;
  /** Index of the first `#indexedClicks` elements of `changedClicks`, by session and offer; `#findClick` first adds the other elements. */
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
    delta.firstSessionMs = Math.min(createdMs, delta.firstSessionMs ?? createdMs);
    delta.lastSessionMs = Math.max(createdMs, delta.lastSessionMs ?? createdMs);
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
    this.#findOrAddCohortChanges(session, sub).views++;
  }

  /** Counts the widget events of a record, from which the main thread has already removed repeated events. */
  #applyWidgetEvents(session: SessionState, [, wallMs, sub, , , types]: WidgetEventsReportedRecord): void {
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.changedSessions.set(session.key, session);
    const delta = this.#findOrAddCohortChanges(session, sub);
    for (const type of types) {
      if (type >= widgetEventTypes.length) continue;
      countWidgetEvent(session, type);
      countWidgetEvent(delta, type);
    }
  }

  #applyOfferClicked(session: SessionState, record: OfferClickedRecord): void {
    const [, wallMs, sub, , offerId, lenderName, , isBooked, , , payoutMicros = null] = record;
    const { createdMs } = decodeSubId(sub);
    // An offer that is not in the store gets the row ID -1, so it counts as neither shown nor clicked.
    const offer = this.#state.offers.find(offerId) ?? -1;
    const wasShown = session.shownOffers.includes(offer);
    const wasClicked = session.clickedOffers.includes(offer);
    const clickClass = classifyClick({ wasShown, wasClicked, createdMs }, wallMs);
    if (clickClass === 'unshown' || clickClass === 'late') {
      this.totals[`${clickClass}Clicks`]++;
      return;
    }
    const isRepeat = clickClass === 'duplicate' || (isBooked === null && hasFinalDecision(record));
    if (isRepeat && !this.#applyRepeatedClick(session, offer, record)) {
      this.totals.duplicateClicks++;
      return;
    }
    if (!isRepeat) {
      const click = this.#countClick(session, sub, { offer, lenderName, clickedMs: wallMs, payoutMicros });
      this.#applyBookingDecision(session, click, record);
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.changedSessions.set(session.key, session);
  }

  /**
   * Applies a repeated click on an offer for which the session has booked no revenue yet, for example because the first click came too fast.
   * Such a click does not count again, but may book the revenue. Returns false if the record changes nothing.
   */
  #applyRepeatedClick(session: SessionState, offer: number, record: OfferClickedRecord): boolean {
    const [, clickedMs, sub, , , , , isBooked] = record;
    if (typeof isBooked !== 'boolean' || !hasFinalDecision(record)) return false;
    if (!isWithinAttributionWindow(clickedMs, decodeSubId(sub).createdMs)) return false;
    const click = this.#findClick(session.position, offer);
    return click?.booking === clickBookingState.unbooked && this.#applyBookingDecision(session, click, record);
  }

  /** Books the revenue of an unbooked click, or counts why no revenue is booked. Returns false if the reason was already counted. */
  #applyBookingDecision(session: SessionState, click: CountedClick, record: OfferClickedRecord): boolean {
    const [, clickedMs, sub, , , , valueMicros, isBooked, reason, confirmsRevenue = false] = record;
    if (isBooked !== false) {
      this.#bookClick(session, sub, click, { clickedMs, valueMicros, confirmsRevenue });
      return true;
    }
    const reasonIndex = reason ?? unbookedReasons.indexOf('cap');
    // A later release may have added reasons, which this release does not count.
    if (reasonIndex >= unbookedReasons.length || (click.unbookedReasons & (1 << reasonIndex)) !== 0) return false;
    click.unbookedReasons |= 1 << reasonIndex;
    this.#findOrAddCohortChanges(session, sub).unbookedClicks[reasonIndex]!++;
    return true;
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
    const { position } = session;
    let click = session.clickedOffers.includes(offer) ? this.#findClick(position, offer) : null;
    const isConfirmedClick = click?.booking === clickBookingState.confirmed;
    const state = {
      offerShown: session.shownOffers.includes(offer),
      clickedMs: click?.clickedMs ?? null,
      sessionRevenueMicros: this.revenue.sessionRevenueMicros(position),
      clickRevenueMicros: isConfirmedClick ? this.revenue.clickRevenueMicros(position, offer) : null,
      clickPayoutMicros: click?.payoutMicros ?? null,
      isFunded: this.revenue.isFunded(position, offer),
      payout: this.revenue.findPayout(position, offer, txid),
      clickReversal: this.revenue.findClickReversal(position, offer, txid),
    };
    const verdict = checkConfirmation(confirmation, state, record[1]);
    if (verdict === 'repeated') this.totals.repeatedConfirmations++;
    else if (verdict !== 'accepted') this.totals.unsoundConfirmations++;
    if (verdict !== 'accepted') return;

    session.lastEventMs = Math.max(session.lastEventMs, record[1]);
    this.changedSessions.set(session.key, session);
    if (click === null) {
      // If `click` and `confirmation.click` were both null, `checkConfirmation` would have rejected the confirmation.
      const { clickedMs, valueMicros, payoutMicros } = confirmation.click!;
      click = this.#countClick(session, sub, { offer, lenderName: record[4], clickedMs, payoutMicros });
      this.#bookClick(session, sub, click, { clickedMs, valueMicros, confirmsRevenue: false });
    }
    this.#addConfirmedRevenue(session, sub, click, this.revenue.applyConfirmation(position, offer, confirmation));
  }

  /** Counts a click, without its revenue. */
  #countClick(
    session: SessionState,
    sub: Uint8Array,
    {
      offer,
      lenderName,
      clickedMs,
      payoutMicros,
    }: Pick<CountedClick, 'offer' | 'clickedMs' | 'payoutMicros'> & { readonly lenderName: string },
  ): CountedClick {
    const lender = this.#state.lenders.findOrInsertRow(lenderName);
    const booking = { attributedMicros: 0, booking: clickBookingState.unbooked, unbookedReasons: 0 };
    const click = { session: session.position, offer, lender, clickedMs, ...booking, payoutMicros };
    session.clickedOffers.push(offer);
    this.changedClicks.push(click);
    const delta = this.#findOrAddCohortChanges(session, sub);
    delta.clicks++;
    this.#findOrAddLenderChanges(session.experiment, delta.day, lender).clicks++;
    return click;
  }

  /** Books the revenue of a counted click, which must not have booked revenue before. */
  #bookClick(
    session: SessionState,
    sub: Uint8Array,
    click: CountedClick,
    {
      clickedMs,
      valueMicros,
      confirmsRevenue,
    }: { readonly clickedMs: number; readonly valueMicros: number; readonly confirmsRevenue: boolean },
  ): void {
    // A sandbox click has no revenue (docs/contract.md#test-keys-and-the-sandbox). The amount in the record of a sandbox click counts only
    // towards a budget.
    click.attributedMicros = decodeSubId(sub).mode === 'test' ? 0 : valueMicros;
    click.clickedMs = clickedMs;
    const { position } = session;
    // If a lender has already confirmed a payout for the click, the click confirms no revenue itself, so that no revenue can be reversed
    // twice.
    const isConfirmed = confirmsRevenue && this.revenue.clickRevenueMicros(position, click.offer) === 0;
    click.booking = isConfirmed ? clickBookingState.confirmed : clickBookingState.booked;
    this.#findOrAddCohortChanges(session, sub).attributedMicros += click.attributedMicros;
    if (!isConfirmed) return;
    const remainingMicros = bounds.confirmedRevenueUsdMax * microsPerUsd - this.revenue.sessionRevenueMicros(position);
    const confirmedMicros = Math.min(click.attributedMicros, remainingMicros);
    this.#addConfirmedRevenue(
      session,
      sub,
      click,
      this.revenue.addClickRevenue(position, click.offer, confirmedMicros),
    );
  }

  #addConfirmedRevenue(
    session: SessionState,
    sub: Uint8Array,
    { lender }: CountedClick,
    { confirmedMicros, confirmedCentsSquared, revenueSessions }: RevenueDelta,
  ): void {
    const delta = this.#findOrAddCohortChanges(session, sub);
    delta.confirmedMicros += confirmedMicros;
    delta.confirmedCentsSquared += BigInt(confirmedCentsSquared);
    delta.revenueSessions += revenueSessions;
    this.#findOrAddLenderChanges(session.experiment, delta.day, lender).confirmedMicros += confirmedMicros;
  }

  /** Finds a counted click. The caller may change the returned click; the batch then stores the changes. */
  #findClick(session: number, offer: number): CountedClick | null {
    for (; this.#indexedClicks < this.changedClicks.length; this.#indexedClicks++) {
      const click = this.changedClicks[this.#indexedClicks]!;
      this.#clickIndex.set(`${click.session} ${click.offer}`, click);
    }
    const click = this.#clickIndex.get(`${session} ${offer}`) ?? null;
    if (click !== null) return click;
    const stored = this.#state.findClick(session, offer);
    if (stored !== null) this.changedClicks.push(stored);
    return stored;
  }

  #findSession(key: SubIdSortKey): SessionState | null {
    return this.changedSessions.get(key) ?? this.#state.findSession(key);
  }

  #findOrAddCohortChanges({ experiment, device }: SessionState, sub: Uint8Array): DailyCounterChanges {
    return this.#findOrAddDayChanges(experiment, daysSinceEpoch(decodeSubId(sub).createdMs), device);
  }

  #findOrAddDayChanges(experiment: number, day: number, device: number): DailyCounterChanges {
    // The map key is a safe integer: a day has at most 22 bits, a device class 3 bits and an experiment 28 bits.
    const key = (experiment * 2 ** 22 + day) * 8 + device;
    let delta = this.dayDeltas.get(key);
    if (delta === undefined) {
      const zeros = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, widgetEvents: null };
      const unbookedClicks = [...emptyUnbookedClickCounts];
      const revenue = { confirmedMicros: 0, confirmedCentsSquared: 0n, revenueSessions: 0 };
      const times = { firstSessionMs: null, lastSessionMs: null };
      delta = { experiment, day, device, ...zeros, ...revenue, ...times, unbookedClicks };
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

/**
 * Whether the click record contains a final decision about revenue. Records of earlier releases lack the item for the reason. For these
 * records, the counting rules decide whether the click counts, so that the figures from earlier releases stay the same.
 */
function hasFinalDecision([, , , , , , , , unbookedReason]: OfferClickedRecord): boolean {
  return unbookedReason !== undefined;
}

function toConfirmation(record: RevenueConfirmedRecord | RevenueReversedRecord): Confirmation {
  const [, , sub, offerId, , txid, amountMicros, occurredMs] = record;
  const transaction = { sub, offerId, txid, amountMicros, occurredMs };
  if (record[0] === ledgerRecordKind.revenueReversed) {
    const reasonIndex = record[8];
    // A later release may have added reasons.
    const reason = reasonIndex === undefined ? null : (reversalReasons[reasonIndex] ?? 'other');
    return { status: 'reversed', ...transaction, click: null, reason, isPayoutFlat: false };
  }
  const [, , , , , , , , clickedMs, valueMicros, payoutMicros] = record;
  const click =
    clickedMs === null || valueMicros === null ? null : { clickedMs, valueMicros, payoutMicros: payoutMicros ?? null };
  // Earlier releases accepted several payouts for a click. Their records have no item for the payout.
  return { status: 'funded', ...transaction, click, reason: null, isPayoutFlat: payoutMicros !== undefined };
}

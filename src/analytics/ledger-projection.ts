import { bounds } from '../bounds.ts';
import { classifyClick, isWithinAttributionWindow } from '../clicks/click-rules.ts';
import {
  type Confirmation,
  checkConfirmation,
  type PayoutState,
  revenueDeltaMicros,
} from '../confirmations/confirmation.ts';
import { microsPerUsd, squareCents } from '../domain/money.ts';
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
  isExperimentRecord,
  ledgerRecordKind,
  parseLedgerRecord,
  reversalReasons,
  unbookedReasons,
  widgetEventTypes,
} from '../ledger/ledger-record.ts';
import { emptyWidgetCounts } from './counting-rules.ts';
import {
  type CountedClick,
  clickBookingState,
  emptyRecordCounts,
  greatestSubIdSortKey,
  type ProjectionState,
  type RecordCounts,
  type SessionState,
  type SubIdSortKey,
  toSubIdSortKey,
} from './projection-state.ts';

/**
 * Applies ledger records in ledger order by the rules of docs/contract.md#counting-clicks and docs/contract.md#cohorts. Reads and changes
 * a `ProjectionState`, and counts the records of one batch.
 *
 * Every figure is counted for a cohort: the UTC day on which the session was created, according to its sub_id.
 */
export class LedgerProjection {
  readonly #state: ProjectionState;
  readonly #firstRetainedSubId: SubIdSortKey;
  readonly totals: RecordCounts = { ...emptyRecordCounts };
  /** Wall time of the last valid record, in Unix milliseconds. */
  lastWallMs: number | null = null;
  /** Smallest sub_id of a session that the batch may have changed. A record of an experiment may change all sessions. */
  smallestSubId: SubIdSortKey = greatestSubIdSortKey;

  /** @param firstRetainedSubId smallest possible sub_id of a retained session */
  constructor(state: ProjectionState, firstRetainedSubId: SubIdSortKey) {
    this.#state = state;
    this.#firstRetainedSubId = firstRetainedSubId;
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
    if (isExperimentRecord(record)) {
      this.smallestSubId = '';
      if (!this.#state.experimentSums.applyRecord(position, record)) this.totals.unsoundExperiments++;
      return;
    }
    const key = toSubIdSortKey(record[2]);
    if (key < this.#firstRetainedSubId) {
      this.totals.sealedSession++;
      return;
    }
    if (key < this.smallestSubId) this.smallestSubId = key;
    const session = this.#state.findSession(key);
    if (record[0] === ledgerRecordKind.sessionCreated) {
      if (session === null) this.#applySessionCreated(position, segment, key, record);
      else this.totals.repeatedSession++;
      return;
    }
    if (session === null) {
      this.totals.unknownSession++;
      return;
    }
    this.#state.experimentSums.beforeChange(session);
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
    [, wallMs, sub, tag, , device, metadata, , , hash, isMisassigned = false]: SessionCreatedRecord,
  ): void {
    const { account, vertical, mode, createdMs } = decodeSubId(sub);
    const isTest = mode === 'test';
    const session: SessionState = {
      key,
      position,
      tagNumber: this.#state.assignTagNumber(account, vertical, isTest, tag),
      device,
      createdMs,
      isTest,
      views: 0,
      shownOffers: [],
      clickedOffers: [],
      widgetEvents: null,
      lastEventMs: wallMs,
      revenueMicros: 0,
    };
    this.#state.addSession(session, segment, metadata);
    const unit = hash === undefined ? null : { hash, isMisassigned };
    this.#state.experimentSums.addSession(session, unit, metadata);
    const changes = this.#state.counters.changesOfDay(session);
    changes.sessions++;
    changes.firstSessionMs = Math.min(createdMs, changes.firstSessionMs ?? createdMs);
    changes.lastSessionMs = Math.max(createdMs, changes.lastSessionMs ?? createdMs);
  }

  #applyOffersViewed(session: SessionState, [, wallMs, , , offerIds, , isRefresh]: OffersViewedRecord): void {
    const shown = this.#state.counters.changesOfShownOffers(session);
    for (let position = 0; position < offerIds.length; position++) {
      const offer = this.#state.offers.findOrInsert(offerIds[position]!);
      const isNew = !session.shownOffers.includes(offer);
      if (isNew) session.shownOffers.push(offer);
      // A refresh counts only newly shown offers, so that an offer has at most as many clicks as times at which it was shown.
      if (isNew || isRefresh !== true) shown.add(offer, position);
    }
    this.#saveSession(session, wallMs);
    // If a widget loads its offers again (`isRefresh`), clicks on newly shown offers count, but no new view is counted.
    if (isRefresh === true) return;
    session.views++;
    this.#state.counters.changesOfDay(session).views++;
  }

  /** Counts the widget events of a record, from which the main thread has already removed repeated events. */
  #applyWidgetEvents(session: SessionState, [, wallMs, , , , types]: WidgetEventsReportedRecord): void {
    const changes = this.#state.counters.changesOfDay(session);
    for (const type of types) {
      if (type >= widgetEventTypes.length) continue;
      countWidgetEvent(session, type);
      countWidgetEvent(changes, type);
    }
    this.#saveSession(session, wallMs);
  }

  #applyOfferClicked(session: SessionState, record: OfferClickedRecord): void {
    const [, wallMs, , , offerId, lenderName, , isBooked, , , payoutMicros = null] = record;
    // An offer that is not in the store gets the number -1, so it counts as neither shown nor clicked.
    const offer = this.#state.offers.find(offerId) ?? -1;
    const wasShown = session.shownOffers.includes(offer);
    const wasClicked = session.clickedOffers.includes(offer);
    const clickClass = classifyClick({ wasShown, wasClicked, createdMs: session.createdMs }, wallMs);
    if (clickClass === 'unshown' || clickClass === 'late') {
      this.totals[`${clickClass}Clicks`]++;
      return;
    }
    const isRepeat = clickClass === 'duplicate' || (isBooked === null && hasFinalDecision(record));
    const click = isRepeat
      ? this.#findUnbookedClick(session, offer, record)
      : this.#countClick(session, offer, { lenderName, clickedMs: wallMs, payoutMicros });
    const isChanged = click !== null && this.#applyBookingDecision(session, click, record);
    if (click === null || (isRepeat && !isChanged)) {
      this.totals.duplicateClicks++;
      return;
    }
    this.#state.saveClick(click);
    this.#saveSession(session, wallMs);
  }

  /**
   * Returns the counted click that a repeated click on the same offer may change. A session that has booked no revenue for the offer yet, for
   * example because the first click came too fast, may book it with a later click. Returns null if the record cannot change a click.
   */
  #findUnbookedClick({ position, createdMs }: SessionState, offer: number, record: OfferClickedRecord) {
    const [, clickedMs, , , , , , isBooked] = record;
    if (typeof isBooked !== 'boolean' || !hasFinalDecision(record)) return null;
    if (!isWithinAttributionWindow(clickedMs, createdMs)) return null;
    const click = this.#state.findClick(position, offer);
    return click?.booking === clickBookingState.unbooked ? click : null;
  }

  /** Books the revenue of an unbooked click, or counts why no revenue is booked. Returns false if the reason was already counted. */
  #applyBookingDecision(session: SessionState, click: CountedClick, record: OfferClickedRecord): boolean {
    const [, clickedMs, , , , , valueMicros, isBooked, reason, confirmsRevenue = false] = record;
    if (isBooked !== false) {
      this.#bookClick(session, click, { clickedMs, valueMicros, confirmsRevenue });
      return true;
    }
    const reasonIndex = reason ?? unbookedReasons.indexOf('cap');
    // A later release may have added reasons, which this release does not count.
    if (reasonIndex >= unbookedReasons.length || (click.unbookedReasons & (1 << reasonIndex)) !== 0) return false;
    click.unbookedReasons |= 1 << reasonIndex;
    this.#state.counters.changesOfDay(session).unbookedClicks[reasonIndex]!++;
    return true;
  }

  /** Applies a confirmation or a reversal. If the ledger lost the click record, counts the click from the data in the confirmation. */
  #applyConfirmation(session: SessionState, record: RevenueConfirmedRecord | RevenueReversedRecord): void {
    const confirmation = toConfirmation(record);
    const { offerId, txid, status, reason, amountMicros, occurredMs } = confirmation;
    const offer = this.#state.offers.find(offerId);
    if (offer === null) {
      this.totals.unsoundConfirmations++;
      return;
    }
    const { position } = session;
    let click = session.clickedOffers.includes(offer) ? this.#state.findClick(position, offer) : null;
    const payoutState = readPayoutState(this.#state, session, { offer, txid, click });
    const verdict = checkConfirmation(confirmation, payoutState, record[1]);
    if (verdict === 'repeated') this.totals.repeatedConfirmations++;
    else if (verdict !== 'accepted') this.totals.unsoundConfirmations++;
    if (verdict !== 'accepted') return;

    if (click === null) {
      // If `click` and `confirmation.click` were both null, `checkConfirmation` would have rejected the confirmation.
      const { clickedMs, valueMicros, payoutMicros } = confirmation.click!;
      click = this.#countClick(session, offer, { lenderName: record[4], clickedMs, payoutMicros });
      this.#bookClick(session, click, { clickedMs, valueMicros, confirmsRevenue: false });
    }
    const transaction = { amountMicros, occurredMs, acceptedMs: record[1] };
    if (reason !== null) this.#state.addClickReversal(position, offer, txid, { ...transaction, reason });
    else if (status === 'funded') this.#state.addPayout(position, offer, txid, transaction);
    else this.#state.addPayoutReversal(position, offer, txid, transaction);
    this.#addConfirmedRevenue(session, click, revenueDeltaMicros(confirmation));
    this.#state.saveClick(click);
    this.#saveSession(session, record[1]);
  }

  /** Counts a click, without its revenue. The caller must save the click. */
  #countClick(
    session: SessionState,
    offer: number,
    { lenderName, ...click }: Pick<CountedClick, 'clickedMs' | 'payoutMicros'> & { readonly lenderName: string },
  ): CountedClick {
    const lender = this.#state.lenders.findOrInsert(lenderName);
    session.clickedOffers.push(offer);
    this.#state.counters.changesOfDay(session).clicks++;
    this.#state.counters.changesOfOffer(session, { lender, offer }).clicks++;
    const booking = {
      booking: clickBookingState.unbooked,
      unbookedReasons: 0,
      attributedMicros: 0,
      confirmedMicros: 0,
    };
    return { session: session.position, offer, lender, ...click, ...booking };
  }

  /** Books the revenue of a counted click, which must not have booked revenue before. */
  #bookClick(
    session: SessionState,
    click: CountedClick,
    booking: { readonly clickedMs: number; readonly valueMicros: number; readonly confirmsRevenue: boolean },
  ): void {
    const { clickedMs, valueMicros, confirmsRevenue } = booking;
    // A sandbox click has no revenue (docs/contract.md#test-keys-and-the-sandbox). The amount in the record of a sandbox click counts only
    // towards a budget.
    click.attributedMicros = session.isTest ? 0 : valueMicros;
    click.clickedMs = clickedMs;
    // If a lender has already confirmed a payout for the click, the click confirms no revenue itself, so that no revenue can be reversed
    // twice.
    const isConfirmed = confirmsRevenue && click.confirmedMicros === 0;
    click.booking = isConfirmed ? clickBookingState.confirmed : clickBookingState.booked;
    this.#state.counters.changesOfDay(session).attributedMicros += click.attributedMicros;
    this.#state.counters.changesOfOffer(session, click).attributedMicros += click.attributedMicros;
    if (!isConfirmed) return;
    const remainingMicros = bounds.confirmedRevenueUsdMax * microsPerUsd - readSessionRevenue(this.#state, session);
    this.#addConfirmedRevenue(session, click, Math.min(click.attributedMicros, remainingMicros));
  }

  /** Adds `confirmedMicros`, which is negative for a reversal, to the confirmed revenue of a click and its session. */
  #addConfirmedRevenue(session: SessionState, click: CountedClick, confirmedMicros: number): void {
    const before = readSessionRevenue(this.#state, session);
    const after = before + confirmedMicros;
    session.revenueMicros = after;
    click.confirmedMicros += confirmedMicros;
    const changes = this.#state.counters.changesOfDay(session);
    changes.confirmedMicros += confirmedMicros;
    changes.confirmedCentsSquared += BigInt(squareCents(after) - squareCents(before));
    changes.revenueSessions += Number(after > 0) - Number(before > 0);
    this.#state.counters.changesOfOffer(session, click).confirmedMicros += confirmedMicros;
  }

  #saveSession(session: SessionState, wallMs: number): void {
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
    this.#state.saveSession(session);
  }
}

/** Returns the state of a payout according to the applied records. `click` is the counted click of the session on the offer. */
export function readPayoutState(
  state: ProjectionState,
  session: SessionState,
  { offer, txid, click }: { readonly offer: number; readonly txid: string; readonly click: CountedClick | null },
): PayoutState {
  const { position, shownOffers } = session;
  return {
    offerShown: shownOffers.includes(offer),
    clickedMs: click?.clickedMs ?? null,
    sessionRevenueMicros: readSessionRevenue(state, session),
    clickRevenueMicros: click?.booking === clickBookingState.confirmed ? click.confirmedMicros : null,
    clickPayoutMicros: click?.payoutMicros ?? null,
    isFunded: state.isFunded(position, offer),
    payout: state.findPayout(position, offer, txid),
    clickReversal: state.findClickReversal(position, offer, txid),
  };
}

function readSessionRevenue(state: ProjectionState, session: SessionState): number {
  session.revenueMicros ??= state.readSessionRevenue(session.position);
  return session.revenueMicros;
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
